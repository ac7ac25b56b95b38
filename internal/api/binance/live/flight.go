package live

import (
	"context"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Bounds of the requests of a connection that have no answer yet. Beyond them the connection
// is not read.
const (
	maxFlying      = 512
	maxFlyingBytes = 256 << 10
)

// flight is a request without an answer.
type flight struct {
	entry *entry
	began time.Time
	size  int
	// id is the client's, a JSON value; method is the method's name in metrics.
	id, method string
	// tell is set if the answer has the limits.
	tell bool

	request  *binance.Request
	endpoint *binance.Endpoint
	out      *wire.Writer
	err      error
	// later carries out a request when the earlier ones have their answers; nil for others.
	later func() error
	// land queues the answer, in place of the connection.
	land func(answer []byte)

	// worker carries out a request whose command is submitted; nil for any other.
	worker *worker
	ticket *sequencer.Ticket
	// late is set if the outcome did not come in time.
	late bool
}

// flying is the key of a flight in the context of its request.
type flying struct{}

// Sequencer is a sequencer that lets the requests of a pipelining connection wait for their
// outcomes together: Do submits the command, and pauses the request's worker. For any other
// request it waits.
type Sequencer struct {
	*sequencer.Sequencer
	tickets sync.Pool
}

// NewSequencer returns a sequencer for binance.Options.
func NewSequencer(s *sequencer.Sequencer) *Sequencer {
	return &Sequencer{s, sync.Pool{New: func() any { return sequencer.NewTicket() }}}
}

// errOutcome is the error of a command whose outcome did not come in time.
var errOutcome = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")

// Do submits a command and waits for its outcome.
func (s *Sequencer) Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error) {
	f, _ := ctx.Value(flying{}).(*flight)
	if f == nil || f.worker == nil {
		return s.Sequencer.Do(ctx, c)
	}

	f.ticket = s.tickets.Get().(*sequencer.Ticket)
	f.ticket.Result = sequencer.Result{}
	if err := s.Submit(c, f.ticket); err != nil {
		s.tickets.Put(f.ticket)
		f.ticket = nil
		return sequencer.Result{}, err
	}

	f.worker.pause()
	if f.late {
		return sequencer.Result{}, errOutcome // the ticket may still be resolved
	}
	r := f.ticket.Result
	s.tickets.Put(f.ticket)
	f.ticket = nil
	return r, r.Err
}

// queue has the requests of a connection that have no answer yet, in order. The reader adds,
// the answerer takes.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	list    []*flight
	// number and bytes count the requests without an answer, the one being answered included.
	number, bytes int
	closed        bool
}

func newQueue() *queue {
	q := new(queue)
	q.changed.L = &q.mu
	return q
}

// reserve waits until there is room for a request of a size.
func (q *queue) reserve(size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.number > 0 && (q.number >= maxFlying || q.bytes+size > maxFlyingBytes) {
		q.changed.Wait()
	}
	q.number++
	q.bytes += size
}

// add adds a request that reserve made room for.
func (q *queue) add(f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, f)
	q.changed.Broadcast()
}

// take returns the next request, and waits for one; nil once the queue is closed and empty.
func (q *queue) take() *flight {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.changed.Wait()
	}
	if len(q.list) == 0 {
		return nil
	}
	f := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	return f
}

// landed notes that a request has its answer.
func (q *queue) landed(f *flight) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.number--
	q.bytes -= f.size
	q.changed.Broadcast()
}

// settle waits until all requests but the reserved one have their answers.
func (q *queue) settle() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.number > 1 {
		q.changed.Wait()
	}
}

// settled reports whether all requests but the reserved one have their answers.
func (q *queue) settled() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.number == 1
}

// end closes the queue.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
