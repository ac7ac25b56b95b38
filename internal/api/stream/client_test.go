package stream_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/internal/describe"
)

// patience is the timeout of an expected message.
const patience = 20 * time.Second

// client is a WebSocket client that sees frames.
type client struct {
	*testing.T

	conn net.Conn
	in   io.Reader
	// v is nil if the test makes messages of its own.
	v *describe.Validator
}

func (x *exchange) dial() *client {
	x.Helper()
	conn, br, _, err := ws.Dial(x.Context(), x.url)
	if err != nil {
		x.Fatal(err)
	}
	v, err := validator()
	if err != nil {
		x.Fatal(err)
	}
	c := &client{T: x.T, conn: conn, in: conn, v: v}
	if br != nil {
		c.in = io.MultiReader(io.LimitReader(br, int64(br.Buffered())), conn)
	}
	x.Cleanup(func() { _ = conn.Close() })
	return c
}

// validator reads the descriptions once.
var validator = sync.OnceValues(describe.NewValidator)

// send sends a text message.
func (c *client) send(text string) { c.frame(ws.NewTextFrame([]byte(text))) }

// frame sends a frame, masked.
func (c *client) frame(f ws.Frame) {
	c.Helper()
	c.raw(ws.MustCompileFrame(ws.MaskFrame(f)))
}

func (c *client) raw(b []byte) {
	c.Helper()
	_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(b); err != nil {
		c.Fatal(err)
	}
}

// next returns the next frame.
func (c *client) next() (ws.Frame, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	h, err := ws.ReadHeader(c.in)
	if err != nil {
		return ws.Frame{}, err
	}
	f := ws.Frame{Header: h, Payload: make([]byte, h.Length)}
	if _, err = io.ReadFull(c.in, f.Payload); err == nil && (f.Header.Masked || !f.Header.Fin || f.Header.Rsv != 0) {
		c.Errorf("the server sent a frame with header %+v", f.Header)
	}
	return f, err
}

// receive returns the next text message.
func (c *client) receive() string {
	c.Helper()
	f, err := c.next()
	if err != nil {
		c.Fatalf("no message: %v", err)
	}
	if f.Header.OpCode != ws.OpText {
		c.Fatalf("not a text: %+v %q", f.Header, f.Payload)
	}
	if c.v == nil {
		return string(f.Payload)
	}
	if err := c.v.Message(f.Payload); err != nil {
		c.Errorf("%s: %v", f.Payload, err)
	}
	return string(f.Payload)
}

// want expects the next messages.
func (c *client) want(texts ...string) {
	c.Helper()
	for _, text := range texts {
		if got := c.receive(); got != text {
			c.Fatalf("got  %s\nwant %s", got, text)
		}
	}
}

// ask sends a request and expects an answer.
func (c *client) ask(request, answer string) {
	c.Helper()
	c.send(request)
	c.want(answer)
}

// ok sends a request that must succeed.
func (c *client) ok(request string) {
	c.Helper()
	c.send(request)
	if got := c.receive(); !strings.HasSuffix(got, `"success":true}`) {
		c.Fatalf("%s: %s", request, got)
	}
}

// drain returns the messages sent to the client so far.
func (c *client) drain() (messages []string) {
	c.Helper()
	c.send(`{"op":"ping","id":999}`)
	for {
		m := c.receive()
		if m == `{"class":"resp","id":999,"success":true}` {
			return messages
		}
		messages = append(messages, m)
	}
}

// ended expects the connection to be closed with a code.
func (c *client) ended(code ws.StatusCode, reason string) {
	c.Helper()
	f, err := c.next()
	if err != nil {
		c.Fatalf("no close frame: %v", err)
	}
	c.isClose(f, code, reason)
}

func (c *client) isClose(f ws.Frame, code ws.StatusCode, reason string) {
	c.Helper()
	if f.Header.OpCode != ws.OpClose {
		c.Fatalf("not a close frame: %+v %q", f.Header, f.Payload)
	}
	got := ws.StatusNoStatusRcvd
	if len(f.Payload) > 0 {
		got = ws.StatusCode(binary.BigEndian.Uint16(f.Payload))
		f.Payload = f.Payload[2:]
	}
	if got != code || !strings.Contains(string(f.Payload), reason) {
		c.Errorf("closed with %d %q, want %d %q", got, f.Payload, code, reason)
	}
	if _, err := c.next(); !errors.Is(err, io.EOF) {
		c.Errorf("behind the close frame came %v", err)
	}
}
