package node

import (
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/bourse-exchange/bourse/internal/api"
)

// guests bounds how many connections of clients there are: each takes a
// file of the process, and a journal that cannot open its next file ends the
// exchange. A connection that finds no room is closed at once; those that are open
// notice nothing.
type guests struct {
	most int
	// perPeer is how many a peer may have that is no trusted proxy; zero for any number.
	perPeer int
	trusts  func(netip.Addr) bool
	// streams tells how many connections have become streams; they are counted there.
	streams func() int
	full    atomic.Bool
	log     *slog.Logger

	mu sync.Mutex
	// open counts the connections that speak HTTP, peers those of each peer that is no
	// trusted proxy.
	open  int
	peers api.Connections
}

// keptFiles are those that the exchange needs for itself: journal, snapshots,
// archive, databases, the operators' socket.
const keptFiles = 256

// newGuests allows what the process's limit of open files leaves.
func (n *Node) newGuests() (*guests, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	return &guests{
		most: room(files.Cur), perPeer: n.Limits.Connections, trusts: n.trusts, streams: n.streams.Len, log: n.Log,
	}, nil
}

// room is how many connections a limit of open files leaves.
func room(files uint64) int { return int(min(files-min(keptFiles, files/2), 1<<30)) }

// state is told of each connection of the server of the public interfaces. A
// connection that becomes a stream is counted by the streams.
func (g *guests) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !g.come(peerAt(conn.RemoteAddr())) {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		g.leave(peerAt(conn.RemoteAddr()))
	default: // it speaks, or is silent
	}
}

// come counts a connection, and reports whether there is room for it.
func (g *guests) come(peer netip.Addr) bool {
	g.mu.Lock()
	g.open++
	full := g.open+g.streams() > g.most
	many := !g.trusts(peer) && !g.peers.Add(peer, g.perPeer)
	g.mu.Unlock()

	if g.full.Swap(full) != full && full {
		g.log.Warn("no room for more connections", slog.Int("most", g.most))
	}
	return !full && !many
}

// leave takes back what come has counted, also of a connection that had no room.
func (g *guests) leave(peer netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if !g.trusts(peer) {
		g.peers.Remove(peer)
	}
}

// peerAt returns the address of a peer; the zero one if it has none.
func peerAt(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}
