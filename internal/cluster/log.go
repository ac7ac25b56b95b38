package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TickEvery is the time between two ticks of raft.
const TickEvery = 20 * time.Millisecond

// Log is the log of a node that Run drives: it takes steps for messages and ticks also while nobody
// proposes. Propose, Step, Mark and Close are safe for concurrent use.
type Log struct {
	*raftlog.Log
	mu sync.Mutex
}

var _ journal.Log = (*Log)(nil)

// NewLog returns the log to drive.
func NewLog(l *raftlog.Log) *Log { return &Log{Log: l} }

// Propose implements [journal.Log].
func (l *Log) Propose(p journal.Proposal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Propose(p)
}

// Step implements [journal.Log].
func (l *Log) Step() (more bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Step()
}

// Mark implements [journal.Log].
func (l *Log) Mark() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Mark()
}

// Transfer asks the leader to hand over to a voter.
func (l *Log) Transfer(node uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Log.Transfer(node)
}

// Close implements [journal.Log].
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Log.Close()
}

// Run drives the log until ctx ends. An error is final. ticks receives every TickEvery; ticks that a
// paused process has missed are not made up for.
func (l *Log) Run(ctx context.Context, ticks <-chan time.Time) error {
	for {
		tick := false
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
			tick = true
		case <-l.Wake():
		}
		for more := true; more; tick = false {
			var err error
			if more, err = l.turn(tick); err != nil {
				return err
			}
		}
	}
}

// turn takes a step, after a tick if one is due.
func (l *Log) turn(tick bool) (more bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tick {
		l.Tick()
	}
	return l.Log.Step()
}
