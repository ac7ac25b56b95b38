package abuse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// stream is a WebSocket connection.
type stream struct {
	net.Conn
	in io.Reader

	mu sync.Mutex
	// gone is the error with which the exchange ended the connection.
	gone error
}

// openStream opens a stream of a path from an address.
func openStream(source, address, path string) (*stream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d := ws.Dialer{NetDial: func(ctx context.Context, _, address string) (net.Conn, error) { return dialFrom(ctx, source, address) }}
	conn, early, _, err := d.Dial(ctx, "ws://"+address+path)
	if err != nil {
		return nil, err
	}
	s := &stream{Conn: conn, in: conn}
	if early != nil {
		s.in = io.MultiReader(io.LimitReader(early, int64(early.Buffered())), conn)
	}
	return s, nil
}

// frame reads one frame.
func (s *stream) frame() (f ws.Frame, err error) {
	if f.Header, err = ws.ReadHeader(s.in); err != nil {
		return f, err
	}
	f.Payload = make([]byte, f.Header.Length)
	_, err = io.ReadFull(s.in, f.Payload)
	return f, err
}

// next returns the next text and answers pings. A close frame is an error.
func (s *stream) next() ([]byte, error) {
	for {
		f, err := s.frame()
		switch {
		case err != nil:
			return nil, err
		case f.Header.OpCode == ws.OpText:
			return f.Payload, nil
		case f.Header.OpCode == ws.OpPing:
			if err := s.write(ws.NewPongFrame(f.Payload)); err != nil {
				return nil, err
			}
		case f.Header.OpCode == ws.OpClose:
			code, reason := ws.ParseCloseFrameData(f.Payload)
			return nil, fmt.Errorf("closed with %d %s", code, reason)
		}
	}
}

func (s *stream) write(f ws.Frame) error {
	_ = s.SetWriteDeadline(time.Now().Add(patience))
	_, err := s.Write(ws.MustCompileFrame(ws.MaskFrame(f)))
	return err
}

func (s *stream) close() { _ = s.Close() }

// ended returns the error that ended the stream, or nil.
func (s *stream) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = err
	}
}

// deaf reports whether the attack does not read its streams.
func (a *attack) deaf() bool {
	for i := range a.steps {
		if a.steps[i].word == "deaf" {
			return true
		}
	}
	return false
}

// listen opens a stream unless one is open, and counts its messages.
func (c *connection) listen() bool {
	if c.stream != nil && c.stream.ended() == nil {
		return true
	}
	if c.stream != nil {
		c.tally.turn(c.stream.ended().Error())
		c.stream.close()
	}
	s, err := openStream(c.source, c.x.address, c.attack.path)
	if err != nil {
		c.tally.turn("no stream: " + tail(err.Error()))
		c.stream = nil
		return false
	}
	c.stream = s
	if c.attack.deaf() {
		_ = s.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	} else {
		go c.hear(s)
	}
	for i := range c.attack.first {
		if w := c.attack.first[i].word; w == "text" {
			c.frames(&c.attack.first[i], c.expand(c.attack.first[i].text))
		}
	}
	return true
}

// hear reads until the stream ends.
func (c *connection) hear(s *stream) {
	for {
		text, err := s.next()
		if err != nil {
			s.end(err)
			return
		}
		if bytes.Contains(text, []byte(`"id":`)) { // answers alone have one
			c.tally.count(&answer{http.StatusOK, text}, nil)
		}
	}
}

// frames writes frames of a kind to the stream.
func (c *connection) frames(s *step, text string) {
	if s.word == "deaf" || !c.listen() {
		return
	}
	var all []byte
	for i := range s.times {
		if i > 0 && strings.Contains(s.text, "<<") {
			text = c.expand(s.text)
		}
		all = append(all, ws.MustCompileFrame(ws.MaskFrame(frameOf(s.word, text)))...)
	}
	_ = c.stream.SetWriteDeadline(time.Now().Add(patience))
	_, err := c.stream.Write(all)
	if err != nil {
		c.stream.end(errors.New("cut"))
		return
	}
	c.tally.note("written")
}

// frameOf returns a frame.
func frameOf(word, text string) ws.Frame {
	switch word {
	case "ping":
		return ws.NewPingFrame([]byte(text))
	case "pong":
		return ws.NewPongFrame([]byte(text))
	case "empty":
		return ws.NewTextFrame(nil)
	}
	return ws.NewTextFrame([]byte(text))
}
