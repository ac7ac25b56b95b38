package journaltest

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Harness controls one journal, empty at first.
type Harness interface {
	// Open opens the log, at first and after Crash or Close.
	Open(t *testing.T) journal.Log
	// Crash kills the process of the open log without closing it. The log is not used
	// again.
	Crash(t *testing.T)
}

// Compactor is the harness of a log that can drop its oldest frames.
type Compactor interface {
	// Compact removes some or all frames whose commands are all below before. The log is
	// open.
	Compact(t *testing.T, before bourse.Seq)
}

// Archive is Compact for a log on segments.
func Archive(t *testing.T, files *journal.Files, before bourse.Seq) {
	t.Helper()
	for moved := true; moved; {
		var err error
		if moved, err = files.ArchiveNext(before); err != nil {
			t.Fatal(err)
		}
	}
}

// Replicated is the harness of a log that other processes write too. Its methods act on
// the open log.
type Replicated interface {
	// Hold makes steps commit nothing until Release.
	Hold()
	Release()
	// Reverse reverses the commit order of the pending proposals.
	Reverse()
	// Drop withholds any notice of a proposal until the term changes.
	Drop(id uint64) bool
	// ChangeTerm begins another term. Pending proposals for which keep, which may be nil,
	// returns true are still committed.
	ChangeTerm(keep func(id uint64) bool)
	// Elsewhere commits another process's proposal.
	Elsewhere(p journal.Proposal)
	// Install installs a snapshot that ends at a tip.
	Install(at journal.Tip)
}

// Run tests a log against the contract. fresh returns a harness with an empty journal
// each time.
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
