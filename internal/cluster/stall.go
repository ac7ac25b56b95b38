package cluster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// stalledAfter is the number of looks, one each lookEvery, after which a step that still takes is stalled: longer than
// an election, so that the others have another leader by then.
const stalledAfter = 5

// steps guards what belongs to the goroutine of Step, and notices steps that do not end, as while the disk hangs.
type steps struct {
	mu sync.Mutex
	// count counts the beginnings and the ends of steps: it is odd while one is under way.
	count   atomic.Uint64
	stalled atomic.Bool
	// seen is the count at the last look, looks the number of looks since it changed. Owned by the caller of look.
	seen  uint64
	looks int
}

// Lock waits for the step under way, and begins one.
func (s *steps) Lock() {
	s.mu.Lock()
	s.count.Add(1)
}

// Unlock ends a step.
func (s *steps) Unlock() {
	s.count.Add(1)
	s.mu.Unlock()
}

// look notes whether the step under way is stalled, and reports whether that has changed.
func (s *steps) look() (changed bool) {
	count := s.count.Load()
	if count != s.seen || count%2 == 0 {
		s.seen, s.looks = count, 0
	} else {
		s.looks++
	}
	stalled := s.looks >= stalledAfter
	return s.stalled.Swap(stalled) != stalled
}

// Stalled reports whether a step takes longer than an election, as one does whose disk hangs. Nothing that is proposed
// then is committed before the step ends, and the node may not lead any more. Safe for concurrent use.
func (l *Log) Stalled() bool { return l.steps.stalled.Load() }

// look notes whether the log is stalled, and reports whether that has changed. Callers of Confirm get no answer from a
// log that is.
func (l *Log) look() (changed bool) {
	changed = l.steps.look()
	if l.Stalled() {
		l.rounds.abandon()
	}
	return changed
}

// watch looks whether the log is stalled until ctx ends.
func (n *Node) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.after(lookEvery):
		}
		switch changed := n.Log.look(); {
		case changed && n.Log.Stalled():
			n.log.Error("the journal's disk does not answer: this node takes nothing and does not lead until it does",
				slog.Uint64("node", Number(n.Config().Node)))
		case changed:
			n.log.Warn("the journal's disk answers again", slog.Uint64("node", Number(n.Config().Node)))
		}
	}
}
