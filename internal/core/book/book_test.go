package book

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"unsafe"

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
				Type: bourse.OrderType(rapid.IntRange(int(bourse.StopLimit), int(bourse.TakeProfitMarket)).Draw(t, "type")),
			}
			a.Stop(s).Price = drawPrice(t)
			b.Open(&a, s, o, b.List(1))
			b.Wait(&a, s, o)
			waiting = append(waiting, s)
		}
		price := drawPrice(t)
		var want []Slot
		for _, s := range waiting {
			rises := a.At(s).Side == bourse.Buy
			switch a.At(s).Type {
			case bourse.TakeProfitLimit, bourse.TakeProfitMarket:
				rises = !rises
			default:
			}
			if stop := a.Stop(s).Price; rises && price >= stop || !rises && price <= stop {
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

// TestRoomEnds wants a price to take as many lots as can be counted, whatever
// rests at others.
func TestRoomEnds(t *testing.T) {
	n := &naive{book: New()}
	asks := n.book.Side(bourse.Sell)
	for _, price := range []bourse.Price{1, 7, bourse.MaxPrice} {
		n.rest(bourse.Sell, price, bourse.MaxLots-1)
	}
	if !asks.Room(7, 1) || asks.Room(7, 2) {
		t.Error("the bound of a price does not hold")
	}
	if !asks.Room(8, bourse.MaxLots) {
		t.Error("a price is full that is empty")
	}
	if err := n.book.Check(&n.arena); err != nil {
		t.Error(err)
	}
}

// TestFarPricesCostWhatTheyHold lets 10,000 orders rest, or wait, as far apart as
// they can lie, and 50,000 after them: a level takes some bytes, and a side never
// refuses one.
func TestFarPricesCostWhatTheyHold(t *testing.T) {
	for name, far := range map[string]func(i int) bourse.Price{
		"away from the touch": func(i int) bourse.Price { return bourse.Price(i+1) * pageSize },
		"towards the touch":   func(i int) bourse.Price { return bourse.Price(1<<40 - i*pageSize) },
		"in no order":         func(i int) bourse.Price { return bourse.Price(uint64(i+1) * 0x9e3779b97f4a7c15 >> 3) },
	} {
		n := &naive{book: New()}
		for i := range 50_000 {
			n.rest(bourse.Sell, far(i), 1)
			n.wait(bourse.Buy, far(i))
			if i == 9_999 || i == 49_999 {
				n.wantSmall(t, name, 64*(i+1))
			}
		}
		if err := n.book.Check(&n.arena); err != nil {
			t.Error(name, err)
		}
		n.end(t, name)
	}
}

// wantSmall wants the ladders to take their pages, and at most so many bytes.
func (n *naive) wantSmall(t *testing.T, name string, bytes int) {
	t.Helper()
	for _, l := range [...]*Ladder{n.book.Side(bourse.Sell), &n.book.above} {
		size := len(l.far.blocks) * int(unsafe.Sizeof(block{})+16)
		if len(l.pages) > mostPages || size > bytes {
			t.Errorf("%s: a ladder takes %d pages and %d bytes", name, len(l.pages), size)
		}
	}
}

// end takes out half of the orders in no order, then the rest by what is best,
// and wants the ladders to shrink with them.
func (n *naive) end(t *testing.T, name string) {
	t.Helper()
	for i, s := range n.orders {
		if i*7%16 < 8 {
			n.book.Remove(&n.arena, s, n.arena.At(s))
			n.book.Close(&n.arena, s, n.arena.At(s))
		}
	}
	n.wantSmall(t, name, 128*len(n.orders)/4)
	if err := n.book.Check(&n.arena); err != nil {
		t.Error(name, err)
	}
	for s := n.book.Any(); s != 0; s = n.book.Any() {
		n.book.Remove(&n.arena, s, n.arena.At(s))
		n.book.Close(&n.arena, s, n.arena.At(s))
	}
	if asks := n.book.Side(bourse.Sell); !asks.Empty() || len(asks.far.blocks) > 0 {
		t.Errorf("%s: levels are left", name)
	}
}

// TestFarIsASortedMap compares far levels with a map while they grow to many
// blocks and shrink again.
func TestFarIsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f far
		var spare pool[block]
		want := map[int64]Slot{}
		for range rapid.IntRange(1, 12).Draw(t, "phases") {
			grow := rapid.Bool().Draw(t, "grow")
			at := rapid.Int64Range(-3000, 3000).Draw(t, "at")
			step := rapid.SampledFrom([]int64{1, -1, 3, 7, -1009}).Draw(t, "step")
			for range rapid.IntRange(0, 700).Draw(t, "times") {
				at = (at + step) % 3000
				_, there := want[at]
				switch {
				case grow:
					f.level(&spare, at).head = Slot(at + 5000)
					want[at] = Slot(at + 5000)
				case there && len(want)%3 == 0 && at == f.last():
					if top := f.pop(&spare); top.head != want[at] {
						t.Fatalf("pop of %d returns %d", at, top.head)
					}
					delete(want, at)
				case there:
					f.remove(&spare, at)
					delete(want, at)
				}
			}
			compareFar(t, &f, want)
		}
	})
}

func compareFar(t *rapid.T, f *far, want map[int64]Slot) {
	keys := slices.Sorted(maps.Keys(want))
	slices.Reverse(keys)
	var l Ladder
	at := 0
	f.descend(&l, func(price bourse.Price, level Level) bool {
		if at >= len(keys) || int64(price) != keys[at] || level.Head != want[keys[at]] || f.at(keys[at]).head != level.Head {
			t.Fatalf("level %d is %d at %d", at, level.Head, int64(price))
		}
		at++
		return true
	})
	if at != len(keys) || f.empty() != (at == 0) || f.at(3001) != nil || f.at(-3001) != nil {
		t.Fatalf("%d levels of %d are there", at, len(keys))
	}
	if used := len(f.blocks) * blockSize; used > 8*len(keys)+2*blockSize {
		t.Fatalf("%d levels take %d blocks", len(keys), len(f.blocks))
	}
}

// wait adds a stop.
func (n *naive) wait(side bourse.Side, stop bourse.Price) {
	s, o := n.arena.New()
	n.last++
	*o = Order{ID: n.last, Price: 1, Lots: bourse.MaxLots, Account: 1, Side: side, State: Taking,
		Type: bourse.StopLimit}
	n.arena.Stop(s).Price = stop
	n.book.Open(&n.arena, s, o, n.book.List(o.Account))
	n.book.Wait(&n.arena, s, o)
	n.orders = append(n.orders, s)
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
