package book

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// Book holds one market's open orders: resting, waiting and queued.
type Book struct {
	// sides are indexed by bourse.Side.
	sides [3]Ladder
	// above holds the orders that a trade at or above their stop price triggers, below the orders
	// that a trade at or below it triggers.
	above, below Ladder
	// queueHead and queueTail are the ends of the trigger queue.
	queueHead, queueTail Slot
	accounts             table.Table[List]
	scratch              []fired
}

// fired is an order on its way to the trigger queue. It carries the id, because sorting by
// the orders in the arena would miss the cache many times.
type fired struct {
	id   bourse.OrderID
	slot Slot
}

// List is an account's open orders in a market, oldest first.
type List struct {
	Open         uint32
	oldest, last Slot
}

// New returns an empty book.
func New() *Book {
	b := new(Book)
	b.sides[bourse.Sell] = lowestFirst()
	b.above = lowestFirst() // rising prices reach the lowest stop first
	return b
}

// Side returns the ladder of resting orders of a side.
func (b *Book) Side(side bourse.Side) *Ladder { return &b.sides[side] }

// stopsOf returns the ladder in which an order waits for its stop.
func (b *Book) stopsOf(o *Order) *Ladder {
	if o.Type.FiresAbove(o.Side) {
		return &b.above
	}
	return &b.below
}

// Empty reports whether the market has no open order.
func (b *Book) Empty() bool {
	return b.Any() == 0
}

// Listed returns an account's list, or nil if neither the account nor a neighbour in the
// table had an order.
func (b *Book) Listed(account bourse.AccountID) *List { return b.accounts.Find(uint32(account)) }

// List returns an account's list. The pointer stays valid.
func (b *Book) List(account bourse.AccountID) *List { return b.accounts.At(uint32(account)) }

// Open adds a new order to the index and to its account's list. Ids rise, so the list is
// sorted by id.
func (b *Book) Open(a *Arena, s Slot, o *Order, list *List) {
	a.index.put(o.ID, s)
	a.open++
	list.Open++
	at, last, oldest := a.links(s), list.last, list.oldest
	at.earlier, at.later = last, 0
	a.links(last).later = s
	if last == 0 {
		oldest = s
	}
	list.oldest, list.last = oldest, s
}

// Close removes an open order that is in no queue, and frees its slot. It reports whether
// it was its account's last one in the market.
func (b *Book) Close(a *Arena, s Slot, o *Order) (last bool) {
	a.index.remove(o.ID)
	a.open--
	at := a.links(s)
	earlier, later := at.earlier, at.later
	at.next = a.free
	a.free = s
	a.links(earlier).later = later
	a.links(later).earlier = earlier

	list := b.accounts.Find(uint32(o.Account))
	list.Open--
	oldest, newest := list.oldest, list.last
	if earlier == 0 {
		oldest = later
	}
	if later == 0 {
		newest = earlier
	}
	list.oldest, list.last = oldest, newest
	return list.Open == 0
}

// Oldest returns an account's oldest open order in this market, or zero.
func (b *Book) Oldest(account bourse.AccountID) Slot {
	if list := b.accounts.Find(uint32(account)); list != nil {
		return list.oldest
	}
	return 0
}

// Rest appends an order to its price's queue and returns the level's new total. The level
// must have room.
func (b *Book) Rest(a *Arena, s Slot, o *Order) bourse.Lots {
	o.State = Resting
	return b.sides[o.Side].push(a, s, o.Price, o.Left())
}

// Wait appends an order to its stop price's queue. There is always room, because waiting
// lots are not counted.
func (b *Book) Wait(a *Arena, s Slot, o *Order) {
	o.State = Waiting
	b.stopsOf(o).push(a, s, a.Stop(s).Price, 0)
}

// Reduce fills the first order of the best level of a side by lots and returns the
// level's new total. The order must have more than lots left.
func (b *Book) Reduce(o *Order, lots bourse.Lots) bourse.Lots {
	return b.Side(o.Side).reduce(o, lots)
}

// Lessen takes lots off an order that rests, which keeps its place, and returns the level's
// new total. The order must have more than lots left.
func (b *Book) Lessen(o *Order, lots bourse.Lots) bourse.Lots {
	o.Lots -= lots
	return b.Side(o.Side).lessen(o.Price, lots)
}

// Remove removes an order from its queue. For a resting order it returns the level's new
// total.
func (b *Book) Remove(a *Arena, s Slot, o *Order) bourse.Lots {
	if o.State != Resting {
		b.unwait(a, s, o)
		return 0
	}
	o.State = Taking
	return b.sides[o.Side].remove(a, s, o.Price, o.Left())
}

// unwait removes an order with a stop from its queue, if any.
func (b *Book) unwait(a *Arena, s Slot, o *Order) {
	switch o.State {
	case Waiting:
		b.stopsOf(o).remove(a, s, a.Stop(s).Price, 0)
	case Queued:
		b.unqueue(a, s)
	case Resting, Taking:
	}
	o.State = Taking
}

// Satisfied reports whether a trade at this price triggers a waiting order.
func (b *Book) Satisfied(price bourse.Price) bool {
	above, below := &b.above, &b.below
	return !above.Empty() && above.Best() <= price || !below.Empty() && below.Best() >= price
}

// Trigger moves the waiting orders that a trade at this price triggers to the end of the
// trigger queue, in order of acceptance.
func (b *Book) Trigger(a *Arena, price bourse.Price) {
	b.scratch = b.scratch[:0]
	for _, stops := range [...]*Ladder{&b.above, &b.below} {
		for stops.Within(price) {
			for s := stops.takeBest(a); s != 0; s = a.Next(s) {
				b.scratch = append(b.scratch, fired{a.At(s).ID, s})
			}
		}
	}
	slices.SortFunc(b.scratch, func(x, y fired) int { return cmp.Compare(x.id, y.id) })
	for _, f := range b.scratch {
		b.Queue(a, f.slot)
	}
}

// Queue appends an order to the trigger queue.
func (b *Book) Queue(a *Arena, s Slot) {
	o := a.At(s)
	o.State = Queued
	at := a.links(s)
	at.prev, at.next = b.queueTail, 0
	if b.queueTail != 0 {
		a.links(b.queueTail).next = s
	} else {
		b.queueHead = s
	}
	b.queueTail = s
}

// Queued returns the first order of the trigger queue, or zero.
func (b *Book) Queued() Slot { return b.queueHead }

func (b *Book) unqueue(a *Arena, s Slot) {
	at := *a.links(s)
	if at.prev != 0 {
		a.links(at.prev).next = at.next
	} else {
		b.queueHead = at.next
	}
	if at.next != 0 {
		a.links(at.next).prev = at.prev
	} else {
		b.queueTail = at.prev
	}
}

// Next returns the order behind s in its queue, or zero.
func (a *Arena) Next(s Slot) Slot { return a.links(s).next }

// Later returns the next newer order of s's account in its market, or zero.
func (a *Arena) Later(s Slot) Slot { return a.links(s).later }

// Any returns an open order of the market, or zero: the best bid, the best ask, the next to
// be triggered above or below, or the first queued. The choice is deterministic.
func (b *Book) Any() Slot {
	for _, l := range [...]*Ladder{
		&b.sides[bourse.Buy], &b.sides[bourse.Sell], &b.above, &b.below,
	} {
		if s := l.Front(); s != 0 {
			return s
		}
	}
	return b.queueHead
}
