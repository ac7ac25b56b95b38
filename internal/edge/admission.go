package edge

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

// Admission bounds the open connections of clients: each takes a file descriptor of the
// process, and a journal that cannot open its next file ends the exchange. A connection
// beyond the bound is closed at once; open ones stay.
type Admission struct {
	most int
	// perPeer bounds the connections of a peer that is no trusted proxy; zero is no bound.
	perPeer int
	trusts  func(netip.Addr) bool
	// streams returns the number of connections that have become streams, which open
	// leaves out.
	streams func() int
	full    atomic.Bool
	log     *slog.Logger

	mu sync.Mutex
	// open counts the HTTP connections, operators those of them at the operators' listener, and peers the HTTP
	// connections of each peer that is no trusted proxy.
	open, operators int
	peers           api.Connections
}

// keptFiles is the number of file descriptors that the exchange keeps for itself:
// journal, snapshots, archive, databases, the operators' socket.
const keptFiles = 256

// keptForOperators is the number of operators' connections that there is always room for, among keptFiles: who fills
// the exchange with connections keeps no operator from stopping it.
const keptForOperators = 32

// NewAdmission admits as many connections as the process's limit of open files leaves,
// and at most perPeer of a peer that is not trusted. streams returns the number of
// connections that have become streams.
func NewAdmission(perPeer int, trusts func(netip.Addr) bool, streams func() int, log *slog.Logger) (*Admission, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	return &Admission{most: room(files.Cur), perPeer: perPeer, trusts: trusts, streams: streams, log: log}, nil
}

// room returns the number of connections that a limit of open files leaves.
func room(files uint64) int { return int(min(files-min(keptFiles, files/2), 1<<30)) }

// State counts the connections of the public interfaces, as their server reports them.
// A connection that becomes a stream is counted by the streams.
func (a *Admission) State(conn net.Conn, state http.ConnState) { a.state(conn, state, 0) }

// StateOfOperators is State for the operators' listener, which has room of its own.
func (a *Admission) StateOfOperators(conn net.Conn, state http.ConnState) { a.state(conn, state, 1) }

// state counts a connection that is so many of operators.
func (a *Admission) state(conn net.Conn, state http.ConnState, operators int) {
	switch state {
	case http.StateNew:
		if !a.admit(peerAt(conn.RemoteAddr()), operators) {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		a.release(peerAt(conn.RemoteAddr()), operators)
	default: // no change of the count
	}
}

// admit counts a connection, and reports whether there is room for it.
func (a *Admission) admit(peer netip.Addr, operators int) bool {
	a.mu.Lock()
	a.open++
	a.operators += operators
	full := a.open+a.streams() > a.most
	kept := operators > 0 && a.operators <= keptForOperators
	many := !a.trusts(peer) && !a.peers.Add(peer, a.perPeer)
	a.mu.Unlock()

	if a.full.Swap(full) != full && full {
		a.log.Warn("no room for more connections", slog.Int("most", a.most))
	}
	return (!full || kept) && !many
}

// Room reports whether there is room for one more file descriptor than those that are counted, such as the one between two
// nodes that carries a client's stream.
func (a *Admission) Room() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open+a.streams() < a.most
}

// release uncounts a connection that admit has counted, with or without room for it.
func (a *Admission) release(peer netip.Addr, operators int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	a.operators -= operators
	if !a.trusts(peer) {
		a.peers.Remove(peer)
	}
}

// peerAt returns the address of a peer; the zero address if it is not TCP.
func peerAt(at net.Addr) netip.Addr {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}
