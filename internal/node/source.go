package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/standby"
)

const (
	// nodesPerPeer bounds the connections of one address to the node port: a follower needs
	// four.
	nodesPerPeer = 16
	// askPeersEvery is the time between two looks at the other nodes.
	askPeersEvery = time.Second
	// drainWithin bounds the wait for followers in a stop.
	drainWithin = 2 * time.Second
)

// readRole reads the role of the data directory, and refuses a standby's.
func (n *Node) readRole() (err error) {
	if n.role, err = standby.ReadRole(n.disk); err != nil {
		return err
	}
	if n.role.Follows != "" {
		return fmt.Errorf("%s is a standby of %s: `bourse follow` goes on with it, and `bourse promote` makes it the exchange", n.Data,
			n.role.Follows)
	}
	return nil
}

// endRole forgets the role, once the incarnation that it asked for has begun.
func (n *Node) endRole() error {
	if n.role.Raise == 0 {
		return nil
	}
	n.Log.Warn("a new incarnation has begun; withdrawals wait until an operator resumes them",
		slog.Uint64("incarnation", uint64(n.incarnation())), slog.String("why", n.role.Why))
	return standby.EndRole(n.disk)
}

// incarnation returns the incarnation that this start serves.
func (n *Node) incarnation() bourse.Incarnation {
	return max(n.view.Catalogue().Incarnation, n.role.Raise)
}

// hello tells other nodes of this one.
func (n *Node) hello() standby.Hello {
	h := standby.NewHello(n.identity, n.Version)
	h.Incarnation, h.Seq, h.Voids = n.incarnation(), n.log.Durable(), len(n.voids.All())
	h.Remote = n.Accounts != ""
	return h
}

// helloNow is hello for standbys, which take its last command for all that was acknowledged before they asked. A leader that
// was replaced and does not know it, because its disk hangs, lacks what the next one acknowledges: a node of a cluster answers
// once a majority has said that it leads.
func (n *Node) helloNow(ctx context.Context) (h standby.Hello, err error) {
	if n.Member != nil {
		err = n.Member.Log.Confirm(ctx)
	}
	if err == nil {
		h = n.hello()
	}
	return h, err
}

// askPeers returns an error if another node is the exchange. A node that does not answer is none.
func (n *Node) askPeers(ctx context.Context, serving bool) error {
	if n.peers == nil {
		for _, address := range n.Cluster.Peers {
			peer, err := standby.NewPeer(address, &n.Cluster.Credentials)
			if err != nil {
				return fmt.Errorf("peer %s: %w", address, err)
			}
			n.peers = append(n.peers, peer)
			n.closers = append(n.closers, closer(func() error { peer.Close(); return nil }))
		}
	}

	own := n.hello()
	for _, peer := range n.peers {
		theirs, err := peer.Hello(ctx)
		if err != nil {
			continue
		}
		if err := own.Peer(&theirs, serving); err != nil {
			return fmt.Errorf("peer %s: %w. This exchange must not serve: follow the other one (docs/cluster.md)", peer.Address(), err)
		}
	}
	return nil
}

// watchPeers ends the process when another node has become the exchange.
func (n *Node) watchPeers(ctx context.Context) error {
	if len(n.peers) == 0 {
		return nil
	}
	tick := time.NewTicker(askPeersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := n.askPeers(ctx, true); err != nil {
			return err
		}
	}
}

// sourceHook makes the source of standbys, if there is a node port, and returns the follower's hook,
// which notes the states that standbys compare.
func (n *Node) sourceHook() func(*journal.Tip, func() [32]byte) {
	if n.Cluster.Listen == "" {
		return nil
	}
	n.source = standby.NewSource(standby.SourceOptions{
		Hello: n.helloNow, Files: n.files, Durable: n.log.Durable, Voids: n.voids,
		CompareEvery: bourse.Time(n.Cluster.CompareEvery.Microseconds()),
		StateForm:    engine.StateVersion,
		Accounts:     n.accountsPart(), Secrets: n.secretsPart(), Clock: time.Now, After: time.After, Log: n.Log,
	})
	return n.source.Frame
}

