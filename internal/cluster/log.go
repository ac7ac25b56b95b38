package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TickEvery is the time between two ticks of raft.
const TickEvery = 20 * time.Millisecond

// Log is the log of a node that Run drives: it takes steps for messages and ticks also while no caller
// proposes. Propose, Step, Mark, Confirm and Close are safe for concurrent use.
type Log struct {
	// Log is raft. Callers reach it as a journal's log alone, because its other methods are not safe
	// beside Run.
	journal.Log
	raft  *raftlog.Log
	clock func() time.Time

	// steps makes the methods of raft that belong to the goroutine of Step safe for concurrent use.
	steps steps
	// waits is true while Step waits for the notices of proposals, open counts those without one.
	waits atomic.Bool
	open  atomic.Int64
	// ended is closed when Run returns.
	ended chan struct{}
	// deposed is closed once Next has yielded that this node no longer leads.
	deposed chan struct{}
	once    sync.Once
	// led is the first term in which Next has yielded that this node leads; zero before.
	led    atomic.Uint64
	rounds rounds
	// asOf is the time, in microseconds, at which this node last had applied all entries that the
	// leader reports as committed; zero for never.
	asOf atomic.Int64
}

var _ journal.Log = (*Log)(nil)

// NewLog returns the log to drive.
func NewLog(l *raftlog.Log, clock func() time.Time) *Log {
	return &Log{
		Log: l, raft: l, clock: clock, ended: make(chan struct{}), deposed: make(chan struct{}),
		rounds: rounds{asked: make(chan struct{}, 1)},
	}
}

// Propose implements [journal.Log].
func (l *Log) Propose(p journal.Proposal) error {
	l.steps.Lock()
	defer l.steps.Unlock()
	err := l.Log.Propose(p)
	if err == nil {
		l.open.Add(1)
	}
	return err
}

// Step implements [journal.Log].
func (l *Log) Step() (more bool, err error) {
	more, err = l.turn(false)
	for err == nil && l.waits.Load() && l.open.Load() > 0 && !l.raft.Noticed() {
		select {
		case <-l.Ready():
		case <-l.ended:
			return false, journal.ErrClosed
		}
	}
	return more, err
}

// Wait lets Step wait until Next has a notice while a proposal has none. It is for starts, where one
// goroutine writes and applies in turn.
func (l *Log) Wait(on bool) { l.waits.Store(on) }

// Next implements [journal.Log].
func (l *Log) Next() (*journal.Notice, bool) {
	n, ok := l.Log.Next()
	if !ok {
		return n, ok
	}
	if n.Proposal != 0 {
		l.open.Add(-1)
	}
	switch {
	case n.Kind != journal.Role:
	case n.Leads:
		l.led.CompareAndSwap(0, n.Term)
	default:
		l.once.Do(func() { close(l.deposed) })
	}
	return n, ok
}

// Deposed returns a channel that is closed once Next has yielded that this node no longer leads.
func (l *Log) Deposed() <-chan struct{} { return l.deposed }

// Mark implements [journal.Log].
func (l *Log) Mark() error {
	l.steps.Lock()
	defer l.steps.Unlock()
	return l.Log.Mark()
}

// Status describes the log to its process. Safe for concurrent use.
func (l *Log) Status() raftlog.Status { return l.raft.Status() }

// Close implements [journal.Log].
func (l *Log) Close() error {
	l.steps.Lock()
	defer l.steps.Unlock()
	return l.Log.Close()
}

// Run drives the log until ctx ends or it is closed. An error is final. ticks receives every TickEvery;
// ticks that a paused process has missed are not made up for.
func (l *Log) Run(ctx context.Context, ticks <-chan time.Time) error {
	defer close(l.ended)
	for {
		tick := false
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
			tick = true
		case <-l.raft.Wake():
		case <-l.rounds.asked:
		}
		if err := l.work(tick); errors.Is(err, journal.ErrClosed) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// work takes steps until there is none to take, after a tick or for messages.
func (l *Log) work(tick bool) error {
	for more, first := true, tick; more; first = false {
		var err error
		if more, err = l.turn(first); err != nil {
			return err
		}
	}
	if s := l.Status(); !tick && s.Leader != 0 && s.Applied == s.Commit {
		l.asOf.Store(l.clock().UnixMicro())
	}
	return nil
}

// turn takes a step, after a tick if one is due.
func (l *Log) turn(tick bool) (more bool, err error) {
	l.steps.Lock()
	defer l.steps.Unlock()
	if tick {
		l.raft.Tick()
	}
	more, err = l.Log.Step()
	return l.rounds.turn(l.raft.Confirmed(), l.ask) || more, err
}

// ask begins a round about the term that the callers of Confirm know. The node may have lost it and lead another one, while
// the notices of that wait for Next.
func (l *Log) ask(round uint64) error { return l.raft.Ask(round, l.led.Load()) }

// reach calls a function with raft's log, which belongs to it until it returns.
func (l *Log) reach(f func(*raftlog.Log) error) error {
	l.steps.Lock()
	defer l.steps.Unlock()
	return f(l.raft)
}

// Status describes a node for operators.
type Status struct {
	// Node and Leader are numbers. Role is a word of roles, or "removed": most other nodes say that it is no member; or
	// "stalled": its disk does not answer.
	Node   uint64 `json:"node"`
	Role   string `json:"role"`
	Term   uint64 `json:"term"`
	Leader uint64 `json:"leader"`
	// Commit and Applied are indexes in the log.
	Commit  uint64 `json:"commit"`
	Applied uint64 `json:"applied"`
	// LagMS is the time in milliseconds since the node last had applied all entries that its leader
	// reports as committed; zero for the leader, and -1 if it never had.
	LagMS  int64  `json:"lag_ms"`
	Listen string `json:"listen"`
}

// roles are the words for roles in Status.
var roles = map[raftlog.Role]string{
	raftlog.Replica: "replica", raftlog.Candidate: "candidate", raftlog.Leader: "leader", raftlog.Learner: "learner",
}

// Describe returns the node's status, without Listen.
func (l *Log) Describe() Status {
	s := l.Status()
	d := Status{Node: s.Node, Role: roles[s.Role], Term: s.Term, Leader: s.Leader, Commit: s.Commit, Applied: s.Applied, LagMS: -1}
	switch asOf := l.asOf.Load(); {
	case s.Role == raftlog.Leader:
		d.LagMS = 0
	case asOf != 0:
		d.LagMS = max(l.clock().UnixMicro()-asOf, 0) / 1000
	}
	return d
}
