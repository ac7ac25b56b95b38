package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
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
	// Peers are the other nodes at the beginning.
	Peers []Peer
	// Known are the versions that this node's program knows. Allowed returns those that may be in its log.
	Known   Versions
	Allowed func() Versions
	// Outdated is called when another node's log may have more than this program knows.
	Outdated func(error)
	// Receive takes the messages of other nodes. An error ends the connection.
	Receive func(...*raftpb.Message) error
	// Expects reports whether nodes may join, and Welcome speaks to one that has connected to. Both are nil if none may.
	Expects func() bool
	Welcome func(context.Context, *tls.Conn)
	Clock   func() time.Time
	After   func(time.Duration) <-chan time.Time
	Log     *slog.Logger
}

// Transport carries messages to and from the other nodes. Safe for concurrent use.
type Transport struct {
	Options

	// mu guards what follows.
	mu    sync.Mutex
	links map[uint64]*link
	// port is the configuration of connections that others dial.
	port *tls.Config
	// begin runs a link, in running; nil outside of Run.
	begin   func(*link)
	running sync.WaitGroup
	// heard are the connections that others dialed, by node.
	heard map[uint64]net.Conn
	// asking are those on which others send requests, by node, which requests hands to a server.
	asking   askers
	requests *requests
	// asked has those on which they ask the node itself.
	asked *requests
}

// NewTransport returns a transport. It connects in Run.
func NewTransport(o Options) (*Transport, error) {
	t := &Transport{
		Options: o, links: map[uint64]*link{}, heard: map[uint64]net.Conn{},
		asking: askers{open: map[uint64]map[*watched]struct{}{}}, requests: newRequests(), asked: newRequests(),
	}
	return t, t.Set(o.Peers)
}

// Set replaces the other nodes. Connections to nodes that are no longer among them end.
func (t *Transport) Set(peers []Peer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pins []string
	for _, p := range peers {
		pins = append(pins, p.Pin)
		if l := t.links[p.Node]; l != nil && l.peer == p {
			continue
		}
		config, err := pinned.TLS(t.Cert, t.Key, p.Pin)
		if err != nil {
			return fmt.Errorf("node %d: %w", p.Node, err)
		}
		t.part(p.Node)
		t.links[p.Node] = newLink(t, p, config)
		if t.begin != nil {
			t.begin(t.links[p.Node])
		}
	}

	port, err := pinned.TLS(t.Cert, t.Key, pins...)
	if err != nil {
		return err
	}
	port.NextProtos = protocols // a connection of raft has none
	port.GetConfigForClient = t.forNewcomers(port)
	t.port = port
	for node := range t.links {
		if !slices.ContainsFunc(peers, func(p Peer) bool { return p.Node == node }) {
			t.part(node)
		}
	}
	return nil
}

// part ends the connections with a node. It is called under mu.
func (t *Transport) part(node uint64) {
	if l := t.links[node]; l != nil && l.end != nil {
		l.end()
	}
	delete(t.links, node)
	if conn := t.heard[node]; conn != nil {
		_ = conn.Close() // its reader ends
	}
	t.asking.cut(node)
}

// Send queues messages for the nodes that they name. It never waits: messages without room are dropped.
func (t *Transport) Send(messages []*raftpb.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range messages {
		if l := t.links[m.GetTo()]; l != nil {
			l.add(m)
		}
	}
}

// Outcast reports whether more than half of the other nodes say that this one is no member, and the leader that it knows,
// zero for none, is not connected: a newcomer's leader takes it before the others do.
func (t *Transport) Outcast(leader uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.links[leader]; leader == t.Node || l != nil && l.connected() {
		return false
	}
	refusing := 0
	for _, l := range t.links {
		if l.refuses() {
			refusing++
		}
	}
	return refusing > len(t.links)/2
}

// Run dials the other nodes, and takes their connections from a listener, which it closes. It returns
// once ctx has ended and all connections have.
func (t *Transport) Run(ctx context.Context, listener net.Listener) {
	t.mu.Lock()
	t.begin = func(l *link) {
		own, cancel := context.WithCancel(ctx)
		l.end = cancel
		t.running.Go(func() {
			defer cancel()
			l.run(own)
		})
	}
	for _, l := range t.links {
		t.begin(l)
	}
	t.mu.Unlock()

	stop := context.AfterFunc(ctx, func() {
		_ = listener.Close()
		_ = t.requests.Close()
		_ = t.asked.Close()
	})
	defer stop()
	t.accept(ctx, listener)
	t.mu.Lock()
	t.begin = nil
	t.mu.Unlock()
	t.running.Wait()
}

// node returns the node of a pin, zero if none has it.
func (t *Transport) node(pin string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for node, l := range t.links {
		if l.peer.Pin == pin {
			return node
		}
	}
	return 0
}

// portConfig returns the configuration of connections that others dial.
func (t *Transport) portConfig() *tls.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.port
}

// hello returns the hello of this node to another.
func (t *Transport) hello(to uint64) hello {
	return hello{identity: t.Identity, epoch: t.Epoch, from: t.Node, to: to, known: t.Known, allowed: t.Allowed()}
}

// fits compares the versions of two hellos. If this program is the one that knows too little, it is told.
func (t *Transport) fits(own, theirs *hello) error {
	err := own.fits(theirs)
	if errors.Is(err, ErrOutdated) {
		t.Outdated(err)
	}
	return err
}

// knows returns the versions that the program of a node knows; false without a connection to it.
func (t *Transport) knows(node uint64) (Versions, bool) {
	t.mu.Lock()
	l := t.links[node]
	t.mu.Unlock()
	if l == nil {
		return Versions{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known, l.up
}

// pinOf returns the pin of a connection's other end.
func pinOf(c *tls.Conn) string {
	return pinned.Pin(c.ConnectionState().PeerCertificates[0]) // TLS has wanted one
}