// accountsPart returns the accounts as standbys copy them; nil if they are on a server.
func (n *Node) accountsPart() *standby.Part {
	if n.Accounts != "" {
		return nil
	}
	file := n.accountsAt()
	return &standby.Part{
		Temporary: filepath.Join(n.Data, "outgoing.accounts"),
		Stamp:     func() (string, error) { return standby.StampFiles(file, file+"-wal") },
		Make:      func(ctx context.Context, to string) error { return accounts.Backup(ctx, file, to) },
	}
}

// secretsPart returns the secrets as standbys copy them.
func (n *Node) secretsPart() *standby.Part {
	from := cmp.Or(n.Common, n.Data)
	dirs := standby.Secrets()
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		paths[i] = filepath.Join(from, dir)
	}
	return &standby.Part{
		Temporary: filepath.Join(n.Data, "outgoing.secrets"),
		Stamp:     func() (string, error) { return standby.StampFiles(paths...) },
		Make:      func(_ context.Context, to string) error { return standby.Pack(from, to, dirs...) },
	}
}

// listenToNodes opens the node port.
func (n *Node) listenToNodes(ctx context.Context) (net.Listener, error) {
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", n.Cluster.Listen)
	if err != nil {
		return nil, err
	}
	config, err := n.Cluster.Credentials.Server(tcp.Addr(), n.Sandbox != nil)
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	if config == nil {
		return bounded{tcp}, nil
	}
	return tls.NewListener(bounded{tcp}, config), nil
}

// forNodes starts the server of the node port, and returns it; none without one.
func (n *Node) forNodes(l *listeners) ([]stoppable, error) {
	if l.nodes == nil {
		return nil, nil
	}
	trusts := func(netip.Addr) bool { return false }
	admitted, err := edge.NewAdmission(nodesPerPeer, trusts, func() int { return 0 }, n.Log)
	if err != nil {
		return nil, err
	}
	handler := n.source.Handler()
	if n.Cluster.Credentials.Plain() {
		handler = edge.KnownHost("", handler) // on loopback, where a browser's pages reach it
	}
	server := &http.Server{
		Handler: n.endingBroken(handler), ReadHeaderTimeout: readHeaderWithin, IdleTimeout: idleFor, MaxHeaderBytes: maxHeader,
		ConnState: admitted.State, ErrorLog: n.serverLog(),
	}
	n.spawn(func() error { return served(server.Serve(l.nodes)) })
	n.Log.Info("serving nodes", slog.String("address", l.nodes.Addr().String()))
	return []stoppable{cutting{server}}, nil
}

// cutting is a server whose streams end with it.
type cutting struct{ *http.Server }

// Shutdown ends the streams.
func (c cutting) Shutdown(context.Context) error { return c.Close() }

// drainNodes sends standbys what they lack, for a moment: a stop loses nothing by itself.
func (n *Node) drainNodes(ctx context.Context) {
	if n.source == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainWithin)
	defer cancel()
	n.source.Drain(ctx)
}

// status tells operators of the node.
func (n *Node) status() any {
	followers := 0
	if n.source != nil {
		followers = n.source.Followers()
	}
	h := n.hello()
	return struct {
		Role        string             `json:"role"`
		Version     string             `json:"version"`
		Exchange    string             `json:"exchange"`
		Sandbox     bool               `json:"sandbox"`
		Incarnation bourse.Incarnation `json:"incarnation"`
		Seq         bourse.Seq         `json:"seq"`
		Ready       bool               `json:"ready"`
		Followers   int                `json:"followers"`
		Cluster     *cluster.Status    `json:"cluster,omitempty"`
	}{"exchange", h.Version, h.Exchange, h.Sandbox, h.Incarnation, n.sequencer.Applied(), n.takes(), followers, n.place()}
}
