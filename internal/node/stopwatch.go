package node

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// stopwatch is a log that tells how long each frame took from being durable to
// being applied, with everything in between that trading must not wait for.
type stopwatch struct {
	journal.Log
	// applied is told by the goroutine that applies.
	applied func(time.Duration)

	mu sync.Mutex
	// durable are the frames that were made so and not taken yet, oldest first;
	// taken is the last command that was.
	durable []moment
	taken   bourse.Seq
	// applying is since when the frame at hand is durable; zero for none.
	applying time.Time
}

// moment is when the frames up to a command were known to be durable.
type moment struct {
	last bourse.Seq
	at   time.Time
}

// Step does the work at hand.
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

// Next returns the next notice. Whoever asks has applied the one before.
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

// take returns since when a frame is durable: from now on, if Step has not come
// to saying so.
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
