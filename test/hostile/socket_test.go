package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gobwas/ws"
)

// subscription is a WebSocket connection of a correct client.
type subscription struct {
	x    *exchange
	conn net.Conn
	in   io.Reader
	seq  uint64
}

// connect opens a connection.
func (x *exchange) connect() (*subscription, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, early, _, err := ws.Dial(ctx, "ws://"+x.address+"/stream")
	if err != nil {
		return nil, err
	}
	s := &subscription{x: x, conn: conn, in: conn}
	if early != nil {
		s.in = io.MultiReader(io.LimitReader(early, int64(early.Buffered())), conn)
	}
	return s, nil
}

// subscribe opens a connection and subscribes to streams.
func (x *exchange) subscribe(streams ...string) (*subscription, error) {
	s, err := x.connect()
	if err != nil {
		return nil, err
	}
	err = s.request(`{"op":"sub","id":1,"streams":["` + strings.Join(streams, `","`) + `"]}`)
	if err != nil {
		s.close()
	}
	return s, err
}

// request sends a request that must succeed, before any data message.
func (s *subscription) request(text string) error {
	if err := s.send(ws.NewTextFrame([]byte(text))); err != nil {
		return err
	}
	m, err := s.next()
	if err == nil && !m.Success {
		err = fmt.Errorf("%.80s: %s", text, m.Error)
	}
	return err
}

func (s *subscription) send(f ws.Frame) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(patience))
	var b bytes.Buffer
	if err := ws.WriteFrame(&b, ws.MaskFrame(f)); err != nil {
		return err
	}
	_, err := s.conn.Write(b.Bytes())
	return err
}

// closedError is the end of a connection with a close frame.
type closedError struct {
	code   ws.StatusCode
	reason string
}

func (e *closedError) Error() string { return fmt.Sprintf("closed with %d %q", e.code, e.reason) }

// next returns the next message and answers pings.
func (s *subscription) next() (message, error) {
	for {
		f, err := s.frame()
		if err != nil {
			return message{}, err
		}
		if f.Header.OpCode == ws.OpText {
			if err := s.x.unleaked(string(f.Payload)); err != nil {
				return message{}, err
			}
			return parseMessage(f.Payload)
		}
		if err := s.react(&f); err != nil {
			return message{}, err
		}
	}
}

// react answers a ping; a close frame is an error.
func (s *subscription) react(f *ws.Frame) error {
	switch f.Header.OpCode { //nolint:exhaustive // servers send no others
	case ws.OpPing:
		return s.send(ws.NewPongFrame(f.Payload))
	case ws.OpClose:
		code, reason := ws.ParseCloseFrameData(f.Payload)
		return &closedError{code, reason}
	}
	return nil
}

// maxFrame bounds the frames read, in bytes.
const maxFrame = 1 << 20

// frame reads one frame.
func (s *subscription) frame() (f ws.Frame, err error) {
	_ = s.conn.SetReadDeadline(time.Now().Add(patience))
	if f.Header, err = ws.ReadHeader(s.in); err != nil {
		return f, err
	}
	if f.Header.Length > maxFrame || f.Header.Masked || f.Header.Rsv != 0 || !f.Header.Fin {
		return f, fmt.Errorf("a frame with header %+v", f.Header)
	}
	f.Payload = make([]byte, f.Header.Length)
	_, err = io.ReadFull(s.in, f.Payload)
	return f, err
}

// follows reports whether a message of a book directly follows the last one.
func (s *subscription) follows(seq uint64) bool {
	before := s.seq
	s.seq = seq
	return before == 0 || seq == before+1
}

func (s *subscription) close() { _ = s.conn.Close() }

// isGone reports whether an error means that the connection has ended.
func isGone(err error) bool {
	var timeout net.Error
	return err != nil && (!errors.As(err, &timeout) || !timeout.Timeout())
}
