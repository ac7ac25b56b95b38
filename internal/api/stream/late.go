package stream

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// The first and the longest pause before missed messages are read again. Each pause is twice
// as long as the one before.
const (
	firstPause = time.Second / 4
	lastPause  = 4 * time.Second
)

// late are the streams of a connection whose missed messages could not be read when they
// were due. Their messages wait in the feed, within bounds; the other streams of the
// connection go on.
type late struct {
	mu      sync.Mutex
	streams []lateStream
	// reading is true while a goroutine reads.
	reading bool
}

// lateStream is a stream whose client has the messages up to since. payer is charged for the
// bytes that are read, once even if they are read again; nil for a fault of the exchange.
type lateStream struct {
	hold  *feed.Hold
	since uint64
	payer *api.Payer
	// paid is the size in bytes that was charged.
	paid int
	// unadmitted is set until the reading is within the payer's limit of reads.
	unadmitted bool
}

// pay charges for the reading of so many bytes in all.
func (s *lateStream) pay(limits *api.Limiter, size int) {
	if s.payer != nil {
		limits.ChargeAnswer(api.Reads, *s.payer, size-s.paid)
	}
	s.paid = max(s.paid, size)
}

// Lost resumes a stream whose messages the feed has lost with the state: the database was slow
// or, if the stream is paced, the client, which pays for the state. It returns at once.
func (c *session) Lost(h *feed.Hold) {
	l := lateStream{hold: h}
	if h.Topic().Kind.Paced() {
		l.payer = &api.Payer{Account: bourse.AccountID(c.account.Load()), Source: c.from}
		l.unadmitted = true
	}
	c.resumeLater(l)
}

// add adds a stream. Of two with the same topic, the client has left the earlier one, so
// that there are no more than it has subscriptions. The caller holds mu.
func (l *late) add(s lateStream) {
	l.streams = append(slices.DeleteFunc(l.streams, s.same), s)
}

// same reports whether another stream has the same topic.
func (s lateStream) same(other lateStream) bool { return other.hold.Topic() == s.hold.Topic() }

// again adds a stream that could not be resumed, unless the client has left it and
// subscribed again.
func (l *late) again(s lateStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.streams, s.same) {
		l.streams = append(l.streams, s)
	}
}

// resumeLater resumes a stream on the connection's goroutine for late streams, and starts that
// if it does not run.
func (c *session) resumeLater(l lateStream) {
	c.late.mu.Lock()
	defer c.late.mu.Unlock()
	c.late.add(l)
	if !c.late.reading {
		c.late.reading = true
		c.server.open.Add(1) // the connection has not left the feed, so the server waits for it
		go c.resumeLate()
	}
}

// resumeLate resumes late streams until none is left or the connection ends. A stream that
// cannot be resumed yet lets the others go first.
func (c *session) resumeLate() {
	defer c.server.open.Done()
	pause := firstPause
	for {
		l, found := c.nextLate()
		switch {
		case !found:
			return
		case c.fill(c.gone, &l) == nil:
			pause = firstPause
			continue
		}

		c.late.again(l)
		select {
		case <-c.server.After(pause):
			pause = min(2*pause, lastPause)
		case <-c.gone.Done():
			return
		}
	}
}

// nextLate takes the next late stream; false if there is none.
func (c *session) nextLate() (l lateStream, found bool) {
	c.late.mu.Lock()
	defer c.late.mu.Unlock()
	if len(c.late.streams) == 0 {
		c.late.reading = false
		return l, false
	}
	l = c.late.streams[0]
	c.late.streams = c.late.streams[1:]
	return l, true
}

// errOverrun means that more messages came than are held, while the missed ones were read.
var errOverrun = errors.New("more messages came while the missed ones were read")

// fill sends the missed messages of a stream, once the client has taken the states before
// them.
func (c *session) fill(ctx context.Context, l *lateStream) error {
	await := c.subscriber.Await
	if l.hold.Topic().Kind.Paced() {
		await = c.subscriber.AwaitRoom
	}
	if !await(ctx) {
		return ctx.Err()
	}
	if !c.server.Feed.Held(c.subscriber, l.hold) {
		return nil // the client has left it
	}
	if l.unadmitted && !c.server.Limits.Admit(api.Reads, *l.payer) {
		return bourse.ErrBusy
	}
	l.unadmitted = false

	ctx, cancel := context.WithTimeout(ctx, resumeFor)
	defer cancel()
	l.pay(c.server.Limits, c.server.expectedSize(l.hold.Topic(), l.since))
	m, err := c.server.missed(ctx, l.hold.Topic(), l.since)
	if err != nil {
		if known := (*bourse.Error)(nil); !errors.As(err, &known) && c.gone.Err() == nil {
			c.server.Log.Error("resuming a stream failed, trying again", slog.Any("error", err))
		}
		return err
	}

	l.pay(c.server.Limits, m.size())
	if !c.server.Feed.Release(c.subscriber, l.hold, m.upTo, m.messages) {
		return errOverrun
	}
	return nil
}
