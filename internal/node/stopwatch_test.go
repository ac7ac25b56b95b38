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

// TestStopwatch tells of each frame once, when the next one is asked for.
func TestStopwatch(t *testing.T) {
	var told []time.Duration
	s := &stopwatch{Log: &steps{}, applied: func(d time.Duration) { told = append(told, d) }}
	for frames := range 3 {
		for range frames {
			if _, err := s.Step(); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		for n := range frames {
			if _, ok := s.Next(); !ok || len(told) != n {
				t.Fatalf("frame %d of %d: %t, told of %v", n, frames, ok, told)
			}
		}
		if _, ok := s.Next(); ok || len(told) != frames {
			t.Fatalf("behind %d frames: %t, told of %v", frames, ok, told)
		}
		for _, d := range told {
			if d <= 0 || d < time.Since(began)/1000 {
				t.Errorf("it took %v", told)
			}
		}
		told = nil
	}
	if len(s.durable) != 0 {
		t.Errorf("left are %v", s.durable)
	}
}
