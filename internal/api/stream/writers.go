package stream

import (
	"errors"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// writers walk the connections that have something to send. Each gets one write,
// which never blocks, of all that is queued by then: in a burst its turn comes
// later and its write is longer. Writers come when there is something to do and
// go when there is nothing, so that a lone message leaves at once. They are few: a
// goroutine for each connection would be woken as often as it writes, and many at
// a time would take the processors from the engine.
type writers struct {
	mu sync.Mutex
	// waiting are the connections to go to, from next on, each once.
	waiting []*conn
	next    int
	// idle are the pens of writers that are not running; there are no other ones.
	idle []*pen
}

func newWriters(most int) *writers {
	w := &writers{}
	for range most {
		w.idle = append(w.idle, newPen())
	}
	return w
}

// add has a connection written to.
func (w *writers) add(c *conn) {
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	var p *pen
	if last := len(w.idle) - 1; last >= 0 {
		p = w.idle[last]
		w.idle = w.idle[:last]
	}
	w.mu.Unlock()
	if p != nil {
		go w.walk(p)
	}
}

// walk writes to connections until none waits.
func (w *writers) walk(p *pen) {
	var again *conn
	for c := w.turn(p, nil); c != nil; c = w.turn(p, again) {
		again = nil
		if p.visit(c) {
			again = c
		}
	}
}

// turn puts a connection at the end, if there is one to be visited again, and
// returns the next; if there is none the pen is laid down.
func (w *writers) turn(p *pen, again *conn) *conn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if again != nil {
		w.waiting = append(w.waiting, again)
	}
	if w.next == len(w.waiting) {
		w.idle = append(w.idle, p)
		return nil
	}
	c := w.waiting[w.next]
	w.waiting[w.next] = nil
	if w.next++; 2*w.next >= len(w.waiting) {
		w.waiting = slices.Delete(w.waiting, 0, w.next)
		w.next = 0
	}
	return c
}

// pen is what a writer writes with.
type pen struct {
	batch  [][]byte
	joined []byte
	// write is put, once for all connections: it writes ink and notes how much
	// of it went.
	write func(fd uintptr) bool
	ink   []byte
	wrote int
	err   error
}

func newPen() *pen {
	p := &pen{}
	p.write = p.put
	return p
}

// visit writes what is queued for a connection, and reports whether to come
// again. What its socket has no room for is left to a goroutine that waits.
func (p *pen) visit(c *conn) bool {
	p.batch = c.subscriber.Take(p.batch[:0])
	defer clear(p.batch)
	for rest := p.batch; len(rest) > 0; {
		n := chunk(rest)
		left, skip, ok := p.send(c, rest[:n])
		switch {
		case !ok:
			_ = c.raw.Close()
			return false
		case left > 0:
			go c.flush(slices.Clone(rest[n-left:]), skip)
			return false
		case isClose(rest[n-1]):
			c.closeWrite()
			return false
		case c.cut.Load():
			return true // the queue holds the close frame alone
		}
		rest = rest[n:]
	}
	return len(p.batch) > 0
}

// send writes messages as far as there is room. It returns how many are left, and
// how much of the first of these has gone.
func (p *pen) send(c *conn, messages [][]byte) (left, skip int, ok bool) {
	if c.socket == nil {
		return len(messages), 0, true
	}
	p.ink, p.wrote = messages[0], 0
	if len(messages) > 1 {
		p.joined = p.joined[:0]
		for _, m := range messages {
			p.joined = append(p.joined, m...)
		}
		p.ink = p.joined
	}
	if c.socket.Write(p.write) != nil || p.err != nil {
		return 0, 0, false
	}
	for i, m := range messages {
		if p.wrote < len(m) {
			return len(messages) - i, p.wrote, true
		}
		p.wrote -= len(m)
	}
	return 0, 0, true
}

// put writes the ink to a socket without waiting for room.
func (p *pen) put(fd uintptr) bool {
	n, err := unix.Write(int(fd), p.ink)
	p.wrote, p.err = max(n, 0), err
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		p.err = nil
	}
	return true
}
