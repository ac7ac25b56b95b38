package journaltest

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Harness is one journal, empty at first.
type Harness interface {
	// Open opens the log: at first, and again after Crash or after the log was
	// closed.
	Open(t *testing.T) journal.Log
	// Crash kills the process that has the log open, without closing it. Nobody
	// uses that log any more.
	Crash(t *testing.T)
}

// Compactor is a harness of a log that can be cut at its beginning.
type Compactor interface {
	// Compact removes frames that hold only commands before this one, all or
	// some of them. The log is open.
	Compact(t *testing.T, before bourse.Seq)
}

// Replicated is a harness of a log that other processes write too. Its methods
// are about the log that is open.
type Replicated interface {
	// Hold makes steps commit nothing until Release.
	Hold()
	Release()
	// Reverse turns the order in which what was proposed will be committed.
	Reverse()
	// Drop makes nothing be heard of a proposal before the term changes.
	Drop(id uint64) bool
	// ChangeTerm begins another term. Proposals that are not committed are
	// committed nevertheless if keep, which may be nil, says so.
	ChangeTerm(keep func(id uint64) bool)
	// Elsewhere commits what another process proposed.
	Elsewhere(p journal.Proposal)
	// Install puts the log where a snapshot ends.
	Install(at journal.Tip)
}

// Run holds a log against the contract. fresh returns a harness with an empty
// journal each time.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, h Harness)
	}{
		{"commits what is proposed", testCommits},
		{"yields durable batches only", testDurable},
		{"refuses what fits no frame", testTooLarge},
		{"is busy rather than unbounded", testBusy},
		{"does not keep what it was given", testKeepsNothing},
		{"never goes back in time or term", testMonotone},
		{"is read from anywhere", testReadAnywhere},
		{"is read behind the writer", testReadBehind},
		{"marks without a trace", testMark},
		{"finishes when it is closed", testClose},
		{"is the same after a close", testReopen},
		{"is the same after crashes", testCrash},
		{"serves its goroutines", testConcurrent},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
	if _, ok := fresh(t).(Compactor); ok {
		t.Run("says where it was cut", func(t *testing.T) { testCompact(t, fresh(t)) })
	}
	if _, ok := fresh(t).(Replicated); ok {
		runReplicated(t, fresh)
	}
}
