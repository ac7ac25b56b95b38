package sequencer

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Result is the result of a command.
type Result struct {
	// Seq and Time are the command's position in the journal.
	Seq     bourse.Seq
	Time    bourse.Time
	Outcome bourse.Outcome
	// Canceled lists the orders that a cancel-all canceled or has left to a Continue, at most
	// maxCanceled.
	Canceled []bourse.OrderID
	// Err is set if there is no outcome: ErrNoRoom if the command has no effect,
	// CodeUnknown if it was accepted and may or may not be committed.
	Err error
}

// Ticket waits for the result of one command. It may be reused once its result has been
// received.
type Ticket struct {
	Result
	done chan struct{}
}

// NewTicket returns a ticket without a result.
func NewTicket() *Ticket { return &Ticket{done: make(chan struct{}, 1)} }

// Done returns a channel that receives once when Result is set.
func (t *Ticket) Done() <-chan struct{} { return t.done }

func (t *Ticket) resolve() { t.done <- struct{}{} }

// Do submits a command and waits for its result. If ctx ends first, the outcome is
// unknown; the command may still be committed.
func (s *Sequencer) Do(ctx context.Context, c *bourse.Command) (Result, error) {
	t := s.tickets.Get().(*Ticket)
	t.Result = Result{}
	if err := s.Submit(c, t); err != nil {
		s.tickets.Put(t)
		return Result{}, err
	}

	select {
	case <-t.done:
		r := t.Result
		s.tickets.Put(t)
		return r, r.Err
	case <-ctx.Done():
		// The ticket may still be resolved: it must not return to the pool.
		return Result{}, errUnknown
	}
}

// DoAll submits commands in order, mostly into one frame, and waits for all results. If
// ctx ends first, the missing results have CodeUnknown.
func (s *Sequencer) DoAll(ctx context.Context, commands []bourse.Command) []Result {
	results := make([]Result, len(commands))
	tickets := make([]*Ticket, len(commands))
	for i := range commands {
		tickets[i] = NewTicket()
		results[i].Err = s.Submit(&commands[i], tickets[i])
	}

	for i, t := range tickets {
		if results[i].Err != nil {
			continue
		}
		select {
		case <-t.done:
			results[i] = t.Result
		case <-ctx.Done():
			results[i].Err = errUnknown
		}
	}
	return results
}

// Refusal returns the error of a command without effect: Err, or the reason of its
// refusal. Nil if the command took effect.
func (r *Result) Refusal() error {
	if r.Err == nil && r.Outcome.Reason != 0 {
		return fmt.Errorf("refused: %s", r.Outcome.Reason)
	}
	return r.Err
}

// errUnknown is the error of an accepted command without an outcome.
var errUnknown = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
