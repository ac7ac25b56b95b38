package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

func TestTextsThatAreNoRequests(t *testing.T) {
	x := newExchange(t, 0)
	for name, text := range map[string]string{
		"empty":            ``,
		"not JSON":         `ping`,
		"cut off":          `{"op":"ping","id":1`,
		"array":            `[{"op":"ping","id":1}]`,
		"string":           `"ping"`,
		"null":             `null`,
		"trailing":         `{"op":"ping","id":1} {}`,
		"name twice":       `{"op":"ping","id":1,"id":2}`,
		"no op":            `{"id":1}`,
		"op null":          `{"op":null,"id":1}`,
		"op no string":     `{"op":1,"id":1}`,
		"id string":        `{"op":"ping","id":"1"}`,
		"id fraction":      `{"op":"ping","id":1.0}`,
		"id exponent":      `{"op":"ping","id":1e2}`,
		"id leading zero":  `{"op":"ping","id":01}`,
		"id object":        `{"op":"ping","id":{}}`,
		"op in other case": `{"OP":"ping","id":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := x.dial()
			c.T = t
			c.ok(`{"op":"ping","id":1}`)
			c.send(text)
			c.ended(ws.StatusPolicyViolation, "id")
		})
	}
}

func TestInvalidUTF8(t *testing.T) {
	x := newExchange(t, 0)
	for name, text := range map[string]string{
		"byte":      "{\"op\":\"ping\xff\",\"id\":1}",
		"cut off":   "{\"op\":\"ping\",\"id\":1}\xe2\x82",
		"surrogate": "{\"op\":\"\xed\xa0\x80\",\"id\":1}",
		"overlong":  "{\"op\":\"\xc0\xaf\",\"id\":1}",
	} {
		t.Run(name, func(t *testing.T) {
			c := x.dial()
			c.T = t
			c.send(text)
			c.ended(ws.StatusInvalidFramePayloadData, "UTF-8")
		})
	}
}

// masked returns a masked frame with a header that may be malformed.
func masked(h ws.Header, payload string) []byte {
	h.Masked, h.Mask, h.Length = true, [4]byte{1, 2, 3, 4}, int64(len(payload))
	var b bytes.Buffer
	_ = ws.WriteHeader(&b, h)
	body := []byte(payload)
	ws.Cipher(body, h.Mask, 0)
	b.Write(body)
	return b.Bytes()
}

func TestFramesThatBreakTheProtocol(t *testing.T) {
	x := newExchange(t, 0)
	const request = `{"op":"ping","id":1}`
	long := strings.Repeat("x", 126)
	for name, f := range map[string]struct {
		bytes []byte
		code  ws.StatusCode
	}{
		"unmasked":                    {ws.MustCompileFrame(ws.NewTextFrame([]byte(request))), ws.StatusProtocolError},
		"binary":                      {masked(ws.Header{Fin: true, OpCode: ws.OpBinary}, request), ws.StatusUnsupportedData},
		"reserved opcode":             {masked(ws.Header{Fin: true, OpCode: 3}, request), ws.StatusProtocolError},
		"reserved control":            {masked(ws.Header{Fin: true, OpCode: 0xb}, ""), ws.StatusProtocolError},
		"reserved bit":                {masked(ws.Header{Fin: true, OpCode: ws.OpText, Rsv: 4}, request), ws.StatusProtocolError},
		"continuation of nothing":     {masked(ws.Header{Fin: true, OpCode: ws.OpContinuation}, request), ws.StatusProtocolError},
		"text inside fragments":       {append(masked(ws.Header{OpCode: ws.OpText}, request), masked(ws.Header{Fin: true, OpCode: ws.OpText}, request)...), ws.StatusProtocolError},
		"fragmented ping":             {masked(ws.Header{OpCode: ws.OpPing}, "x"), ws.StatusProtocolError},
		"long ping":                   {masked(ws.Header{Fin: true, OpCode: ws.OpPing}, long), ws.StatusProtocolError},
		"long close":                  {masked(ws.Header{Fin: true, OpCode: ws.OpClose}, long), ws.StatusProtocolError},
		"close with half a code":      {masked(ws.Header{Fin: true, OpCode: ws.OpClose}, "x"), ws.StatusProtocolError},
		"close with a reserved code":  {masked(ws.Header{Fin: true, OpCode: ws.OpClose}, "\x03\xed"), ws.StatusProtocolError},
		"close with a code too high":  {masked(ws.Header{Fin: true, OpCode: ws.OpClose}, "\x13\x88"), ws.StatusProtocolError},
		"close with a bad reason":     {masked(ws.Header{Fin: true, OpCode: ws.OpClose}, "\x03\xe8\xff"), ws.StatusProtocolError},
		"too long":                    {masked(ws.Header{Fin: true, OpCode: ws.OpText}, strings.Repeat(" ", 16<<10+1)), ws.StatusMessageTooBig},
		"too long, 64 bits of length": {masked(ws.Header{Fin: true, OpCode: ws.OpText}, strings.Repeat(" ", 70_000)), ws.StatusMessageTooBig},
		"negative length":             {[]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, ws.StatusMessageTooBig},
		"too long in fragments": {append(masked(ws.Header{OpCode: ws.OpText}, strings.Repeat(" ", 16<<10)),
			masked(ws.Header{Fin: true, OpCode: ws.OpContinuation}, " ")...), ws.StatusMessageTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			c := x.dial()
			c.T = t
			c.raw(append(masked(ws.Header{Fin: true, OpCode: ws.OpText}, request), f.bytes...))
			c.want(resp(1)) // earlier requests are answered
			c.ended(f.code, "")
		})
	}
}

func TestLongestMessage(t *testing.T) {
	c := newExchange(t, 0).dial()
	const request = `{"op":"ping","id":1,"x":""}`
	text := strings.Replace(request, `""`, `"`+strings.Repeat("x", 16<<10-len(request))+`"`, 1)
	c.ask(text, resp(1))
	c.raw(append(masked(ws.Header{OpCode: ws.OpText}, text[:100]), masked(ws.Header{Fin: true, OpCode: ws.OpContinuation}, text[100:])...))
	c.want(resp(1))
}

func TestFragmentsAndControlFrames(t *testing.T) {
	c := newExchange(t, 0).dial()
	var b []byte
	add := func(fin bool, code ws.OpCode, payload string) {
		b = append(b, masked(ws.Header{Fin: fin, OpCode: code}, payload)...)
	}
	add(true, ws.OpPong, "unasked")
	add(false, ws.OpText, `{"op":"pi`)
	add(true, ws.OpPing, "one")
	add(false, ws.OpContinuation, "")
	add(false, ws.OpContinuation, `ng","id":5,"x":"`+"\xe2")
	add(true, ws.OpPing, strings.Repeat("p", 125))
	add(true, ws.OpPong, "")
	add(true, ws.OpContinuation, "\x82\xac"+`"}`)
	add(true, ws.OpPing, "")
	for _, part := range b { // byte by byte
		c.raw([]byte{part})
	}
	for _, want := range []string{"one", strings.Repeat("p", 125), resp(5), ""} {
		f, err := c.next()
		if err != nil || string(f.Payload) != want || (f.Header.OpCode == ws.OpText) != (want == resp(5)) {
			t.Fatalf("got %+v %q %v, want %q", f.Header, f.Payload, err, want)
		}
	}
}

func TestClosingHandshake(t *testing.T) {
	x := newExchange(t, 0)
	for name, code := range map[string]ws.StatusCode{
		"normal": ws.StatusNormalClosure, "going away": ws.StatusGoingAway, "own": 4000, "none": ws.StatusNoStatusRcvd,
	} {
		t.Run(name, func(t *testing.T) {
			c := x.dial()
			c.T = t
			var body []byte
			if code != ws.StatusNoStatusRcvd {
				body = ws.NewCloseFrameBody(code, "bye")
			}
			c.send(`{"op":"ping","id":1}`)
			c.frame(ws.NewCloseFrame(body))
			c.want(resp(1))
			c.ended(code, "")
		})
	}
}

// TestSuspension closes what is connected, takes nobody, and takes connections again afterwards.
func TestSuspension(t *testing.T) {
	x := newExchange(t, 0)
	a := x.dial()
	a.ok(`{"op":"ping","id":1}`)
	x.server.Suspend("away")
	a.ended(ws.StatusGoingAway, "away")
	_ = a.conn.Close()
	if f, err := x.dial().next(); err == nil {
		t.Errorf("a connection to a suspended server gets %v", f)
	}
	x.server.Resume()
	x.dial().ok(`{"op":"ping","id":2}`)
}

func TestClosingByTheServer(t *testing.T) {
	x := newExchange(t, 0)
	a, b := x.dial(), x.dial()
	a.ok(`{"op":"ping","id":1}`)
	b.ok(`{"op":"ping","id":1}`)
	if n := x.server.Len(); n != 2 {
		t.Errorf("%d connections", n)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		x.server.Close(context.Background())
	}()
	for _, c := range []*client{a, b} {
		c.ended(ws.StatusGoingAway, "the exchange is going down")
		_ = c.conn.Close()
	}
	<-closed
	if n := x.server.Len(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	late := x.dial()
	if f, err := late.next(); err == nil {
		t.Errorf("a closed server sent %+v", f)
	}
}

func TestClosingCutsThoseWhoStay(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"ping","id":1}`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x.server.Close(ctx) // returns although the client does not close
	if n := x.server.Len(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

func TestKeepAlive(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"ping","id":1}`)
	x.server.Ping()
	x.clock.Store(int64(20 * time.Second))
	x.server.Ping()
	x.server.Ping()
	if f, err := c.next(); err != nil || f.Header.OpCode != ws.OpPing {
		t.Fatalf("%+v, %v", f, err)
	}
	c.frame(ws.NewPongFrame(nil))
	c.ok(`{"op":"ping","id":2}`) // no second ping in between
}

func TestSilentConnectionIsCut(t *testing.T) {
	x := newExchange(t, 0)
	x.clock.Store(-int64(40 * time.Second)) // so that its time is up at once
	if _, err := x.dial().next(); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
}

func TestNotAWebSocket(t *testing.T) {
	x := newExchange(t, 0)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http"+x.url[len("ws"):], http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	if got.StatusCode < 400 || got.StatusCode > 499 {
		t.Errorf("status %d", got.StatusCode)
	}
}
