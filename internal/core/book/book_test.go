package book

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// naive is a market's open orders in a slice.
type naive struct {
	book  *Book
	arena Arena
	// orders are in the order in which they came to rest.
	orders []Slot
	last   bourse.OrderID
}

// rest adds an order at a price.
func (n *naive) rest(side bourse.Side, price bourse.Price, lots bourse.Lots) {
	s, o := n.arena.New()
	n.last++
	*o = Order{ID: n.last, Price: price, Lots: lots, Account: 1 + bourse.AccountID(n.last%3), Side: side, State: Taking}
	n.book.Open(&n.arena, s, o, n.book.List(o.Account))
	n.book.Rest(&n.arena, s, o)
	n.orders = append(n.orders, s)
}

// sorted returns the orders of a side as they should trade.
func (n *naive) sorted(side bourse.Side) []Slot {
	var list []Slot
	for _, s := range n.orders {
		if n.arena.At(s).Side == side {
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(s, t Slot) int {
		p, q := n.arena.At(s).Price, n.arena.At(t).Price
		if side == bourse.Buy {
			p, q = q, p
		}
		return cmp.Compare(p, q)
	})
	return list
}

// drawPrice draws from a few ticks, or from far pages, or from the bounds.
func drawPrice(t *rapid.T) bourse.Price {
	switch rapid.IntRange(0, 3).Draw(t, "where") {
	case 0:
		return bourse.Price(rapid.Uint64Range(1, 200_000).Draw(t, "far"))
	case 1:
		return bourse.Price(rapid.Uint64Range(uint64(bourse.MaxPrice)-3, uint64(bourse.MaxPrice)).Draw(t, "top"))
	default:
		return bourse.Price(rapid.Uint64Range(4090, 4100).Draw(t, "near"))
	}
}

// TestBookIsASortedSlice compares ladders with a slice that is sorted when it is
// asked.
func TestBookIsASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &naive{book: New()}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			n.step(t)
			if err := n.book.Check(&n.arena); err != nil {
				t.Fatal(err)
			}
			n.compare(t)
		}
	})
}

func (n *naive) step(t *rapid.T) {
	side := bourse.Side(rapid.IntRange(1, 2).Draw(t, "side"))
	ladder := n.book.Side(side)
	switch front := ladder.Front(); rapid.IntRange(0, 4).Draw(t, "step") {
	case 0:
		if len(n.orders) > 0 {
			at := rapid.IntRange(0, len(n.orders)-1).Draw(t, "which")
			n.book.Remove(&n.arena, n.orders[at], n.arena.At(n.orders[at]))
			n.book.Close(&n.arena, n.orders[at], n.arena.At(n.orders[at]))
			n.orders = slices.Delete(n.orders, at, at+1)
		}
	case 1:
		if front == 0 || n.arena.At(front).Left() == 1 {
			return
		}
		o := n.arena.At(front)
		if total := n.book.Reduce(o, 1); total != ladder.At(o.Price) {
			t.Fatalf("a level has %d and says %d", ladder.At(o.Price), total)
		}
	default:
		n.rest(side, drawPrice(t), bourse.Lots(rapid.Uint64Range(1, 9).Draw(t, "lots")))
	}
}

func (n *naive) compare(t *rapid.T) {
	for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
		var got []Slot
		for price, level := range n.book.Side(side).Levels {
			total := bourse.Lots(0)
			for s := level.Head; s != 0; s = n.arena.Next(s) {
				got = append(got, s)
				total += n.arena.At(s).Left()
			}
			if total != level.Total || total != n.book.Side(side).At(price) {
				t.Fatalf("level %d counts %d, has %d", price, level.Total, total)
			}
		}
		if want := n.sorted(side); !slices.Equal(got, want) {
			t.Fatalf("%s orders are %v, want %v", side, got, want)
		}
		if len(got) > 0 != !n.book.Side(side).Empty() {
			t.Fatal("a side is empty or is not")
		}
	}
	if n.arena.Len() != len(n.orders) {
		t.Fatalf("%d orders are open, want %d", n.arena.Len(), len(n.orders))
	}
}

