package audit

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// TestBooksKnowEveryHold follows random orders of all types, and wants the books to hold for
// them what the engine holds.
func TestBooksKnowEveryHold(t *testing.T) {
	waited, pairs := map[bourse.OrderType]int{}, 0
	for seed := uint64(1); seed <= 14; seed++ {
		p, books, src := enginetest.NewPair(), NewBooks(), enginetest.Seed(seed)
		w := enginetest.NewWorkload(&src, p.Oracle)
		for range 2000 {
			cmd := w.Next()
			if err := p.Apply(&cmd); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			books.Enter(p.Events())
			if wrong := books.Check(p.Engine); len(wrong) > 0 {
				t.Fatalf("seed %d, after %+v: %s", seed, cmd, strings.Join(wrong, "\n"))
			}
		}

		for _, o := range books.orders {
			waited[o.Type]++
			if other := books.orders[o.ID+1]; o.List == o.ID && other != nil && other.List == o.List {
				pairs++
			}
		}
	}
	for kind := bourse.StopLimit; kind <= bourse.LastOrderType; kind++ {
		if waited[kind] == 0 {
			t.Errorf("no %s order waits at the end of any workload", kind)
		}
	}
	if pairs == 0 {
		t.Error("no two orders of a list are open at the end of any workload")
	}
}
