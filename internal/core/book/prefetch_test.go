package book

import (
	"math"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestExpectChangesNothing expects orders that are open, done and unknown, in an
// arena where most are too many to be near.
func TestExpectChangesNothing(t *testing.T) {
	const count = 6_000
	n := &naive{book: New()}
	ids := []bourse.OrderID{0, count + 1, 1 << 30, MaxSpan, math.MaxUint64}
	for i := range bourse.OrderID(count) {
		n.rest(bourse.Sell, 100+bourse.Price(i%50), 5)
		ids = append(ids, i+1)
	}
	for _, s := range n.orders[:count/3] {
		o := n.arena.At(s)
		n.book.Remove(&n.arena, s, o)
		n.book.Close(&n.arena, s, o)
	}
	before := make([]chunk, len(n.arena.chunks))
	for i, c := range n.arena.chunks {
		before[i] = *c
	}
	n.arena.Expect(ids)
	for s := range n.arena.used {
		n.arena.ExpectNext(s)
	}
	for i, c := range n.arena.chunks {
		if *c != before[i] {
			t.Errorf("chunk %d is another one", i)
		}
	}
	if err := n.book.Check(&n.arena); err != nil {
		t.Error(err)
	}
	if n.arena.Find(count) != n.orders[count-1] || n.arena.Find(1) != 0 {
		t.Error("the index finds other orders")
	}
}
