package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

const (
	// boundPath is the path on which a node asks the leader for a bound. A request of a client for it is none of a node's:
	// it has headerPeer.
	boundPath = "/bound"
	// boundWithin is the time for the leader's answer.
	boundWithin = time.Second
	// boundEvery is the least time from a question that several callers shared to the next one: a question costs the leader as
	// much as some reads. One caller alone waits for nothing.
	boundEvery = 2 * time.Millisecond
)

// Bound is how far a node must be to answer a read by itself: the leader showed all commands up to Seq to its clients, and
// led at a moment after AsOf.
type Bound struct {
	Seq  bourse.Seq
	AsOf time.Time
}

// bounds are a node's questions to the leader for a bound. One is under way at most; callers that come meanwhile share the next
// one: the answer to this one may be older than an answer that they have seen.
type bounds struct {
	mu sync.Mutex
	// next collects callers until asking has ended; nil without one.
	next *question
	// asking is true while a goroutine asks.
	asking bool
}

// question is a question to the leader.
type question struct {
	// callers is the number of callers who share it. Guarded by mu of bounds until the question is asked.
	callers int
	// done is closed when the question has its answer, after bound or err was set.
	done  chan struct{}
	bound Bound
	err   error
}

// Bound asks the leader for a bound, after the call. Safe for concurrent use.
func (f *Forwarder) Bound(ctx context.Context) (Bound, error) {
	q := f.bounds.join(f.askBound, f.pause)
	select {
	case <-q.done:
		return q.bound, q.err
	case <-ctx.Done():
		return Bound{}, ctx.Err()
	}
}

// join returns the next question, which ask answers. pause is called with an answer that several callers shared.
func (b *bounds) join(ask func() (Bound, error), pause func(Bound)) *question {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = &question{done: make(chan struct{})}
	}
	if !b.asking {
		b.asking = true
		go b.run(ask, pause)
	}
	b.next.callers++
	return b.next
}

// run asks until no caller waits.
func (b *bounds) run(ask func() (Bound, error), pause func(Bound)) {
	for q := b.take(); q != nil; q = b.take() {
		q.bound, q.err = ask()
		close(q.done)
		if q.callers > 1 {
			pause(q.bound)
		}
	}
}

// take returns the next question, which has all its callers then; nil if there is none, and run ends.
func (b *bounds) take() *question {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.next
	b.next, b.asking = nil, q != nil
	return q
}

// pause waits until boundEvery has passed since a question.
func (f *Forwarder) pause(b Bound) {
	rest, cancel := context.WithTimeout(f.ended, boundEvery-f.Clock().Sub(b.AsOf))
	defer cancel()
	<-rest.Done()
}

// askBound asks the leader for a bound.
func (f *Forwarder) askBound() (b Bound, err error) {
	b.AsOf = f.Clock()
	leader := f.Leader()
	if leader == nil {
		return b, errNoLeader
	}
	ctx, cancel := context.WithTimeout(f.ended, boundWithin)
	defer cancel()
	conn, err := f.pool.conn(ctx, leader, false)
	if err != nil {
		return b, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://node"+boundPath, nil)
	if err != nil {
		return b, err
	}

	answer, err := conn.RoundTrip(r)
	if err != nil {
		return b, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return b, err
	}
	if answer.StatusCode != http.StatusOK {
		return b, fmt.Errorf("the leader names no bound: %s", answer.Status)
	}
	seq, err := strconv.ParseUint(string(text), 10, 64)
	b.Seq = bourse.Seq(seq)
	return b, err
}

// tell answers another node's question for a bound.
func (g *Gate) tell(w http.ResponseWriter, r *http.Request, shown func(context.Context) (bourse.Seq, error)) {
	seq, err := shown(r.Context())
	if err != nil {
		g.Refuse(w, r, ErrNotLeader)
		return
	}
	_, _ = io.WriteString(w, strconv.FormatUint(uint64(seq), 10)) // the node may be gone
}
