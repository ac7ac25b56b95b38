package stream

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

const (
	// writeChunk bounds a write in bytes, so that a close frame can come between two.
	writeChunk = 64 << 10
	// writeFor is the time for a chunk before the connection is cut.
	writeFor = 10 * time.Second
	// lingerFor is the time for a client to read the reason of the close, once the current
	// write has ended.
	lingerFor = 5 * time.Second
	// lingerBytes bounds the bytes that a closing connection discards.
	lingerBytes = 16 << 20
)

// pingFrame is a WebSocket ping without a payload.
var pingFrame = ws.MustCompileFrame(ws.NewPingFrame(nil))

// Conn is one connection.
type Conn struct {
	server     *Server
	raw        net.Conn
	from       netip.Addr
	subscriber *feed.Subscriber
	// protocol is the requests and messages of the connection.
	protocol Protocol
	// socket is raw's, for writes that do not block; nil for an encrypted connection.
	socket syscall.RawConn

	// expires is the time of the protocol's next Expire. Guarded by the server's mu.
	expires bourse.Time
	pinged  atomic.Int64
	// ended is set once a close frame is queued; cut if messages queued before it are
	// dropped; barred if the client has no access any more.
	ended, cut, barred atomic.Bool

	// gone ends with the connection.
	gone  context.Context
	leave context.CancelFunc
}

func newConn(s *Server, raw net.Conn, from netip.Addr, open func(*Conn) Protocol) *Conn {
	c := &Conn{server: s, raw: raw, from: from}
	if bare, ok := raw.(syscall.Conn); ok {
		c.socket, _ = bare.SyscallConn() // nil on error, as for an encrypted connection
	}
	c.gone, c.leave = context.WithCancel(context.Background())
	c.pinged.Store(s.Clock().UnixNano())
	c.protocol = open(c)
	c.subscriber = feed.NewSubscriber(
		func() { s.writers.add(c) },
		c.endSlow,
		c.protocol.Lost,
	)
	return c
}

// serve reads until the connection ends. early are the bytes after the upgrade.
func (c *Conn) serve(early []byte) {
	defer c.server.remove(c)
	defer c.protocol.Leave()
	defer c.leave()
	c.protocol.Begin()
	r := reader{conn: c, early: early}
	for {
		message, err := r.next()
		if err == nil {
			err = c.protocol.Handle(message)
		}
		if err != nil {
			c.finish(err)
			return
		}
	}
}

// finish closes a connection whose reader has stopped. If there is a reason to give, the
// writer sends it after the pending answers, and input is discarded until the client
// closes: an earlier close could reset the connection before the client has read the
// reason.
func (c *Conn) finish(err error) {
	if code, reason, ok := closing(err); ok {
		c.end(code, reason, false)
		_, _ = io.CopyN(io.Discard, c.raw, lingerBytes)
	}
	_ = c.raw.Close()
}

// closeSlow is the close code of a connection that does not keep up: its client can resume
// behind the last message that it has.
const closeSlow ws.StatusCode = 4408

// endSlow ends a connection that does not keep up.
func (c *Conn) endSlow() { c.end(closeSlow, "slow, resume with since", true) }

// end queues a close frame, once. With now, the queued messages are dropped.
func (c *Conn) end(code ws.StatusCode, reason string, now bool) {
	var body []byte
	if code != ws.StatusNoStatusRcvd {
		body = ws.NewCloseFrameBody(code, reason)
	}
	if c.subscriber.End(ws.MustCompileFrame(ws.NewCloseFrame(body)), now) {
		if now && code == ws.StatusPolicyViolation {
			c.barred.Store(true)
			_ = c.raw.SetWriteDeadline(c.server.Clock().Add(barredFor))
		}
		c.cut.Store(now) // after End: a message behind the gap must not be sent
		c.ended.Store(true)
		c.linger()
	}
}

// patience sets the read deadline, unless the connection is ending.
func (c *Conn) patience(d time.Duration) {
	if c.ended.Load() {
		return
	}
	_ = c.raw.SetReadDeadline(c.server.Clock().Add(d))
	if c.ended.Load() { // ended may have been set meanwhile
		c.linger()
	}
}

// linger sets the read deadline of an ending connection, whose writer may be in a chunk of
// a message.
func (c *Conn) linger() { _ = c.raw.SetReadDeadline(c.server.Clock().Add(writeFor + lingerFor)) }

// flush writes a batch, of whose first message skip bytes are sent, and then the queue
// until it is empty, waiting for room. It runs on its own goroutine, and no writer visits
// the connection meanwhile.
func (c *Conn) flush(batch [][]byte, skip int) {
	var vector net.Buffers
	for ; len(batch) > 0; batch = c.subscriber.Take(batch[:0]) {
		for rest := batch; len(rest) > 0; {
			n := chunk(rest)
			vector = append(vector[:0], rest[:n]...)
			vector[0], skip = vector[0][skip:], 0
			if !c.writeLong(vector) {
				c.abandon()
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

// abandon ends a connection whose client takes no more bytes. Its reader may be in Await, for
// the client to take some.
func (c *Conn) abandon() {
	c.subscriber.Abandon()
	_ = c.raw.Close()
}

// chunk returns the number of messages for the next write.
func chunk(messages [][]byte) int {
	n, size := 0, 0
	for n < len(messages) && (n == 0 || size+len(messages[n]) <= writeChunk) {
		size += len(messages[n])
		n++
	}
	return n
}

// isClose reports whether an outgoing frame is a close frame.
func isClose(frame []byte) bool { return frame[0]&0x0f == byte(ws.OpClose) }

// barredFor is the time for a client whose access ended to take the chunk that is being
// written.
const barredFor = time.Second

// writeLong writes messages, of which the first may be longer than a chunk. Each chunk of it
// has writeFor, so that a slow client gets a state of any size. A client whose access ended
// gets no further chunk.
func (c *Conn) writeLong(messages net.Buffers) bool {
	for len(messages[0]) > writeChunk {
		if !c.write(net.Buffers{messages[0][:writeChunk]}) {
			return false
		}
		messages[0] = messages[0][writeChunk:]
		if c.barred.Load() {
			return false
		}
		if c.ended.Load() {
			c.linger() // the close frame comes behind the message
		}
	}
	return c.write(messages)
}

func (c *Conn) write(messages net.Buffers) bool {
	_ = c.raw.SetWriteDeadline(c.server.Clock().Add(writeFor))
	_, err := messages.WriteTo(c.raw)
	_ = c.raw.SetWriteDeadline(time.Time{}) // the next writer may come much later
	return err == nil
}

// closeWrite closes the writing side; the reader closes the rest after the client.
func (c *Conn) closeWrite() {
	_ = c.raw.SetReadDeadline(c.server.Clock().Add(lingerFor))
	if half, ok := c.raw.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		_ = c.raw.Close()
	}
}

// ping pings a connection unless it was pinged recently.
func (c *Conn) ping(now time.Time) {
	if now.UnixNano()-c.pinged.Load() >= int64(pingEvery) {
		c.pinged.Store(now.UnixNano())
		c.subscriber.Push(pingFrame)
	}
}
