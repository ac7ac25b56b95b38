package stream

import (
	"errors"
	"log/slog"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// fields are what a request may hold.
var fields = api.Fields{"op", "id", "api_key", "streams"}

// operation carries out a request. It returns the answer's error, or, if it has
// queued the answer itself, errAnswered.
type operation func(c *conn, r *api.Request, id string) error

// errAnswered says that the answer is queued already.
var errAnswered = errors.New("answered")

func operations(op string) operation {
	switch op {
	case "ping":
		return ping
	case "auth":
		return auth
	case "sub":
		return sub
	case "unsub":
		return unsub
	}
	return func(*conn, *api.Request, string) error {
		return bourse.Errorf(bourse.CodeInvalid, "Unknown operation")
	}
}

// handle carries out a message and queues its answer. An error ends the
// connection: the message was no request.
func (c *conn) handle(message []byte) error {
	r := c.server.requests.Get().(*api.Request)
	defer c.server.requests.Put(r)
	malformed := r.Parse(message, fields)
	if errors.Is(malformed, api.ErrNotObject) || !r.Has("op") || !r.Has("id") {
		return &closeError{ws.StatusPolicyViolation, "not a JSON object with op and id"}
	}
	op, err := r.Text("op")
	id, idErr := r.Integer("id")
	switch {
	case err != nil || idErr != nil:
		return &closeError{ws.StatusPolicyViolation, "op must be a string and id an integer"}
	case !c.admit():
		c.answer(id, api.ErrTooMany)
	case malformed != nil:
		c.answer(id, malformed)
	default:
		c.answer(id, operations(op)(c, r, id))
	}
	return nil
}

// answer queues the answer to a request, unless that is done.
func (c *conn) answer(id string, err error) {
	if errors.Is(err, errAnswered) {
		return
	}
	if known := (*bourse.Error)(nil); err != nil && !errors.As(err, &known) {
		c.server.Log.Error("stream request failed", slog.Any("error", err))
	}
	c.subscriber.Push(answer(id, err))
}

// answer returns the framed answer to a request.
func answer(id string, err error) []byte {
	w := wire.NewWriter(make([]byte, headerRoom, 128))
	w.Object()
	w.Word("class", "resp")
	w.Number("id", id)
	w.Bool("success", err == nil)
	if err != nil {
		w.Text("error", api.Public(err))
	}
	w.EndObject()
	return frame(w.Bytes())
}

// headerRoom is left in front of a message for its frame header.
const headerRoom = 10

// frame completes a message, which has headerRoom bytes in front, to a text
// frame, and returns the part of it that is used.
func frame(b []byte) []byte {
	n := len(b) - headerRoom
	var start int
	switch {
	case n < 126:
		start = headerRoom - 2
		b[start+1] = byte(n)
	case n < 1<<16:
		start = headerRoom - 4
		b[start+1], b[start+2], b[start+3] = 126, byte(n>>8), byte(n)
	default:
		start = 0
		b[1] = 127
		for i := range 8 {
			b[2+i] = byte(n >> (56 - 8*i))
		}
	}
	b[start] = 0x80 | byte(ws.OpText)
	return b[start:]
}
