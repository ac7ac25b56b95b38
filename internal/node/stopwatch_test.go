package node

import (
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// steps is a log that makes a frame durable with each step.
type steps struct {
	journal.Log
	durable, yielded bourse.Seq
	notice           journal.Notice
}

func (l *steps) Durable() bourse.Seq { return l.durable }

func (l *steps) Step() (bool, error) {
	l.durable += 2
	return false, nil
}

func (l *steps) Next() (*journal.Notice, bool) {
	if l.yielded == l.durable {
		return nil, false
	}
	l.notice = journal.Notice{Kind: journal.Committed, Batch: journal.Batch{First: l.yielded + 1, Count: 2}}
	l.yielded += 2
	return &l.notice, true
}

// TestStopwatch tells of each frame once, when the next one is asked for, and
// measures from the step that made it durable to then.
func TestStopwatch(t *testing.T) {
	var told []time.Duration
	s := &stopwatch{Log: &steps{}, applied: func(d time.Duration) { told = append(told, d) }}
	for frames := range 3 {
		// The moments before and after the step that made each frame durable.
		var before, after []time.Time
		for range frames {
			before = append(before, time.Now())
			if _, err := s.Step(); err != nil {
				t.Fatal(err)
			}
			after = append(after, time.Now())
		}

		for n := range frames + 1 {
			asked := time.Now()
			if _, ok := s.Next(); ok != (n < frames) || len(told) != n {
				t.Fatalf("frame %d of %d: %t, told of %v", n, frames, ok, told)
			}
			if n == 0 {
				continue
			}
			least, most := asked.Sub(after[n-1]), time.Since(before[n-1])
			if d := told[n-1]; d < least || d > most {
				t.Errorf("frame %d of %d took %v, not %v to %v", n, frames, d, least, most)
			}
		}
		told = nil
	}
	if len(s.durable) != 0 {
		t.Errorf("left are %v", s.durable)
	}
}
