package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// Bounds of a connection.
const (
	// silentFor is the time without a frame after which a connection counts as broken. The
	// exchange pings every 20 seconds.
	silentFor = 60 * time.Second
	// writeFor bounds the time to send a request.
	writeFor = 10 * time.Second
	// perRequest is the number of streams that a request may resume.
	perRequest = 64
)

// Stream selects the streams to follow, and their beginnings. Not safe for concurrent use.
type Stream struct {
	// Names are the names of the streams, at most 1,024: MyOrders, BookOf and their like.
	Names []string
	// Since maps a stream to the Seq of its last delivered message. A stream without an entry
	// begins with all its messages, if the exchange has them, else with its present state.
	// Follow updates Since before the loop sees the event: a program that stores Since
	// together with the events' effects resumes there after its own restart.
	Since map[string]uint64
	// CancelOnClose lets the exchange cancel all open orders of the account whenever the
	// connection ends.
	CancelOnClose bool
}

// ClosedError is the exchange's close of a connection.
type ClosedError struct {
	// Code is 4408 for a client that does not keep up, and 1008 for a key that ended.
	Code   int
	Reason string
}

// Error returns code and reason.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("the exchange closed with %d %s", e.Code, e.Reason)
}

// ErrGap means that the exchange left out a message, against its contract. Follow asks for it on
// the next connection.
var ErrGap = errors.New("gap in a stream")

// Follow delivers the messages of streams, each once and in order, over one connection at a time.
// It connects again by itself and asks for the missed messages; a [Reset] stands for messages that
// the exchange no longer has. A slow loop loses its connection, but no message.
//
// It ends when the loop does, when the context ends, and when the exchange refuses the key or a
// stream; the last two are the error of the last pair. Following the same Stream again goes on
// behind the last message.
func (c *Client) Follow(ctx context.Context, s *Stream) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, name := range s.Names {
			if !known(name) {
				yield(Event{}, errUnknownStream(name))
				return
			}
		}
		if s.Since == nil {
			s.Since = map[string]uint64{}
		}
		wait := time.Duration(0)
		for {
			f := &following{client: c, stream: s, yield: yield}
			err := f.connect(ctx)
			if f.left {
				return
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if ctx.Err() != nil || final(err) {
				yield(Event{}, err)
				return
			}
			if !yield(Event{Message: &Dropped{err}}, nil) {
				return
			}

			wait = min(max(2*wait, leastPause), mostPause)
			if f.current {
				wait = 0
			}
			_ = pause(ctx, wait/2+rand.N(wait/2+1)) //nolint:gosec // spreads clients, hides nothing
		}
	}
}

// final reports whether connecting again is of no use.
func final(err error) bool {
	var refused *Error
	var status ws.StatusError
	switch {
	case errors.As(err, &refused):
		return !passes(refused)
	case errors.As(err, &status):
		return status != http.StatusTooManyRequests && status < http.StatusInternalServerError
	}
	return false
}

// following is one connection of a stream.
type following struct {
	client *Client
	stream *Stream
	yield  func(Event, error) bool
	conn   net.Conn
	// requests are the unanswered requests; only the first has been sent.
	requests []fields
	// current is set when all missed messages have been delivered, left when the loop ended.
	current, left bool
}

// connect follows one connection until it or the loop ends.
func (f *following) connect(ctx context.Context) error {
	dialer := ws.Dialer{Timeout: dialWithin, NetDial: f.client.o.Dial, TLSConfig: f.client.o.TLS}
	conn, early, _, err := dialer.Dial(ctx, "ws"+strings.TrimPrefix(f.client.base, "http")+"/stream")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	f.conn = conn
	if early == nil {
		early = bufio.NewReader(conn)
	}
	f.plan()
	if err := f.send(); err != nil {
		return err
	}
	for !f.left && err == nil {
		var text []byte
		if text, err = f.next(early); err == nil {
			err = f.take(text)
		}
	}
	return err
}

