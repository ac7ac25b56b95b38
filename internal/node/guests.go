package node

import (
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// guests bounds how many connections of clients there are: each takes a
// file of the process, and a journal that cannot open its next file ends the
// exchange. Who comes when there is no room is turned away at once; who is in
// notices nothing.
type guests struct {
	most int
	// open counts those that speak HTTP; streams tells how many have become
	// streams since.
	open    atomic.Int64
	streams func() int
	full    atomic.Bool
	log     *slog.Logger
}

// keptFiles are those that the exchange needs for itself: journal, snapshots,
// archive, databases, the operators' socket.
const keptFiles = 256

// newGuests allows what the process's limit of open files leaves.
func newGuests(streams func() int, log *slog.Logger) (*guests, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	return &guests{most: room(files.Cur), streams: streams, log: log}, nil
}

// room is how many connections a limit of open files leaves.
func room(files uint64) int { return int(min(files-min(keptFiles, files/2), 1<<30)) }

// state is told of each connection of the server of the public interfaces. A
// connection that becomes a stream is counted by the streams.
func (g *guests) state(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		full := g.open.Add(1)+int64(g.streams()) > int64(g.most)
		if full {
			_ = conn.Close()
		}
		if g.full.Swap(full) != full && full {
			g.log.Warn("no room for more connections", slog.Int("most", g.most))
		}
	case http.StateClosed, http.StateHijacked:
		g.open.Add(-1)
	default: // it speaks, or is silent
	}
}
