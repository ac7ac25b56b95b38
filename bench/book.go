package main

import "slices"

// maxTick bounds the prices of a workload.
const maxTick = 1 << 18

// Sides of an order, as a workload's records have them.
const (
	buy = iota
	sell
)

// order is a resting order of the reference book.
type order struct {
	id         uint64
	price, qty int64
	user       uint32
	side       uint8
	prev, next *order
	// at is its place among the live ones.
	at int
}

type queue struct{ head, tail *order }

// book is the reference: price, then time, in a flat array of prices. It holds no
// money and knows no users; what it trades is what every engine must trade.
type book struct {
	sides [2][maxTick]queue
	// best are the best prices: 0 if nobody bids, maxTick if nobody asks.
	best [2]int64
	live []*order
	totals
}

// totals are what a workload comes to, behind its prefill.
type totals struct {
	Trades   int64 `json:"trades"`
	Volume   int64 `json:"volume"`
	Notional int64 `json:"notional"`
}

func newBook() *book { return &book{best: [2]int64{0, maxTick}} }

// place matches an order; what is left of it rests if it may.
func (b *book) place(o *order, rests bool) {
	o.qty = b.match(o.side, o.price, o.qty)
	if o.qty > 0 && rests {
		b.rest(o)
	}
}

// match takes what an order of a side may take; price 0 takes at any price. It
// returns what is left.
func (b *book) match(side uint8, price, qty int64) int64 {
	against := 1 - side
	for qty > 0 {
		p := b.best[against]
		if p <= 0 || p >= maxTick || price != 0 && (side == buy && p > price || side == sell && p < price) {
			break
		}
		maker := b.sides[against][p].head
		lots := min(qty, maker.qty)
		qty -= lots
		maker.qty -= lots
		b.Trades++
		b.Volume += lots
		b.Notional += lots * p
		if maker.qty == 0 {
			b.remove(maker)
		}
	}
	return qty
}

func (b *book) rest(o *order) {
	if best := &b.best[o.side]; o.side == buy && o.price > *best || o.side == sell && o.price < *best {
		*best = o.price
	}
	q := &b.sides[o.side][o.price]
	if o.prev = q.tail; q.tail != nil {
		q.tail.next = o
	} else {
		q.head = o
	}
	q.tail = o
	o.at = len(b.live)
	b.live = append(b.live, o)
}

// remove takes an order out. The last of the live ones moves to its place, which
// is a part of the workload's definition.
func (b *book) remove(o *order) {
	q := &b.sides[o.side][o.price]
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		q.head = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		q.tail = o.prev
	}
	last := b.live[len(b.live)-1]
	b.live[o.at], last.at = last, o.at
	b.live = slices.Delete(b.live, len(b.live)-1, len(b.live))
	step := [2]int64{-1, 1}[o.side]
	for best := &b.best[o.side]; *best > 0 && *best < maxTick && b.sides[o.side][*best].head == nil; {
		*best += step
	}
}
