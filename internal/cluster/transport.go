package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// Peer is another node.
type Peer struct {
	Node uint64
	// Address is its node port, HOST:PORT; Pin names its key.
	Address, Pin string
}

// Options configure a transport.
type Options struct {
	Identity journal.Identity
	// Epoch is the cluster's epoch, Node the id of this node.
	Epoch uint32
	Node  uint64
	// Cert and Key are the files, PEM, of this node's certificate and its key.
	Cert, Key string
	Peers     []Peer
	// Receive takes the messages of other nodes. An error ends the connection.
	Receive func(...*raftpb.Message) error
	Clock   func() time.Time
	After   func(time.Duration) <-chan time.Time
	Log     *slog.Logger
}

// Transport carries messages to and from the other nodes. Safe for concurrent use.
type Transport struct {
	Options
	links map[uint64]*link
	// port is the configuration of connections that others dial.
	port *tls.Config

	mu sync.Mutex
	// heard are the connections that others dialed, by node.
	heard map[uint64]net.Conn
}

// NewTransport returns a transport. It connects in Run.
func NewTransport(o Options) (*Transport, error) {
	t := &Transport{Options: o, links: map[uint64]*link{}, heard: map[uint64]net.Conn{}}
	var pins []string
	for _, p := range o.Peers {
		config, err := pinned.TLS(o.Cert, o.Key, p.Pin)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", p.Node, err)
		}
		t.links[p.Node] = newLink(t, p, config)
		pins = append(pins, p.Pin)
	}
	var err error
	t.port, err = pinned.TLS(o.Cert, o.Key, pins...)
	return t, err
}

// Send queues messages for the nodes that they name. It never waits: messages without room are dropped.
func (t *Transport) Send(messages []*raftpb.Message) {
	for _, m := range messages {
		if l := t.links[m.GetTo()]; l != nil {
			l.add(m)
		}
	}
}

// Run dials the other nodes, and takes their connections from a listener, which it closes. It returns
// once ctx has ended and all connections have.
func (t *Transport) Run(ctx context.Context, listener net.Listener) {
	var running sync.WaitGroup
	for _, l := range t.links {
		running.Go(func() { l.run(ctx) })
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	t.accept(ctx, listener)
	running.Wait()
}

// hello returns the hello of this node to another.
func (t *Transport) hello(to uint64) hello {
	return hello{identity: t.Identity, epoch: t.Epoch, from: t.Node, to: to}
}

// pinOf returns the pin of a connection's other end.
func pinOf(c *tls.Conn) string {
	return pinned.Pin(c.ConnectionState().PeerCertificates[0]) // TLS has wanted one
}
