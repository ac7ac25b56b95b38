package stream

import (
	"errors"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// writers serve the connections with queued messages. A visit writes everything queued
// and never blocks: in a burst visits are rarer and writes longer. A writer starts when a
// connection waits, so that a lone message leaves at once. Writers are few: a goroutine
// for each connection would be woken for each write, and many of them would take the
// processors from the engine.
type writers struct {
	mu sync.Mutex
	// waiting are the connections to visit, from index next, each once.
	waiting []*Conn
	next    int
	// idle are the pens of writers that do not run. The number of pens bounds the
	// writers.
	idle []*pen
}

func newWriters(most int) *writers {
	w := &writers{}
	for range most {
		w.idle = append(w.idle, newPen())
	}
	return w
}

// add queues a connection for a visit, and starts a writer if one is idle.
func (w *writers) add(c *Conn) {
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

// walk visits connections until none waits.
func (w *writers) walk(p *pen) {
	var again *Conn
	for c := w.turn(p, nil); c != nil; c = w.turn(p, again) {
		again = nil
		if p.visit(c) {
			again = c
		}
	}
}

// turn requeues the connection again, if there is one, and returns the next. If none
// waits, the pen becomes idle.
func (w *writers) turn(p *pen, again *Conn) *Conn {
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

// pen is the state of a writer.
type pen struct {
	batch  [][]byte
	joined []byte
	// write is put as a function value, made once: it writes ink and records the number
	// of bytes in wrote.
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

// visit writes the messages queued for a connection, and reports whether to requeue it.
// If its socket is full, a goroutine that blocks writes the rest.
func (p *pen) visit(c *Conn) bool {
	p.batch = c.subscriber.Take(p.batch[:0])
	defer clear(p.batch)

	for rest := p.batch; len(rest) > 0; {
		n := chunk(rest)
		left, skip, ok := p.send(c, rest[:n])
		switch {
		case !ok:
			c.abandon()
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

// send writes messages without blocking. It returns the number of messages left and the
// bytes sent of the first of these.
func (p *pen) send(c *Conn, messages [][]byte) (left, skip int, ok bool) {
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

// put writes ink to a socket without blocking.
func (p *pen) put(fd uintptr) bool {
	n, err := unix.Write(int(fd), p.ink)
	p.wrote, p.err = max(n, 0), err
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		p.err = nil
	}
	return true
}
