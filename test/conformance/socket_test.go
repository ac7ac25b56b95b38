package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// socket is a WebSocket connection.
type socket struct {
	x    *exam
	conn net.Conn
	// messages are the received messages; closed at the end of the connection.
	messages chan *value
	pongs    chan string
	// closed is the code of the close frame, reason its text; zero without one.
	closed ws.StatusCode
	reason string
	// released lets the reader go on behind the pong that hold asked for.
	released chan struct{}
	// mu is held while a frame is written.
	mu sync.Mutex
	id int
	// aside are data messages received before an awaited answer.
	aside []*value
	// marked is set once this connection receives markers.
	marked bool
}

// connect opens a connection.
func (x *exam) connect() *socket {
	x.Helper()
	s, err := x.dial("/stream", nil)
	if err != nil {
		x.broken("connect: %v", err)
	}
	return s
}

// dial opens a connection at a path, with extra headers.
func (x *exam) dial(path string, header http.Header) (*socket, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	dialer := ws.Dialer{Header: ws.HandshakeHeaderHTTP(header)}
	conn, early, _, err := dialer.Dial(ctx, "ws"+strings.TrimPrefix(x.url, "http")+path)
	if err != nil {
		return nil, err
	}
	s := &socket{x: x, conn: conn, messages: make(chan *value, 4096), pongs: make(chan string, 256), released: make(chan struct{})}
	var from io.Reader = conn
	if early != nil {
		from = early
	}
	go s.read(from)
	x.Cleanup(func() { _ = conn.Close() })
	return s, nil
}

// read receives frames until the connection ends.
func (s *socket) read(from io.Reader) {
	defer close(s.messages)
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		switch f.Header.OpCode { //nolint:exhaustive // servers send no others
		case ws.OpText:
			v, err := parseValue(f.Payload)
			if err != nil {
				v = &value{kind: '"', text: err.Error()}
			}
			s.messages <- v
		case ws.OpPing:
			_ = s.frame(ws.NewPongFrame(f.Payload))
		case ws.OpPong:
			s.pongs <- string(f.Payload)
			if string(f.Payload) == holding {
				<-s.released
			}
		case ws.OpClose:
			s.closed, s.reason = ws.ParseCloseFrameData(f.Payload)
			_ = s.frame(ws.NewCloseFrame(f.Payload))
			return
		}
	}
}

// holding is the payload of the ping of hold.
const holding = "hold"

// hold makes the reader await no further frame until release is called.
func (s *socket) hold() (release func()) {
	s.x.Helper()
	if err := s.frame(ws.NewPingFrame([]byte(holding))); err != nil {
		s.x.broken("ping: %v", err)
	}
	select {
	case <-s.pongs:
	case <-time.After(s.x.patience):
		s.x.broken("no pong came")
	}
	return func() { close(s.released) }
}

// maxFrame bounds the frames read, in bytes.
const maxFrame = 1 << 20

var errLongFrame = errors.New("frame too long")

// readFrame reads a server's frame.
func readFrame(from io.Reader) (ws.Frame, error) {
	h, err := ws.ReadHeader(from)
	if err != nil {
		return ws.Frame{}, err
	}
	if h.Length > maxFrame {
		return ws.Frame{}, errLongFrame
	}
	f := ws.Frame{Header: h, Payload: make([]byte, h.Length)}
	_, err = io.ReadFull(from, f.Payload)
	return f, err
}

// frame writes a masked frame.
func (s *socket) frame(f ws.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ws.WriteFrame(s.conn, ws.MaskFrame(f))
}

// say sends a text message.
func (s *socket) say(message string) {
	s.x.Helper()
	s.mu.Lock()
	err := wsutil.WriteClientText(s.conn, []byte(message))
	s.mu.Unlock()
	if err != nil {
		s.x.broken("send: %v", err)
	}
}

var errNoMessage = errors.New("no message came")

// next returns the next message except markers; an error if none arrives in time.
func (s *socket) next() (*value, error) {
	for {
		m, err := s.any()
		if err != nil || m.get("stream").text != markerStream {
			return m, err
		}
	}
}

func (s *socket) any() (*value, error) {
	end := time.NewTimer(s.x.patience)
	defer end.Stop()
	select {
	case m, ok := <-s.messages:
		if !ok {
			return nil, errors.New("the connection is closed")
		}
		s.x.shapedMessage(m)
		return m, nil
	case <-end.C:
		return nil, errNoMessage
	}
}

// ask sends a request and returns its answer; earlier messages go to aside.
func (s *socket) ask(op string, body fields) *value {
	s.x.Helper()
	s.request(op, body)
	return s.answer()
}

// request sends a request without waiting for its answer.
func (s *socket) request(op string, body fields) {
	s.x.Helper()
	s.id++
	b, err := json.Marshal(body.with("op", op).with("id", s.id))
	if err != nil {
		s.x.broken("%v", err)
	}
	s.say(string(b))
}

// answer returns the next answer; earlier messages go to aside.
func (s *socket) answer() *value {
	s.x.Helper()
	for {
		m, err := s.next()
		if err != nil {
			s.x.Fatalf("no answer: %v", err)
		}
		if class := m.get("class").text; class != "data" && class != "reset" {
			return m
		}
		s.aside = append(s.aside, m)
	}
}

// must sends a request whose success a check needs.
func (s *socket) must(op string, body fields) {
	s.x.Helper()
	if m := s.ask(op, body); m.get("success").kind != 't' {
		s.x.broken("%s %v: %s", op, body, m)
	}
}

// auth authenticates the connection.
func (s *socket) auth(a *account) {
	s.x.Helper()
	s.must("auth", fields{"api_key": a.key})
}

// sub subscribes to streams and drops the messages received so far.
func (s *socket) sub(streams ...string) {
	s.x.Helper()
	s.must("sub", fields{"streams": streams})
	s.aside = nil
}

// fence returns the data messages of all events so far.
func (s *socket) fence() []*value {
	s.x.Helper()
	if !s.marked {
		s.marked = true
		s.say(`{"op":"sub","id":-59,"streams":"` + markerStream + `"}`)
		if m := s.answer(); m.get("success").kind != 't' {
			s.x.broken("marker: %s", m)
		}
	}
	price, err := s.x.exchange.marker.set()
	if err != nil {
		s.x.broken("%v", err)
	}
	for {
		m, err := s.any()
		switch {
		case err != nil:
			s.x.broken("no marker came: %v", err)
		case m.get("stream").text != markerStream:
			s.aside = append(s.aside, m)
		case m.get("price").text == price:
			got := s.aside
			s.aside = nil
			return got
		}
	}
}

// of returns the messages of some streams.
func of(messages []*value, streams ...string) []*value {
	var list []*value
	for _, m := range messages {
		if slices.Contains(streams, m.get("stream").text) {
			list = append(list, m)
		}
	}
	return list
}

// ends expects the connection to be closed in time with one of the codes.
func (s *socket) ends(in time.Duration, codes ...ws.StatusCode) {
	s.x.Helper()
	end := time.NewTimer(in)
	defer end.Stop()
	for {
		select {
		case _, open := <-s.messages:
			if open {
				continue
			}
			for _, c := range codes {
				if s.closed == c {
					return
				}
			}
			s.x.Errorf("closed with %d, want %v", s.closed, codes)
			return
		case <-end.C:
			s.x.Errorf("the connection is still open")
			return
		}
	}
}

// private connects, authenticates and subscribes to an account's own streams.
func (a *account) private() *socket {
	a.x.Helper()
	s := a.x.connect()
	s.auth(a)
	s.sub("myOrders", "myTrades")
	return s
}
