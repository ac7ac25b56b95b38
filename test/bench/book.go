package main

import "slices"

// maxTick bounds the prices of a workload.
const maxTick = 1 << 18

// Sides of an order in a workload's records.
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
	// at is the order's index in book.live.
	at int
}

type queue struct{ head, tail *order }

// book is the reference: price-time priority in a flat array of prices, without money or
// users. Every engine must make the same trades.
type book struct {
	sides [2][maxTick]queue
	// best are the best prices: 0 without bids, maxTick without asks.
	best [2]int64
	live []*order
	totals
}

// totals are the sums over a workload after its prefill.
type totals struct {
	Trades   int64 `json:"trades"`
	Volume   int64 `json:"volume"`
	Notional int64 `json:"notional"`
}

func newBook() *book { return &book{best: [2]int64{0, maxTick}} }

// place matches an order. The remainder rests if rests is set.
func (b *book) place(o *order, rests bool) {
	o.qty = b.match(o.side, o.price, o.qty)
	if o.qty > 0 && rests {
		b.rest(o)
	}
}

// match trades up to qty against the other side; price 0 takes any price. It returns the
// remainder.
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

// remove removes an order. The last live order takes its index, which is a part of the
// workload's definition.
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
