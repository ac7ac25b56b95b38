package sequencer

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Apply takes the next notice of the journal, if there is one: a committed frame goes
// through the engine and the observers, then its tickets are resolved. It reports whether
// there was one. An error is final.
func (s *Sequencer) Apply() (bool, error) {
	n, ok := s.log.Next()
	if !ok {
		return false, nil
	}

	var err error
	switch n.Kind {
	case journal.Committed:
		err = s.applyNotice(n)
	case journal.Lost:
		s.give(n.Proposal, errUnknown)
	case journal.Refused:
		s.full.Store(true)
		s.give(n.Proposal, ErrNoRoom)
		if s.holding.Load() {
			s.refuseHeld()
		}
	case journal.Dropped:
		s.give(n.Proposal, ErrElsewhere)
	case journal.Role:
		s.turn(n.Leads)
	case journal.Installed:
		err = s.install(n.Snapshot)
	default:
		bourse.Impossible("journal notice of kind %d", n.Kind)
	}
	s.poke() // the journal has room again
	return true, err
}

func (s *Sequencer) applyNotice(n *journal.Notice) error {
	var p *proposal
	if n.Proposal != 0 {
		p = s.land(n.Proposal)
	}

	s.full.Store(false)
	if p != nil && p.count != n.Batch.Count {
		bourse.Impossible("proposal %d of %d commands was committed with %d", p.id, p.count, n.Batch.Count)
	}

	if err := s.applyBatch(&n.Batch, p); err != nil {
		return err
	}
	if p != nil {
		s.begun = s.begun || p.opening == s.opening
	}
	if s.holding.Load() && s.begun && !s.engine.Firing() {
		s.stopHolding()
	}
	if p != nil {
		for _, t := range p.tickets {
			if t != nil {
				t.resolve()
			}
		}
		s.recycle(p)
	}
	return nil
}

// stopHolding lets the writer take all lanes.
func (s *Sequencer) stopHolding() {
	s.holding.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awake = true // lanes may have commands
}

// applyBatch takes a frame through the engine and the observers.
func (s *Sequencer) applyBatch(b *journal.Batch, p *proposal) error {
	for _, o := range s.observers {
		o.Begin()
	}
	if err := s.applyCommands(b, p); err != nil {
		return err
	}
	for _, o := range s.observers {
		o.End()
	}
	s.applied.Store(uint64(b.Last())) // every observer has the frame
	if s.engine.Unfinished() {
		s.unfinished.Store(true)
	}
	return nil
}

// applyCommands applies a batch's commands and sets the results of its tickets, without
// resolving them.
func (s *Sequencer) applyCommands(b *journal.Batch, p *proposal) error {
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	return frame.Each(&s.cmd, s.engine.Expect, func() error {
		var ticket *Ticket
		if p != nil {
			ticket = p.tickets[s.cmd.Seq-b.First]
		}

		result := Result{Err: errUnknown}
		// Commands covered by a snapshot are not applied again: their effects are in it,
		// their outcomes are not.
		if s.cmd.Seq > s.engine.Seq() {
			s.ev.Reset()
			if s.voided(s.cmd.Seq) {
				s.engine.Skip(&s.cmd, &s.ev)
			} else {
				s.engine.Apply(&s.cmd, &s.ev)
				s.weighWalk(p)
			}
			for _, o := range s.observers {
				o.Observe(&s.cmd, &s.ev)
			}
			result = Result{Seq: s.cmd.Seq, Time: b.Time, Outcome: s.ev.Outcome}
			if s.cmd.Kind == bourse.CommandCancelAll && ticket != nil {
				result.Canceled = s.canceled()
			}
		}

		if ticket != nil {
			ticket.Result = result
			free := record.Free(s.cmd.Kind) && !s.engine.HasOrders(s.cmd.Account)
			s.barren.note(&s.cmd, &result.Outcome, free)
		}
		return nil
	})
}

// maxCanceled bounds the orders that the result of a cancel-all lists, because listing the
// orders left to a Continue takes time outside of its steps. It is the most that an account
// has in a market.
const maxCanceled = engine.MaxOpenOrders

// canceled returns the orders of the cancel-all that was applied, the first maxCanceled.
func (s *Sequencer) canceled() []bourse.OrderID {
	list := make([]bourse.OrderID, 0, len(s.ev.Orders))
	for i := range s.ev.Orders {
		list = append(list, s.ev.Orders[i].ID)
	}
	return append(list, s.engine.Canceling(s.cmd.Account, s.cmd.MarketID, maxCanceled-len(list))...)
}

// weighWalk reports a long walk of a command of this process's proposal.
func (s *Sequencer) weighWalk(p *proposal) {
	if more := s.engine.Walked() / stepsOfARequest; more > 0 && p != nil && s.weigh != nil {
		s.weigh(s.cmd.Account, more)
	}
}

// give resolves the tickets of an uncommitted proposal with an error.
func (s *Sequencer) give(id uint64, why error) {
	p := s.land(id)
	if p == nil {
		return
	}
	for _, t := range p.tickets {
		if t != nil {
			t.Result = Result{Err: why}
			t.resolve()
		}
	}
	if p.opening != nil && p.opening == s.opening {
		s.due.Store(p.opening)
	}
	s.recycle(p)
	if s.engine.Unfinished() {
		s.unfinished.Store(true) // the proposal may have held its Continue
	}
}

// install replaces the engine by that of an installed snapshot.
func (s *Sequencer) install(at bourse.Seq) error {
	section, err := s.load(at)
	if err != nil {
		return fmt.Errorf("installed snapshot at %d: %w", at, err)
	}
	e, err := Restore(section, s.observers)
	if err != nil {
		return fmt.Errorf("installed snapshot at %d: %w", at, err)
	}
	if e.Seq() != at {
		return fmt.Errorf("installed snapshot at %d: it holds the state at %d", at, e.Seq())
	}
	s.engine = e
	s.applied.Store(uint64(e.Seq()))

	s.begin()
	if !s.holding.Load() {
		s.stopHolding() // an earlier opening may have held commands
	}
	return nil
}

// Restore rebuilds the engine of a snapshot, and sends the rebuilt state to the
// observers.
func Restore(section Section, observers []Observer) (*engine.Engine, error) {
	for _, o := range observers {
		o.Begin()
		if err := o.Reset(section); err != nil {
			return nil, err
		}
	}

	var cmd bourse.Command
	state, _ := section(EngineSection)
	e, err := engine.Restore(state, func(ev *bourse.Events) {
		for _, o := range observers {
			o.Observe(&cmd, ev)
		}
	})
	if err != nil {
		return nil, err
	}

	cmd.Seq, cmd.Time = e.Seq(), e.Now()
	var done bourse.Events
	for _, o := range observers {
		o.Observe(&cmd, &done)
		o.End()
	}
	return e, nil
}
