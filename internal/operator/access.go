package operator

import (
	"context"
	"fmt"
	"log/slog"
	"maps"

	"github.com/bourse-exchange/bourse"
)

// Observe notes the operators that a command disabled. End ends their access, because the view has them
// enabled until its own End. Observe, Begin, End and Reset belong to the goroutine that applies.
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

// End ends the sessions and keys of the operators whom the frame disabled. They stay ended if the operator
// is enabled again.
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
	select {
	case s.left <- struct{}{}:
	default: // Run was told before
	}
}

// Reset ends all sessions: an installed snapshot does not tell which operators were disabled meanwhile.
func (s *Service) Reset(func(name string) ([]byte, bool)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sessions {
		s.ended[one.operator]++
	}
	clear(s.sessions)
	return nil
}

// end ends the sessions and keys of an operator, also unfinished ones. dropKeys removes the keys' rows.
// The caller holds mu.
func (s *Service) end(id bourse.OperatorID) {
	s.ended[id]++
	s.leaving[id] = true
	maps.DeleteFunc(s.sessions, func(_ [32]byte, one *session) bool { return one.operator == id })
}

// endings returns the number of times that an operator's access was ended. A request that began
// before another ending makes no session or key after it.
func (s *Service) endings(id bourse.OperatorID) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}

// EndAccess ends the sessions and keys of an operator, once note has returned. Operators end their own; owners, and
// the machine's socket, with the id zero, any operator's.
func (s *Service) EndAccess(ctx context.Context, by, of bourse.OperatorID, note func() error) error {
	if _, found := s.ByID(of); !found {
		return bourse.Errorf(bourse.CodeNotFound, "unknown operator %d", of)
	}
	if err := s.mayEnd(by, of); err != nil {
		return err
	}
	if err := note(); err != nil {
		return err
	}

	s.mu.Lock()
	s.end(of)
	s.mu.Unlock()
	// The journal says that the access ended: keys that stayed would be good again after a start.
	return s.dropKeys(context.WithoutCancel(ctx))
}

// isLeaving reports whether the keys of an operator are still to be removed.
func (s *Service) isLeaving(id bourse.OperatorID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving[id]
}

// dropKeys removes the keys of operators whose access was ended. A key that is not removed
// yet is refused.
func (s *Service) dropKeys(ctx context.Context) error {
	s.dropping.Lock()
	defer s.dropping.Unlock()
	for id := range s.leavers() {
		endings := s.endings(id)
		if err := s.Store.DropOperatorKeys(ctx, id); err != nil {
			return fmt.Errorf("removing the keys of operator %d: %w", id, err)
		}
		s.mu.Lock()
		if s.ended[id] == endings {
			delete(s.leaving, id)
		}
		s.mu.Unlock()
	}
	return nil
}

// leavers returns a copy of leaving.
func (s *Service) leavers() map[bourse.OperatorID]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.leaving)
}

// Open ends the access of disabled operators: a process that disabled one may have ended before it removed
// the keys. Operators who were enabled again keep their keys: Confirm removed the older ones before an
// owner could enable them. Call it once the journal is replayed, before requests are served.
func (s *Service) Open(ctx context.Context) error {
	operators := s.View.Operators()
	s.mu.Lock()
	clear(s.leaving)
	for _, o := range operators {
		if !o.Enabled {
			s.end(o.ID)
		}
	}
	s.mu.Unlock()
	return s.dropKeys(ctx)
}

// Run removes the keys of operators as they are disabled, until ctx ends. A removal that failed is tried
// again by Confirm, and when the access of another operator ends.
func (s *Service) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.left:
		}
		if err := s.dropKeys(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("the keys of a disabled operator stay for now, without use", slog.Any("error", err))
		}
	}
}