// plan makes the requests. The last is a ping: its answer comes behind all missed messages.
func (f *following) plan() {
	own := f.stream.CancelOnClose
	for _, name := range f.stream.Names {
		own = own || strings.HasPrefix(name, "my")
	}
	if own {
		f.requests = append(f.requests, f.client.auth(f.stream.CancelOnClose))
	}

	for names := f.stream.Names; len(names) > 0; names = names[min(perRequest, len(names)):] {
		some := names[:min(perRequest, len(names))]
		since := map[string]uint64{}
		for _, name := range some {
			since[name] = f.stream.Since[name]
		}
		f.requests = append(f.requests, fields{"op": "sub", "streams": some, "since": since})
	}
	f.requests = append(f.requests, fields{"op": "ping"})
	for i, request := range f.requests {
		request["id"] = i + 1
	}
}

// send sends the first request, if there is one.
func (f *following) send() error {
	if len(f.requests) == 0 {
		return nil
	}
	text, err := json.Marshal(f.requests[0])
	if err != nil {
		return err
	}
	if err := f.conn.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
		return err
	}
	return wsutil.WriteClientText(f.conn, text)
}

// next waits for the next text, and answers pings meanwhile.
func (f *following) next(from *bufio.Reader) ([]byte, error) {
	control := wsutil.ControlFrameHandler(f.conn, ws.StateClientSide)
	frames := wsutil.Reader{
		Source: from, State: ws.StateClientSide, CheckUTF8: true, MaxFrameSize: maxAnswer, OnIntermediate: control,
	}
	for {
		if err := f.conn.SetReadDeadline(time.Now().Add(silentFor)); err != nil {
			return nil, err
		}
		h, err := frames.NextFrame()
		if err != nil {
			return nil, err
		}
		if !h.OpCode.IsControl() {
			return io.ReadAll(&frames)
		}

		if err := f.conn.SetWriteDeadline(time.Now().Add(writeFor)); err != nil {
			return nil, err
		}
		var closed wsutil.ClosedError
		if err := control(h, &frames); errors.As(err, &closed) {
			return nil, &ClosedError{int(closed.Code), closed.Reason}
		} else if err != nil {
			return nil, err
		}
	}
}

// take delivers a message.
func (f *following) take(text []byte) error {
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return fmt.Errorf("the exchange sent no message: %w", err)
	}
	switch e.Class {
	case "resp":
		return f.answered(&e)
	case "reset":
		m, err := e.reset()
		if err != nil {
			return err
		}
		f.deliver(&e, m)
		return nil
	case "data":
		return f.data(&e, text)
	}
	return nil // a class that came later
}

// answered takes the answer to the first request and sends the next one.
func (f *following) answered(e *envelope) error {
	if len(f.requests) == 0 || f.requests[0]["id"] != e.ID {
		return fmt.Errorf("the exchange answers the request %d, which it was not asked", e.ID)
	}
	op := fmt.Sprint(f.requests[0]["op"])
	if !e.Success {
		return &Error{Path: op, Code: e.Code, Message: e.Error}
	}

	f.requests = f.requests[1:]
	if len(f.requests) == 0 {
		f.current = true
		f.left = !f.yield(Event{Message: new(Current)}, nil)
	}
	return f.send()
}

// data delivers a data message that is new.
func (f *following) data(e *envelope, text []byte) error {
	since := f.stream.Since[e.Stream]
	switch {
	case !counted[kindOf(e.Stream)]:
		if e.Seq < since {
			return nil
		}
	case e.Seq <= since:
		return nil // the state of a reset includes it
	case e.Seq != since+1:
		return fmt.Errorf("%w: %s goes from %d to %d", ErrGap, e.Stream, since, e.Seq)
	}

	m, err := e.data(text)
	if err != nil {
		return err
	}
	f.deliver(e, m)
	return nil
}

func (f *following) deliver(e *envelope, m Message) {
	f.stream.Since[e.Stream] = e.Seq
	f.left = !f.yield(Event{e.Stream, e.Seq, m}, nil)
}
