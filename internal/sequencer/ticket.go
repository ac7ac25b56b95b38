package sequencer

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// Result is what became of a command.
type Result struct {
	// Seq and Time are its place in the journal.
	Seq     bourse.Seq
	Time    bourse.Time
	Outcome bourse.Outcome
	// Err is set when there is no outcome: it is ErrNoRoom, and the command has no
	// effect, or the command was taken and it is not known whether it will ever be
	// committed (CodeUnknown).
	Err error
}

// Ticket waits for the result of one command. It may be used again once its
// result has been received.
type Ticket struct {
	Result
	done chan struct{}
}

// NewTicket returns a ticket.
func NewTicket() *Ticket { return &Ticket{done: make(chan struct{}, 1)} }

// Done returns a channel that receives once when Result is there.
func (t *Ticket) Done() <-chan struct{} { return t.done }

func (t *Ticket) resolve() { t.done <- struct{}{} }

// Do submits a command and waits for its result. When ctx ends first, the
// error says that the outcome is unknown; the command may still be committed.
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
		// The ticket is still out: it is left to the collector.
		return Result{}, errUnknown
	}
}

// errUnknown is the answer for a command that was taken and has no outcome.
var errUnknown = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