// TestStopsFireInOrderOfAcceptance triggers what a price satisfies, once.
func TestStopsFireInOrderOfAcceptance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Arena
		b := New()
		var waiting []Slot
		for id := range bourse.OrderID(rapid.IntRange(0, 30).Draw(t, "stops")) {
			s, o := a.New()
			*o = Order{
				ID: id + 1, Lots: 1, Account: 1,
				Side: bourse.Side(rapid.IntRange(1, 2).Draw(t, "side")), State: Taking,
			}
			*a.Stop(s) = drawPrice(t)
			b.Open(&a, s, o, b.List(1))
			b.Wait(&a, s, o)
			waiting = append(waiting, s)
		}
		price := drawPrice(t)
		var want []Slot
		for _, s := range waiting {
			if stop := *a.Stop(s); a.At(s).Side == bourse.Buy && price >= stop || a.At(s).Side == bourse.Sell && price <= stop {
				want = append(want, s)
			}
		}
		if b.Satisfied(price) != (len(want) > 0) {
			t.Fatalf("satisfied is %t with %d stops", b.Satisfied(price), len(want))
		}
		b.Trigger(&a, price)
		var got []Slot
		for s := b.Queued(); s != 0; s = a.Next(s) {
			got = append(got, s)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the queue is %v, want %v", got, want)
		}
		if b.Satisfied(price) {
			t.Fatal("a stop that is satisfied still waits")
		}
		if err := b.Check(&a); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRoomEnds wants a ladder to stop at its pages and at its sum.
func TestRoomEnds(t *testing.T) {
	n := &naive{book: New()}
	asks := n.book.Side(bourse.Sell)
	for page := range bourse.Price(MaxPages) {
		price := (page + 1) * pageSize
		if !asks.Room(price, 1) {
			t.Fatalf("no room on page %d", page)
		}
		n.rest(bourse.Sell, price, 1)
	}
	if asks.Room(1<<40, 1) || !asks.Room(pageSize+7, 1) {
		t.Error("the bound of the pages does not hold")
	}
	if !asks.Room(pageSize, bourse.MaxLots-MaxPages) || asks.Room(pageSize, bourse.MaxLots-MaxPages+1) {
		t.Error("the bound of the sum does not hold")
	}
}

// TestIndexForgets opens orders whose ids lie far apart, and wants the index to
// find each and to grow with what is open and not with the ids.
func TestIndexForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		open := map[bourse.OrderID]Slot{}
		var ids []bourse.OrderID
		id := bourse.OrderID(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(ids) > 0 && rapid.Bool().Draw(t, "remove") {
				at := rapid.IntRange(0, len(ids)-1).Draw(t, "which")
				x.remove(ids[at])
				delete(open, ids[at])
				ids = slices.Delete(ids, at, at+1)
			} else {
				id += bourse.OrderID(1 + rapid.Uint64Range(0, 5).Draw(t, "leaps")<<rapid.IntRange(0, 21).Draw(t, "leap"))
				open[id] = Slot(len(ids) + 1)
				x.put(id, open[id])
				ids = append(ids, id)
			}
			for _, i := range ids {
				if x.get(i) != open[i] {
					t.Fatalf("order %d is in slot %d, want %d", i, x.get(i), open[i])
				}
			}
			if x.get(id+1) != 0 || len(ids) > 0 && x.get(ids[0]-1) != open[ids[0]-1] {
				t.Fatal("an order is found that is not open")
			}
		}
		var got []Slot
		for s := range x.all {
			got = append(got, s)
		}
		if len(got) != len(ids) {
			t.Fatalf("%d orders are yielded, want %d", len(got), len(ids))
		}
		groups := 0
		for _, g := range x.groups {
			if g != nil {
				groups++
			}
		}
		if groups > len(ids)+2 {
			t.Fatalf("%d groups for %d orders", groups, len(ids))
		}
	})
}

// TestReaches wants ids beyond the span to be refused and none before.
func TestReaches(t *testing.T) {
	var a Arena
	if !a.Reaches(1 << 62) {
		t.Error("an empty arena reaches everywhere")
	}
	b := New()
	s, o := a.New()
	*o = Order{ID: 5, Account: 1}
	b.Open(&a, s, o, b.List(1))
	if !a.Reaches(MaxSpan-1) || a.Reaches(MaxSpan) {
		t.Error("the span does not hold")
	}
}
