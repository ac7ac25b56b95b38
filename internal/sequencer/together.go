package sequencer

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// MaxTogether bounds the commands of a batch, so that it fits a frame also where commands
// that cost their account nothing share one.
const MaxTogether = 50

// DoTogether submits commands of one account as a batch: they are in one frame, in their
// order, with no other command between, and each has its own result. A batch that holds
// only urgent commands overtakes orders. The errors are those of Submit, and no command is
// queued then; if ctx ends first, the outcomes are unknown. There are 1 to MaxTogether
// commands.
func (s *Sequencer) DoTogether(ctx context.Context, commands []bourse.Command) ([]Result, error) {
	tickets := make([]*Ticket, len(commands))
	for i := range tickets {
		tickets[i] = NewTicket()
	}
	if err := s.SubmitTogether(commands, tickets); err != nil {
		return nil, err
	}

	results := make([]Result, len(commands))
	for i, t := range tickets {
		select {
		case <-t.done:
			results[i] = t.Result
		case <-ctx.Done():
			return nil, errUnknown
		}
	}
	return results, nil
}

// SubmitTogether queues a batch for DoTogether, with a ticket for each command.
func (s *Sequencer) SubmitTogether(commands []bourse.Command, tickets []*Ticket) error {
	own := Cancels
	for i := range commands {
		if err := record.Check(&commands[i]); err != nil {
			return err
		}
		own = min(own, laneOf(commands[i].Kind))
	}
	at := own
	if own == Orders && s.barren.waits(commands[0].Account) {
		at = Patient
	}

	s.mu.Lock()
	if refusal := s.lanes[own].refusal; refusal != nil {
		s.mu.Unlock()
		return refusal
	}
	l := &s.lanes[at]
	if len(l.buf) >= laneSize {
		s.mu.Unlock()
		return bourse.ErrBusy
	}

	for i := range commands {
		l.buf = record.Append(l.buf, &commands[i])
		l.entries = append(l.entries, entry{tickets[i], len(l.buf), i+1 < len(commands)})
	}
	s.outstanding.Add(int64(len(commands)))
	s.rouse()
	return nil
}
