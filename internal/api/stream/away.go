package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

const (
	// answerWithin bounds the time for which a client's request waits for another node's answer.
	answerWithin = 10 * time.Second
	// moveWithin bounds the time for which streams wait for the account's limit of reads at the leader: by default, enough for as
	// many as a connection may have.
	moveWithin = time.Minute
	// mostAway bounds a message of another node, in bytes.
	mostAway = 256 << 20
)

// away is the connection to the node that leads, of a client that authenticated at another node. The leader carries out the
// client's requests from then on, and sends its messages: keys, their end and cancel_on_close are checked in one place.
type away struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader
	// mu guards writes to conn: requests of the reader, and pongs.
	mu sync.Mutex
}

var (
	// errAway closes a connection whose way to the leader has ended.
	errAway = &CloseError{ws.StatusGoingAway, "the node that leads cannot be reached, resume with since"}
	// errNoRoom closes a connection of an account whose limit of reads stays used up.
	errNoRoom = &CloseError{ws.StatusGoingAway, "too many reads of this account, authenticate before you subscribe"}
	// errNoAnswer is the error for an auth that the leader did not answer. It may have been carried out, on a connection that
	// has ended.
	errNoAnswer = bourse.Errorf(bourse.CodeUnavailable, "The node that leads gave no answer; authenticate again")
	errFrame    = errors.New("a message of another node is no text")
)

// depart has the leader carry out a client's auth, message, and moves the connection's streams there if it succeeds. An error is
// the answer to the client, whose connection stays as it was; a *CloseError closes it.
func (c *session) depart(f *api.Form, message []byte) error {
	if _, err := readCredential(f, f.Bool("cancel_on_close")); err != nil {
		return err
	}
	if !c.server.Limits.Admit(api.Reads, c.payer()) {
		return bourse.ErrBusy // it costs the leader a connection
	}
	conn, err := c.server.Elsewhere(c.opened)
	if err != nil {
		return err
	}

	a := &away{conn: conn, in: bufio.NewReader(conn)}
	told, err := a.ask(c.gone, message, func([]byte) {})
	if err != nil || !succeeded(told) {
		_ = conn.Close()
		if err != nil {
			return errNoAnswer
		}
		c.subscriber.Push(Frame(told))
		return errAnswered
	}

	c.away = a
	c.departed.Store(true)
	had := c.server.Feed.Depart(c.subscriber)
	c.subscriber.Push(Frame(told))
	if err := c.move(had); err != nil {
		return err
	}
	c.server.open.Add(1)
	go c.relay()
	return errAnswered
}

// move subscribes at the leader to streams, behind the messages that the client has of them. It waits while the account's limit of
// reads is used up.
func (c *session) move(had map[feed.Topic]uint64) error {
	catalogue := c.server.View.Catalogue()
	since := make(map[string]uint64, len(had))
	for t, last := range had {
		since[nameOf(catalogue, t)] = max(last, c.began[t])
	}

	until := c.server.Clock().Add(moveWithin)
	for names := slices.Sorted(maps.Keys(since)); len(names) > 0; {
		n := min(maxResumed, len(names))
		told, err := c.away.ask(c.gone, subOf(names[:n], since), c.pass)
		switch {
		case err != nil:
			return errAway
		case succeeded(told):
			names = names[n:]
		case !isBusy(told):
			return errAway
		case c.server.Clock().After(until):
			return errNoRoom
		default:
			<-c.server.After(firstPause)
		}
	}
	return nil
}

// subOf returns a request for streams behind messages.
func subOf(names []string, since map[string]uint64) []byte {
	w := wire.NewWriter(nil)
	w.Object()
	w.Word("op", "sub")
	w.Uint("id", 0)
	w.Name("streams")
	w.Array()
	for _, name := range names {
		w.String(name)
	}
	w.EndArray()
	w.Name("since")
	w.Object()
	for _, name := range names {
		w.Uint(name, since[name])
	}
	w.EndObject()
	w.EndObject()
	return w.Bytes()
}

// relay sends the leader's messages to the client until either leaves.
func (c *session) relay() {
	defer c.server.open.Done()
	for {
		message, err := c.away.next()
		if err != nil {
			if known := (*CloseError)(nil); !errors.As(err, &known) {
				err = errAway
			}
			code, reason, _ := closing(err)
			c.end(code, reason, false)
			return
		}
		c.pass(message)
	}
}

// pass queues a message of the leader, once the client has taken most of the earlier ones. Until then the leader's wait there,
// which ends the connection of a client that does not keep up.
func (c *session) pass(message []byte) { c.subscriber.Answer(c.gone, Frame(message)) }

// ask sends a request and returns its answer. others gets the messages before it. They have HeaderRoom.
func (a *away) ask(ctx context.Context, request []byte, others func([]byte)) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = a.conn.Close() })()
	if err := a.send(request); err != nil {
		return nil, err
	}
	for {
		message, err := a.next()
		if err != nil || bytes.HasPrefix(message[HeaderRoom:], []byte(`{"class":"resp"`)) {
			return message, err
		}
		others(message)
	}
}

// send sends a request.
func (a *away) send(request []byte) error { return a.write(ws.NewTextFrame(bytes.Clone(request))) }

func (a *away) write(f ws.Frame) error {
	frame := ws.MustCompileFrame(ws.MaskFrameInPlace(f))
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.conn.Write(frame)
	return err
}

// next returns the leader's next text message, with HeaderRoom before it, and answers its pings. A *CloseError is its reason
// to close the connection.
func (a *away) next() ([]byte, error) {
	for {
		h, err := ws.ReadHeader(a.in)
		if err != nil {
			return nil, err
		}
		if !h.Fin || h.Masked || h.Rsv != 0 || h.Length > mostAway {
			return nil, errFrame
		}
		message := bytes.NewBuffer(make([]byte, HeaderRoom, HeaderRoom+min(h.Length, 4<<10)))
		if _, err := io.CopyN(message, a.in, h.Length); err != nil {
			return nil, err
		}

		payload := message.Bytes()[HeaderRoom:]
		switch h.OpCode {
		case ws.OpText:
			return message.Bytes(), nil
		case ws.OpPing:
			if err := a.write(ws.NewPongFrame(payload)); err != nil {
				return nil, err
			}
		case ws.OpPong:
		case ws.OpClose:
			code, reason := ws.ParseCloseFrameData(payload)
			return nil, &CloseError{code, strings.ToValidUTF8(reason, "")}
		case ws.OpContinuation, ws.OpBinary:
			return nil, errFrame
		}
	}
}

// succeeded reports whether a request succeeded, by its answer with HeaderRoom.
func succeeded(answer []byte) bool {
	var told struct{ Success bool }
	return json.Unmarshal(answer[HeaderRoom:], &told) == nil && told.Success
}

// isBusy reports whether a request was refused for a limit, by its answer with HeaderRoom.
func isBusy(answer []byte) bool {
	var told struct{ Code codes.Code }
	return json.Unmarshal(answer[HeaderRoom:], &told) == nil && told.Code == codes.RateLimit
}
