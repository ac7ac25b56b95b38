package stream

import (
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/feed"
)

const (
	// writeChunk is how many bytes are written at a time, so that an end with a
	// reason can come in between.
	writeChunk = 64 << 10
	// writeFor is how long a connection may take for a chunk before it is cut.
	writeFor = 10 * time.Second
	// lingerFor is how long a client may take to read why its connection ends.
	lingerFor = 5 * time.Second
	// lingerBytes is how much it may send meanwhile.
	lingerBytes = 16 << 20
)

// pingFrame is a WebSocket ping without a payload.
var pingFrame = ws.MustCompileFrame(ws.NewPingFrame(nil))

// conn is one connection.
type conn struct {
	server     *Server
	raw        net.Conn
	from       netip.Addr
	subscriber *feed.Subscriber
	// socket is raw's own, for writes that do not wait; nil for one that encrypts.
	socket syscall.RawConn

	// Of the reader.
	identity account.Identity
	use      use

	// expires is when the key of identity does; guarded by the server's mu.
	expires bourse.Time
	// key is that of identity, for Revoke; zero before auth.
	key    atomic.Uint64
	pinged atomic.Int64
	// ended is true once a close frame is queued, cut when nothing that was
	// queued before it is to be sent any more.
	ended, cut atomic.Bool
}

func newConn(s *Server, raw net.Conn, from netip.Addr) *conn {
	c := &conn{server: s, raw: raw, from: from}
	if bare, ok := raw.(syscall.Conn); ok {
		c.socket, _ = bare.SyscallConn() // none: as if it encrypted
	}
	c.pinged.Store(s.Clock().UnixNano())
	c.subscriber = feed.NewSubscriber(
		func() { s.writers.add(c) },
		func() { c.end(ws.StatusPolicyViolation, "too slow", true) },
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
// give, the writer sends it behind the answers that are due; until the client
// has it, and closes, what still comes is thrown away: closing earlier could
// take the reason from it.
func (c *conn) finish(err error) {
	if code, reason, ok := closing(err); ok {
		c.end(code, reason, false)
		_, _ = io.CopyN(io.Discard, c.raw, lingerBytes)
	}
	_ = c.raw.Close()
}

// end has the connection closed with a reason, once. With now, what is queued is
// not sent any more.
func (c *conn) end(code ws.StatusCode, reason string, now bool) {
	var body []byte
	if code != ws.StatusNoStatusRcvd {
		body = ws.NewCloseFrameBody(code, reason)
	}
	if c.subscriber.End(ws.MustCompileFrame(ws.NewCloseFrame(body)), now) {
		c.cut.Store(now) // not earlier: what is behind a gap must be gone already
		c.ended.Store(true)
		c.linger()
	}
}

// patience sets how long the connection may be silent. One that has ended gets no
// more of it, however much it has to say.
func (c *conn) patience(d time.Duration) {
	if c.ended.Load() {
		return
	}
	_ = c.raw.SetReadDeadline(c.server.Clock().Add(d))
	if c.ended.Load() { // just now
		c.linger()
	}
}

// linger sets how long a connection that has ended stays for its client.
func (c *conn) linger() { _ = c.raw.SetReadDeadline(c.server.Clock().Add(lingerFor)) }

// flush writes a batch, of whose first message a part has gone, and then what is
// queued until nothing is left, and waits for room. It runs on a goroutine of its
// own, with no writer beside it.
func (c *conn) flush(batch [][]byte, skip int) {
	var vector net.Buffers
	for ; len(batch) > 0; batch = c.subscriber.Take(batch[:0]) {
		for rest := batch; len(rest) > 0; {
			n := chunk(rest)
			vector = append(vector[:0], rest[:n]...)
			vector[0], skip = vector[0][skip:], 0
			if !c.write(vector) {
				_ = c.raw.Close()
				return
			}
			if isClose(rest[n-1]) {
				c.closeWrite()
				return
			}
			if c.cut.Load() {
				break // the queue holds the close frame alone
			}
			rest = rest[n:]
		}
		clear(batch)
	}
}

// chunk returns how many messages are written at a time.
func chunk(messages [][]byte) int {
	n, size := 0, 0
	for n < len(messages) && (n == 0 || size+len(messages[n]) <= writeChunk) {
		size += len(messages[n])
		n++
	}
	return n
}

// isClose reports whether a frame of ours is a close frame.
func isClose(frame []byte) bool { return frame[0]&0x0f == byte(ws.OpClose) }

func (c *conn) write(messages net.Buffers) bool {
	_ = c.raw.SetWriteDeadline(c.server.Clock().Add(writeFor))
	_, err := messages.WriteTo(c.raw)
	_ = c.raw.SetWriteDeadline(time.Time{}) // a writer may come long after
	return err == nil
}

// closeWrite says that nothing follows; the reader closes when the client does.
func (c *conn) closeWrite() {
	if half, ok := c.raw.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		_ = c.raw.Close()
	}
}

// ping pings a connection that was not pinged for a while.
func (c *conn) ping(now time.Time) {
	if now.UnixNano()-c.pinged.Load() >= int64(pingEvery) {
		c.pinged.Store(now.UnixNano())
		c.subscriber.Push(pingFrame)
	}
}
