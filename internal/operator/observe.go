package operator

import (
	"maps"

	"github.com/bourse-exchange/bourse"
)

// Observe notes the operators that a command disabled. End ends their access: the view, which has the
// same frame, must not be asked before. Observe, Begin, End and Reset belong to the goroutine that
// applies.
func (s *Service) Observe(_ *bourse.Command, ev *bourse.Events) {
	for _, e := range ev.List {
		if e.Kind != bourse.EventOperator {
			continue
		}
		if o := ev.Facts[e.At].Staff; !o.Enabled {
			s.disabled = append(s.disabled, o.ID)
		}
	}
}

// Begin does nothing: a frame's disabled operators are noted as they come.
func (s *Service) Begin() {}

// End ends the sessions of the operators whom the frame disabled. They stay ended if the operator is
// enabled again.
func (s *Service) End() {
	if len(s.disabled) == 0 {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.disabled {
		s.end(id)
	}
	s.disabled = s.disabled[:0]
}

// Reset ends all sessions: an installed snapshot does not tell who was disabled meanwhile.
func (s *Service) Reset(func(name string) ([]byte, bool)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sessions {
		s.ended[one.operator]++
	}
	clear(s.sessions)
	return nil
}

// end ends the sessions of an operator, and those that are being begun. The caller holds mu.
func (s *Service) end(id bourse.OperatorID) {
	s.ended[id]++
	maps.DeleteFunc(s.sessions, func(_ [32]byte, one *session) bool { return one.operator == id })
}

// endings returns how often the access of an operator was ended. What was allowed before another
// ending begins nothing after it.
func (s *Service) endings(id bourse.OperatorID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}
