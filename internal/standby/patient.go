package standby

import (
	"bufio"
	"context"
	"net/http"
	"time"
)

// patient writes an answer in pieces, each of which the follower must take within writeWithin.
type patient struct {
	*bufio.Writer
	control *http.ResponseController
	to      http.ResponseWriter
	clock   func() time.Time
	ctx     context.Context
}

func newPatient(ctx context.Context, w http.ResponseWriter, clock func() time.Time) *patient {
	p := &patient{control: http.NewResponseController(w), to: w, clock: clock, ctx: ctx}
	p.Writer = bufio.NewWriterSize(unbuffered{p}, piece)
	return p
}

// unbuffered takes a patient's pieces.
type unbuffered struct{ p *patient }

// Write sends a piece.
func (u unbuffered) Write(b []byte) (int, error) {
	if err := u.p.ctx.Err(); err != nil {
		return 0, err
	}
	if err := u.p.control.SetWriteDeadline(u.p.clock().Add(writeWithin)); err != nil {
		return 0, err
	}
	n, err := u.p.to.Write(b)
	if err == nil {
		err = u.p.control.Flush()
	}
	return n, err
}

// cut ends a write that the follower does not take. Safe for concurrent use with writes.
func (p *patient) cut() { _ = p.control.SetWriteDeadline(time.Unix(1, 0)) }
