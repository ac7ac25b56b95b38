package stream

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/feed"
)

const (
	// writeChunk is how many bytes are written at a time, so that an end with a
	// reason can come in between.
	writeChunk = 64 << 10
	// writeFor is how long a connection may take for a chunk before it is cut.
	writeFor = 10 * time.Second
)

// pingFrame is a WebSocket ping without a payload.
var pingFrame = ws.MustCompileFrame(ws.NewPingFrame(nil))

// conn is one connection.
type conn struct {
	server     *Server
	raw        net.Conn
	from       netip.Addr
	subscriber *feed.Subscriber

	// Of the reader.
	identity account.Identity
	window   time.Time
	requests int

	// key is that of identity, for Revoke; zero before auth.
	key    atomic.Uint32
	pinged atomic.Int64

	// last is the close frame to be sent, once.
	endMu sync.Mutex
	last  []byte
}

func newConn(s *Server, raw net.Conn, from netip.Addr) *conn {
	c := &conn{server: s, raw: raw, from: from}
	c.pinged.Store(s.Clock().UnixNano())
	c.subscriber = feed.NewSubscriber(
		func() { go c.flush() },
		func() { c.end(ws.StatusPolicyViolation, "too slow") },
	)
	return c
}

// serve reads until the connection ends. early is what came with the upgrade.
func (c *conn) serve(early []byte) {
	defer c.server.remove(c)
	r := reader{conn: c, early: early}
	for {
		message, err := r.next()
		if err == nil {
			err = c.handle(message)
		}
		if err != nil {
			c.finish(err)
			return
		}
	}
}

// finish ends a connection whose reader has stopped. Where there is a reason to
// give, the writer sends it and closes; until then what still comes is thrown
// away.
func (c *conn) finish(err error) {
	if code, reason, ok := closing(err); ok {
		c.end(code, reason)
		_ = c.raw.SetReadDeadline(c.server.Clock().Add(2 * writeFor))
		_, _ = io.Copy(io.Discard, c.raw)
	}
	_ = c.raw.Close()
}

// end has the connection closed with a reason, once; what is queued is not sent
// any more.
func (c *conn) end(code ws.StatusCode, reason string) {
	c.endMu.Lock()
	first := c.last == nil
	if first {
		c.last = ws.MustCompileFrame(ws.NewCloseFrame(ws.NewCloseFrameBody(code, reason)))
	}
	c.endMu.Unlock()
	if first {
		c.subscriber.Push(nil) // wakes the writer
		c.subscriber.End()
	}
}

// closeFrame returns the close frame if the connection is to end.
func (c *conn) closeFrame() []byte {
	c.endMu.Lock()
	defer c.endMu.Unlock()
	return c.last
}

// flush writes what is queued until nothing is left. It runs on a goroutine of
// its own, never twice at a time.
func (c *conn) flush() {
	for batch := c.subscriber.Take(nil); len(batch) > 0; batch = c.subscriber.Take(batch[:0]) {
		for rest := batch; len(rest) > 0; {
			if last := c.closeFrame(); last != nil {
				c.write(net.Buffers{last})
				_ = c.raw.Close()
				return
			}
			n, size := 0, 0
			for n < len(rest) && (n == 0 || size+len(rest[n]) <= writeChunk) {
				size += len(rest[n])
				n++
			}
			if !c.write(append(net.Buffers(nil), rest[:n]...)) {
				_ = c.raw.Close()
				return
			}
			rest = rest[n:]
		}
		clear(batch)
	}
}

func (c *conn) write(b net.Buffers) bool {
	_ = c.raw.SetWriteDeadline(c.server.Clock().Add(writeFor))
	_, err := b.WriteTo(c.raw)
	return err == nil
}

// ping pings a connection that was not pinged for a while.
func (c *conn) ping(now time.Time) {
	if now.UnixNano()-c.pinged.Load() >= int64(pingEvery) {
		c.pinged.Store(now.UnixNano())
		c.subscriber.Push(pingFrame)
	}
}
