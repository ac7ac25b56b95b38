package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// flowFor is the time for a client to take a part of an answer that flows.
const flowFor = 30 * time.Second

// Flow is an answer that is sent while it is made: an error after the first part can only break
// the connection. Its parts count as reads of the payer.
type Flow struct {
	server  *Server
	writer  http.ResponseWriter
	control *http.ResponseController
	limits  *Limiter
	payer   Payer
	// Context ends when the client leaves.
	Context context.Context
}

// Flow replaces the body of the answer by what write writes, with a Content-Type. write is
// called when the request was taken; it must call Turn before each part. If an error takes the
// place of the answer, unused is called instead of write.
func (c *Call) Flow(kind string, write func(*Flow) error, unused func()) {
	c.kind, c.flow, c.unused = []string{kind}, write, unused
}

// Turn counts the next part as a read, once the payer has half of its requests left: a long
// answer leaves the payer the other half. It returns an error if the client leaves.
func (f *Flow) Turn() error {
	for {
		standing := f.limits.reads(f.payer)
		if 2*standing.Left >= standing.Limit {
			f.limits.Charge(Reads, f.payer, 1)
			return f.Context.Err()
		}

		wait := max(standing.Full/2, time.Millisecond)
		select {
		case <-f.server.After(wait):
		case <-f.Context.Done():
			return f.Context.Err()
		}
	}
}

// Write sends a part of the answer, and counts it by its size. The client has flowFor to take it.
func (f *Flow) Write(b []byte) (int, error) {
	// A writer without deadlines, as of a test, has none.
	if err := f.control.SetWriteDeadline(f.server.Clock().Add(flowFor)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	f.limits.ChargeAnswer(Reads, f.payer, len(b))
	n, err := f.writer.Write(b)
	if err == nil {
		if err = f.control.Flush(); errors.Is(err, http.ErrNotSupported) {
			err = nil
		}
	}
	return n, err
}

// reads returns the state of the limit of a payer's reads.
func (l *Limiter) reads(who Payer) Standing {
	if l == nil || who.Account == 0 {
		return Standing{}
	}
	return l.accounts[Reads].look(who.Account, l.now())
}

// run sends the answer of a call that flows. An error breaks the connection, so that the client
// does not take a part for the whole.
func (p *path) run(c *Call, w http.ResponseWriter) {
	c.standing.tell(w)
	c.Header["Content-Type"] = c.kind
	f := &Flow{
		server: p.Server, writer: w, control: http.NewResponseController(w), limits: p.Limits, payer: c.Payer(),
		Context: c.HTTP.Context(),
	}
	if err := c.flow(f); err != nil {
		if f.Context.Err() == nil {
			p.Log.Error("an answer broke off", slog.String("endpoint", p.label), slog.Any("error", err))
		}
		panic(http.ErrAbortHandler)
	}
}
