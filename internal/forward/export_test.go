package forward

import (
	"context"
	"net/http"
	"sync/atomic"
)

// RequestsPerSource bounds the requests of an address that are on their way.
const RequestsPerSource = requestsPerSource

// MostDials bounds the connections for streams that are made at once.
const MostDials = mostDials

// TakeStreams takes all places of a client's address for streams, until leave.
func (f *Forwarder) TakeStreams(r *http.Request) (leave func()) {
	from, n := f.From(r), 0
	for f.streams.take(from) {
		n++
	}
	return func() {
		for range n {
			f.streams.leave(from)
		}
	}
}

// Waiting returns a count of what waits for the end of the forwarder from now on.
func (f *Forwarder) Waiting() func() int64 {
	c := &counted{Context: f.ended}
	f.ended = c
	return c.waiting.Load
}

// counted is a context that counts the functions which wait for its end.
type counted struct {
	context.Context
	waiting atomic.Int64
}

// Value hides the inner context from package context, which would not call AfterFunc.
func (*counted) Value(any) any { return nil }

// AfterFunc has a function wait, as [context.AfterFunc] asks for.
func (c *counted) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	inner := context.AfterFunc(c.Context, f)
	return func() bool {
		stopped := inner()
		if stopped {
			c.waiting.Add(-1)
		}
		return stopped
	}
}
