package remote

import (
	"crypto/tls"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"
)

// The rooms of a server, which a connection passes in this order. Each has its own bound, so that
// peers of one room displace nobody in another.
const (
	// maxArriving is the number of connections whose peer is not known yet.
	maxArriving = 256
	// maxConnections is the number of connections of known peers, and that of those whose hello was
	// taken.
	maxConnections = 16
)

// warnEvery is the time between two warnings about the connections of a room.
const warnEvery = 10 * time.Second

// room bounds connections: when it is full, a new one ends the oldest. So connections that are held open
// keep no new one out, and a new one has the time in which that many others arrive.
type room struct {
	most int

	mu sync.Mutex
	// inside are the connections, oldest first.
	inside []*visitor
	// warned is the time of the last warning, and unlogged the number of those left out since.
	warned   time.Time
	unlogged int
}

// visitor is a connection with its room.
type visitor struct {
	net.Conn

	// room is the last one entered.
	room *room
}

// enter moves a connection to a room.
func (v *visitor) enter(r *room) {
	if v.room != nil {
		v.leave()
	}
	v.room = r
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inside) == r.most {
		r.inside[0].cut()
		r.inside = slices.Delete(r.inside, 0, 1)
	}
	r.inside = append(r.inside, v)
}

// leave takes a connection out of its room, which may have displaced it.
func (v *visitor) leave() {
	v.room.mu.Lock()
	defer v.room.mu.Unlock()
	v.room.inside = slices.DeleteFunc(v.room.inside, func(other *visitor) bool { return other == v })
}

// cut closes a connection without the farewell of TLS, for which a peer could let the server wait.
func (v *visitor) cut() {
	c := v.Conn
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	_ = c.Close()
}

// warn logs the end of a connection, at most once in warnEvery: peers cause it at will.
func (r *room) warn(log *slog.Logger, now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.warned) < warnEvery {
		r.unlogged++
		return
	}
	log.Warn("a connection ended", slog.Any("error", err), slog.Int("unlogged", r.unlogged))
	r.warned, r.unlogged = now, 0
}
