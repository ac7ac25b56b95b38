package lane

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"time"
)

// Times of a connection before net/http takes it over.
const (
	// bodyWithin is how long readBody waits before net/http takes over.
	bodyWithin = 2 * time.Second
	// renewEvery is the interval of setting deadlines, which cost too much for each
	// request.
	renewEvery = time.Second
)

// smallBuffer is the memory that a connection keeps between requests.
const smallBuffer = 4 << 10

// conn is a connection whose requests have all been plain.
type conn struct {
	net.Conn
	server *Server
	// in holds bytes read and not answered.
	in  []byte
	out []byte

	head    head
	url     url.URL
	body    body
	request http.Request
	answer  answer
	// renewed is when the deadlines were last set; zero forces a renewal.
	renewed time.Time
}

// body is the body of a request.
type body struct{ bytes.Reader }

// Close does nothing.
func (*body) Close() error { return nil }

func newConn(s *Server, raw net.Conn) *conn {
	c := &conn{Conn: raw, server: s, in: make([]byte, 0, smallBuffer)}
	c.head.header, c.answer.header = http.Header{}, http.Header{}
	c.request = http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		URL: &c.url, Header: c.head.header, Body: &c.body, RemoteAddr: raw.RemoteAddr().String(),
	}
	return c
}

// serve answers plain requests until the connection ends. It returns true if net/http is
// to take over.
func (c *conn) serve() (goesOn bool) {
	defer func() {
		if cause := recover(); cause != nil {
			if cause != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
				c.server.Log.Error("a handler panicked", slog.String("cause", fmt.Sprint(cause)),
					slog.String("stack", string(debug.Stack())))
			}
			goesOn = false
		}
	}()

	_ = c.SetReadDeadline(c.server.Clock().Add(c.server.FirstWithin))
	for {
		if len(c.in) == 0 && !c.read() {
			return false
		}
		if !c.head.read(c.in) || !c.server.takes(c.head.path) || !c.readBody() {
			return true
		}
		if !c.respond() {
			return false
		}
	}
}

// read waits for bytes and reports whether there are any.
func (c *conn) read() bool {
	if c.server.closing.Load() {
		return false
	}

	n, err := c.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	return err == nil && n > 0
}

// readBody reads the rest of the body, and reports whether it is complete.
func (c *conn) readBody() bool {
	whole := c.head.size + c.head.length
	if c.head.length > c.server.MaxBody {
		return false
	}
	if len(c.in) >= whole {
		return true
	}

	c.renewed = time.Time{}
	_ = c.SetReadDeadline(c.server.Clock().Add(bodyWithin))
	for len(c.in) < whole {
		if len(c.in) == cap(c.in) {
			c.in = slices.Grow(c.in, len(c.in))
		}
		if !c.read() {
			return false
		}
	}
	return true
}

// respond answers a request and reports whether the connection stays open.
func (c *conn) respond() bool {
	now := c.server.Clock()
	c.renew(now)

	whole := c.head.size + c.head.length
	c.body.Reset(c.in[c.head.size:whole])
	c.url = url.URL{Path: c.head.path}
	c.request.RequestURI, c.request.Host, c.request.ContentLength = c.head.path, c.head.host, int64(c.head.length)
	c.answer.reset()

	c.server.Handler.ServeHTTP(&c.answer, c.request.WithContext(c.server.context(now)))
	last := c.server.closing.Load()

	c.out = c.answer.append(c.out[:0], c.server.Clock(), last)
	err := c.write()

	c.in = c.in[:copy(c.in, c.in[whole:])]
	c.shrink()
	return err == nil && !last
}

// write writes the answer.
func (c *conn) write() error {
	if c.answer.shared == nil {
		_, err := c.Write(c.out)
		return err
	}

	both := net.Buffers{c.out, c.answer.shared}
	_, err := both.WriteTo(c.Conn)
	c.answer.shared = nil
	return err
}

// shrink releases the memory of a large request or answer.
func (c *conn) shrink() {
	if cap(c.in) > smallBuffer && len(c.in) <= smallBuffer {
		c.in = append(make([]byte, 0, smallBuffer), c.in...)
	}
	if cap(c.out) > smallBuffer {
		c.out = nil
	}
	if cap(c.answer.body) > smallBuffer {
		c.answer.body = nil
	}
}

// renew sets the deadlines unless they are recent.
func (c *conn) renew(now time.Time) {
	if now.Sub(c.renewed) < renewEvery {
		return
	}
	c.renewed = now
	_ = c.SetReadDeadline(now.Add(c.server.IdleFor))
	_ = c.SetWriteDeadline(now.Add(c.server.WriteWithin))
	if c.server.closing.Load() { // closing may have been set meanwhile
		_ = c.SetReadDeadline(now)
	}
}

// Resumed is a connection that net/http takes over; the bytes already read come first.
type Resumed struct {
	net.Conn
	rest []byte
}

// Read reads.
func (r *Resumed) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) == 0 {
		r.rest = nil
	}
	return n, nil
}

// CloseWrite closes the writing side.
func (r *Resumed) CloseWrite() error {
	if half, ok := r.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Bare returns the connection itself, whose writes can be vectored, once the bytes
// already read have been consumed.
func (r *Resumed) Bare() net.Conn {
	if len(r.rest) > 0 {
		return r
	}
	return r.Conn
}
