package sequencer

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

const (
	// tickEvery is how often engine time moves when nothing else moves it.
	tickEvery = bourse.Second
	// markAfter is how long nothing arrives before the durable watermark is
	// written.
	markAfter = 5 * bourse.Second / 1000
)

// Write does the writer's next piece of work: it gathers what has arrived,
// proposes it and steps the journal. It returns how long it may sleep unless
// Wake says otherwise; zero means that there is more to do at once. An error is
// final: the process must stop without answering anybody.
func (s *Sequencer) Write(now bourse.Time) (sleep bourse.Time, err error) {
	if s.next.count == 0 {
		s.fill(now)
	}
	busy := false
	if s.next.count > 0 {
		err := s.propose(now)
		if busy = errors.Is(err, journal.ErrBusy); err != nil && !busy {
			return 0, err
		}
	}
	more, err := s.log.Step()
	switch {
	case err != nil:
		return 0, err
	case busy && !more:
		return tickEvery, nil // Apply wakes us when it has taken a frame
	case more || s.pending():
		return 0, nil
	}
	return s.rest(now)
}

// fill gathers the next proposal: work that a command left unfinished first,
// then what was submitted, or, when nothing else moves engine time, a tick.
func (s *Sequencer) fill(now bourse.Time) {
	tick := now >= s.written+tickEvery
	if (tick || !s.full.Load()) && s.unfinished.Swap(false) {
		s.next.add(bourse.CommandContinue)
	}
	s.gather(&s.next, now)
	if s.next.count == 0 && tick {
		s.next.add(bourse.CommandTick)
	}
}

// add appends a command that nobody submitted.
func (p *proposal) add(kind bourse.CommandKind) {
	p.bytes = record.Append(p.bytes, &bourse.Command{Kind: kind})
	p.tickets = append(p.tickets, nil)
	p.count++
}

// propose hands the gathered proposal to the journal. Its tickets fly until
// Apply sees it.
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

// take makes the gathered proposal fly: it must be found by Apply, which may
// see it committed before Propose has returned.
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

// putBack undoes take, for a journal that is busy.
func (s *Sequencer) putBack(p *proposal) {
	s.flyingMu.Lock()
	defer s.flyingMu.Unlock()
	s.flying = s.flying[:len(s.flying)-1]
	s.next, *p = *p, proposal{bytes: s.next.bytes, tickets: s.next.tickets}
	s.spare = append(s.spare, p)
}

// land returns the proposal of this id if it is still flying.
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

// recycle keeps a proposal's memory.
func (s *Sequencer) recycle(p *proposal) {
	s.outstanding.Add(-int64(p.submitted))
	clear(p.tickets)
	p.bytes, p.tickets, p.count, p.submitted = p.bytes[:0], p.tickets[:0], 0, 0
	s.flyingMu.Lock()
	s.spare = append(s.spare, p)
	s.flyingMu.Unlock()
}

// pending reports whether there is something to gather.
func (s *Sequencer) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awake || s.unfinished.Load() && !s.full.Load()
}

// rest returns how long the writer may sleep. After a while without arrivals it
// has the journal write its watermark.
func (s *Sequencer) rest(now bourse.Time) (bourse.Time, error) {
	tick := max(s.written+tickEvery-now, 1)
	if s.waiting != 0 {
		tick = min(tick, max(s.waiting+patience-now, 1))
	}
	switch mark := s.written + markAfter - now; {
	case s.marked:
		return tick, nil
	case mark > 0:
		return min(mark, tick), nil
	}
	s.marked = true
	return tick, s.log.Mark()
}

// Idle reports whether everything that was taken has its outcome.
func (s *Sequencer) Idle() bool { return s.outstanding.Load() == 0 }
