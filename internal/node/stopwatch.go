package node

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// stopwatch is a log that measures how long each frame takes from being durable to being
// applied.
type stopwatch struct {
	journal.Log
	// applied receives each duration, on the applying goroutine.
	applied func(time.Duration)

	mu sync.Mutex
	// durable are the frames that became durable and are not taken yet, oldest first;
	// taken is the last command taken.
	durable []moment
	taken   bourse.Seq
	// applying is when the current frame became durable; zero for none.
	applying time.Time
}

// moment is the time at which the frames up to a command were known to be durable.
type moment struct {
	last bourse.Seq
	at   time.Time
}

// Step steps the log, and notes the frames that became durable.
func (s *stopwatch) Step() (bool, error) {
	before := s.Durable()
	more, err := s.Log.Step()
	if last := s.Durable(); last > before {
		s.mu.Lock()
		defer s.mu.Unlock()
		if last > s.taken {
			s.durable = append(s.durable, moment{last, time.Now()})
		}
	}
	return more, err
}

// Next returns the next notice. The caller has applied the previous one.
func (s *stopwatch) Next() (*journal.Notice, bool) {
	if !s.applying.IsZero() {
		s.applied(time.Since(s.applying))
		s.applying = time.Time{}
	}
	n, ok := s.Log.Next()
	if ok && n.Kind == journal.Committed {
		s.applying = s.take(n.Batch.Last())
	}
	return n, ok
}

// take returns the time at which a frame became durable, or now if Step has not noted it
// yet.
func (s *stopwatch) take(last bourse.Seq) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = last
	at := time.Now()
	for len(s.durable) > 0 && s.durable[0].last <= last {
		at = s.durable[0].at
		s.durable = append(s.durable[:0], s.durable[1:]...)
	}
	return at
}
