package stream

import (
	"errors"
	"log/slog"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// fields are the names that a request may hold.
var fields = api.Fields{"op", "id", "api_key", "key", "timestamp", "window", "signature", "cancel_on_close",
	"streams", "since"}

// operation carries out a request. It returns the answer's error, or errAnswered if it
// has queued the answer itself.
type operation func(c *session, f *api.Form, id string) error

// errAnswered is returned by operations that have queued their answer.
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
	return func(*session, *api.Form, string) error {
		return bourse.Errorf(bourse.CodeInvalid, "op: must be one of ping, auth, sub and unsub")
	}
}

// Handle carries out a message and queues its answer. It returns an error if the message
// is no request, which closes the connection.
func (c *session) Handle(message []byte) error {
	if c.away != nil {
		if c.away.send(message) != nil {
			return errAway
		}
		return nil
	}
	f := c.server.forms.Get().(*api.Form)
	defer c.server.forms.Put(f)
	malformed := f.Parse(message, fields)
	if errors.Is(malformed, api.ErrNotObject) || !f.Has("op") {
		return &CloseError{ws.StatusPolicyViolation, "not a JSON object with op and id"}
	}
	op, id := f.Text("op"), f.Integer("id")
	if id == "" {
		id = "null"
	}

	switch {
	case f.Err() != nil:
		return &CloseError{ws.StatusPolicyViolation, "op must be a string and id an integer"}
	case !c.use.Request():
		c.answer(id, bourse.ErrBusy)
	case malformed != nil:
		c.answer(id, malformed)
	case !f.Has("id"):
		c.answer(id, api.Missing("id"))
	case op == "auth" && c.opened != nil:
		err := c.depart(f, message)
		if end := (*CloseError)(nil); errors.As(err, &end) {
			return end
		}
		c.answer(id, err)
	default:
		c.answer(id, operations(op)(c, f, id))
	}
	return nil
}

// answer queues the answer to a request, unless err is errAnswered.
func (c *session) answer(id string, err error) {
	if errors.Is(err, errAnswered) {
		return
	}
	if err != nil && api.Known(err) == nil {
		c.server.Log.Error("stream request failed", slog.Any("error", err))
	}
	c.subscriber.Push(answer(id, err))
}

// answer returns the framed answer to a request.
func answer(id string, err error) []byte {
	w := wire.NewWriter(make([]byte, HeaderRoom, 128))
	w.Object()
	w.Word("class", "resp")
	w.Number("id", id)
	w.Bool("success", err == nil)
	if err != nil {
		e := api.Known(err)
		if e == nil {
			e = api.Known(api.ErrInternal)
		}
		w.Text("error", e.Message)
		w.Word("code", string(e.Code))
	}
	w.EndObject()
	return Frame(w.Bytes())
}

// HeaderRoom is the space before a message for its frame header.
const HeaderRoom = 10

// Frame adds the text frame header to a message with HeaderRoom bytes before it, and
// returns the frame.
func Frame(b []byte) []byte {
	n := len(b) - HeaderRoom
	var start int
	switch {
	case n < 126:
		start = HeaderRoom - 2
		b[start+1] = byte(n)
	case n < 1<<16:
		start = HeaderRoom - 4
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

// Payload returns the message of a frame that Frame made.
func Payload(frame []byte) []byte {
	switch frame[1] {
	case 126:
		return frame[4:]
	case 127:
		return frame[HeaderRoom:]
	}
	return frame[2:]
}
