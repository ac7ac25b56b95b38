package sequencer

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

const (
	// tickEvery is the interval of ticks, which move engine time while no command does.
	tickEvery = bourse.Second
	// markAfter is the idle time after which the durable watermark is written.
	markAfter = 5 * bourse.Second / 1000
)

// Write does the writer's next piece of work: it gathers queued commands, proposes them
// and steps the journal. It returns how long it may sleep unless Wake receives; zero
// means to call it again at once. An error is final: the process must stop without
// answering clients.
func (s *Sequencer) Write(now bourse.Time) (sleep bourse.Time, err error) {
	if s.follows.Load() {
		return s.stand(now)
	}
	if s.next.count == 0 {
		s.fill(now)
	}

	busy := false
	if s.next.count > 0 {
		err := s.propose(now)
		busy = errors.Is(err, journal.ErrBusy)
		switch {
		case errors.Is(err, journal.ErrNotLeader):
			s.written = max(s.written, now)
			s.refuseNext()
		case err != nil && !busy:
			return 0, err
		}
	}

	more, err := s.log.Step()
	switch {
	case err != nil:
		return 0, err
	case busy && !more:
		return tickEvery, nil // Apply wakes the writer after taking a frame
	case more || s.pending():
		return 0, nil
	}
	return s.rest(now)
}

// fill gathers the next proposal: the sequencer's own commands first, then queued ones,
// or a tick if engine time would stand still. A Continue follows an unfinished command.
func (s *Sequencer) fill(now bourse.Time) {
	tick := now >= s.written+tickEvery
	if tick || !s.full.Load() {
		if o := s.due.Swap(nil); o != nil {
			s.next.opening = o
			s.next.add(o.command())
		}
		if s.unfinished.Swap(false) {
			s.next.add(&bourse.Command{Kind: bourse.CommandContinue})
		}
	}
	s.gather(&s.next, now)
	if s.next.count == 0 && tick {
		s.next.add(&bourse.Command{Kind: bourse.CommandTick})
	}
}

// command returns the command, which closes the connections of earlier processes.
func (o *opening) command() *bourse.Command {
	if o.orphans == 0 {
		return &bourse.Command{Kind: bourse.CommandTick}
	}
	return &bourse.Command{Kind: bourse.CommandConnectionClosed, Connection: o.orphans}
}

// add appends a command of the sequencer's own.
func (p *proposal) add(c *bourse.Command) {
	p.bytes = record.Append(p.bytes, c)
	p.tickets = append(p.tickets, nil)
	p.count++
}

// propose hands the gathered proposal to the journal. It is in flight until Apply sees
// it.
func (s *Sequencer) propose(now bourse.Time) error {
	p := s.take()
	err := s.log.Propose(journal.Proposal{ID: p.id, Count: p.count, Time: now, Commands: p.bytes})
	if err != nil {
		s.putBack(p)
		return err
	}
	s.written, s.marked = max(s.written, now), false
	return nil
}

// take puts the gathered proposal in flight before Propose, because Apply may see it
// committed before Propose returns.
func (s *Sequencer) take() *proposal {
	s.flyingMu.Lock()
	defer s.flyingMu.Unlock()
	p := new(proposal)
	if last := len(s.spare) - 1; last >= 0 {
		p, s.spare = s.spare[last], s.spare[:last]
	}
	*p, s.next = s.next, proposal{bytes: p.bytes[:0], tickets: p.tickets[:0]}
	s.lastID++
	p.id = s.lastID
	s.flying = append(s.flying, p)
	return p
}

// putBack undoes take when the journal is busy.
func (s *Sequencer) putBack(p *proposal) {
	s.flyingMu.Lock()
	defer s.flyingMu.Unlock()
	s.flying = s.flying[:len(s.flying)-1]
	s.next, *p = *p, proposal{bytes: s.next.bytes, tickets: s.next.tickets}
	s.spare = append(s.spare, p)
}

// land removes the proposal with this ID from flying, and returns it; nil if it is not
// there.
func (s *Sequencer) land(id uint64) *proposal {
	s.flyingMu.Lock()
	defer s.flyingMu.Unlock()
	for i, p := range s.flying {
		if p.id == id {
			s.flying = append(s.flying[:i], s.flying[i+1:]...)
			return p
		}
	}
	return nil
}

// recycle releases a proposal's memory for reuse.
func (s *Sequencer) recycle(p *proposal) {
	s.outstanding.Add(-int64(p.submitted))
	clear(p.tickets)
	p.bytes, p.tickets, p.count, p.submitted, p.opening = p.bytes[:0], p.tickets[:0], 0, 0, nil
	s.flyingMu.Lock()
	s.spare = append(s.spare, p)
	s.flyingMu.Unlock()
}

// pending reports whether there are commands to gather.
func (s *Sequencer) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awake || (s.unfinished.Load() || s.due.Load() != nil) && !s.full.Load()
}

// rest returns how long the writer may sleep. After markAfter without commands it marks
// the journal.
func (s *Sequencer) rest(now bourse.Time) (bourse.Time, error) {
	tick := max(s.written+tickEvery-now, 1)
	if s.waiting != 0 {
		tick = min(tick, max(s.waiting+patience-now, 1))
	}
	return s.idle(now, tick)
}

// idle returns how long an idle writer may sleep, at most that long. It marks the journal
// after markAfter.
func (s *Sequencer) idle(now, most bourse.Time) (bourse.Time, error) {
	switch mark := s.written + markAfter - now; {
	case s.marked:
		return most, nil
	case mark > 0:
		return min(mark, most), nil
	}
	s.marked = true
	return most, s.log.Mark()
}

// Drain writes and applies all submitted commands, at the time now, or later by the writer's
// sleep. Only for starts: Write and Apply must not be called meanwhile.
func (s *Sequencer) Drain(now bourse.Time) error {
	for !s.Idle() {
		sleep, err := s.Write(now)
		if err != nil {
			return err
		}

		applied := 0
		for more := true; more; applied++ {
			if more, err = s.Apply(); err != nil {
				return err
			}
		}
		if applied == 1 {
			now += sleep // the last Apply found nothing, and so did the first
		}
	}
	return nil
}

// Idle reports whether every submitted command has its outcome.
func (s *Sequencer) Idle() bool { return s.outstanding.Load() == 0 }
