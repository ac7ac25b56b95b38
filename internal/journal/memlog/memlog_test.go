package memlog_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/memlog"
)

// harness implements every interface of the suite.
type harness struct {
	store *memlog.Store
	*memlog.Log
}

func (h *harness) Open(*testing.T) journal.Log {
	h.Log = h.store.Open(1)
	return h.Log
}

func (h *harness) Crash(*testing.T) {}

func (h *harness) Compact(_ *testing.T, before bourse.Seq) { h.store.Compact(before) }

var _ interface {
	journaltest.Compactor
	journaltest.Replicated
} = (*harness)(nil)

func TestContract(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journaltest.Harness { return &harness{store: memlog.NewStore()} })
}

// story is the notices of a log under chaos, and its end.
type story struct {
	answers []uint64
	kinds   []journal.NoticeKind
	tip     journal.Tip
}

func chaos(t *testing.T, seed uint64) story {
	t.Helper()
	var s story
	store := memlog.NewStore()
	log := store.Open(seed)
	log.SetChaos(memlog.Chaos{Delay: 200, Reorder: 300, Drop: 100, Term: 100, Keep: 500})
	answered := map[uint64]int{}
	take := func() {
		for n, ok := log.Next(); ok; n, ok = log.Next() {
			s.answers, s.kinds = append(s.answers, n.Proposal), append(s.kinds, n.Kind)
			answered[n.Proposal]++
		}
	}
	id := uint64(0)
	for range 2000 {
		p := journal.Proposal{ID: id + 1, Count: 1, Time: bourse.Time(id), Commands: []byte{byte(id)}}
		if err := log.Propose(p); err == nil {
			id++
		} else if !errors.Is(err, journal.ErrBusy) {
			t.Fatal(err)
		}
		if _, err := log.Step(); err != nil {
			t.Fatal(err)
		}
		take()
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	take()
	for i := uint64(1); i <= id; i++ {
		if answered[i] != 1 {
			t.Fatalf("proposal %d was answered %d times", i, answered[i])
		}
	}
	s.tip = store.Tip()
	return s
}

// TestChaos shows that each proposal has one answer, and that the seed determines all
// notices.
func TestChaos(t *testing.T) {
	a, b, c := chaos(t, 7), chaos(t, 7), chaos(t, 8)
	if !slices.Equal(a.answers, b.answers) || !slices.Equal(a.kinds, b.kinds) || a.tip != b.tip {
		t.Error("the same seed told two stories")
	}
	if slices.Equal(a.answers, c.answers) {
		t.Error("two seeds told the same story")
	}
	if slices.IsSorted(a.answers) || !slices.Contains(a.kinds, journal.Lost) || !slices.Contains(a.answers, 0) {
		t.Error("chaos was none")
	}
}

func TestFailureIsFinal(t *testing.T) {
	cause := errors.New("the disk is gone")
	log := memlog.NewStore().Open(1)
	p := journal.Proposal{ID: 1, Count: 1, Commands: []byte{1}}
	if err := log.Propose(p); err != nil {
		t.Fatal(err)
	}
	log.Fail(cause)
	for range 2 {
		if _, err := log.Step(); !errors.Is(err, cause) {
			t.Fatalf("Step: %v", err)
		}
	}
	if err := log.Propose(p); !errors.Is(err, cause) {
		t.Fatalf("Propose: %v", err)
	}
	if _, ok := log.Next(); ok {
		t.Fatal("a log that failed yields something")
	}
	if err := log.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func TestTheDeadSayNothing(t *testing.T) {
	store := memlog.NewStore()
	old := store.Open(1)
	if err := old.Propose(journal.Proposal{ID: 1, Count: 1, Commands: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Step(); err != nil {
		t.Fatal(err)
	}
	store.Open(2)
	if _, ok := old.Next(); ok {
		t.Error("a log that crashed yields something")
	}
	if _, err := old.Step(); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Step: %v", err)
	}
}
