package sequencer

import "github.com/bourse-exchange/bourse"

// ErrElsewhere means that another node leads; the command was not taken and never will be.
var ErrElsewhere = bourse.Errorf(bourse.CodeUnavailable,
	"Another node leads the exchange now; the request was not taken, send it again")

// turn begins or ends this process's lead. A new leader takes over what earlier ones left undone, as a
// start does.
func (s *Sequencer) turn(leads bool) {
	if !leads {
		s.cede()
		return
	}

	s.begin()
	s.follows.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setRefusals()
}

// cede refuses queued commands, and commands that are submitted before this process leads again. Proposals
// in flight get notices of their own.
func (s *Sequencer) cede() {
	s.follows.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setRefusals()
	s.refuseQueued(ErrElsewhere, Orders, Cancels, Patient)
	s.awake = false
}

// stand is Write while another node leads. It marks the journal as a leader does, so that the next
// start knows the commit.
func (s *Sequencer) stand(now bourse.Time) (sleep bourse.Time, err error) {
	s.refuseNext()
	more, err := s.log.Step()
	if more || err != nil {
		return 0, err
	}
	if last := s.log.Durable(); last != s.stood {
		s.stood, s.written, s.marked = last, now, false
	}
	return s.idle(now, tickEvery)
}

// refuseNext refuses the gathered commands. Those of the sequencer itself come again with turn.
func (s *Sequencer) refuseNext() {
	if s.next.count == 0 {
		return
	}
	for _, t := range s.next.tickets {
		if t != nil {
			t.Result = Result{Err: ErrElsewhere}
			t.resolve()
		}
	}
	p := s.next
	s.next = proposal{}
	s.recycle(&p)
}
