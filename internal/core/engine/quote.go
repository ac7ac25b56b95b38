package engine

import (
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// quote is the part of the book that an order would get now, within its limit and without
// quantity excluded by self-trade prevention.
type quote struct {
	lots bourse.Lots
	// lost is the quantity that self-trade prevention takes off the order before that. It needs
	// no hold.
	lost bourse.Lots
	// stuck is the quantity still wanted at an order of the own account that ends the walk.
	stuck bourse.Lots
	// hold is the required hold for lots: their base for a SELL, their value for a BUY by
	// amount. A BUY by total holds its total.
	hold bourse.Amount
	// complete is true if the order would be filled.
	complete bool
	// beyond is true if hold exceeds the allowed maximum; the walk ends there.
	beyond bool
}

// quote walks the other side, best price first, until the order is filled or its hold
// exceeds most. The cost of a level does not depend on the orders in it; see reachable
// for the account's own orders.
func (e *Engine) quote(m *market, t *taker, most bourse.Amount) quote {
	var q quote
	budget, unit := t.total, bourse.Amount{}
	mine := m.ownOrders(t)
	opposite := mine.opposite

	for price, level := range opposite.Levels {
		e.walked++
		unit, _ = m.Total(price, 1)
		if t.limit != 0 && !opposite.Reaches(price, t.limit) {
			break
		}

		want := wanted(t, &q, budget, unit)
		got := e.reachable(m, &mine, price, level, want)
		take := min(want, got.lots)
		q.take(m, t, price, take)
		q.lost += got.lost
		if q.beyond = q.beyond || most.Less(q.hold); q.beyond {
			return q
		}

		if !budget.IsZero() {
			budget = spend(budget, unit, take+got.lost)
		}
		if got.blocked {
			q.stuck = want - take
		}
		if want <= got.lots+got.lost || got.blocked {
			break
		}
	}
	q.complete = q.lots+q.lost > 0 && satisfied(t, &q, budget, unit)
	return q
}

// wanted returns the lots that the order would take at a level of unbounded size.
func wanted(t *taker, q *quote, budget, unit bourse.Amount) bourse.Lots {
	if t.total.IsZero() {
		return t.order.Left() - q.lots - q.lost
	}
	n, rest := budget.Div(unit)
	if t.order.Side == bourse.Sell && !rest.IsZero() {
		n, _ = n.Add(bourse.Units(1)) // rounded up: the last lot reaches the total
	}
	return min(atMostLots(n), bourse.MaxLots-q.lots-q.lost)
}

// lotsFor returns the number of lots that an amount of the quote asset buys at a price.
func (m *market) lotsFor(money bourse.Amount, price bourse.Price) bourse.Lots {
	unit, _ := m.Total(price, 1) // at most 2^126
	n, _ := money.Div(unit)
	return atMostLots(n)
}

func atMostLots(n bourse.Amount) bourse.Lots {
	if n.Hi != 0 || n.Lo > uint64(bourse.MaxLots) {
		return bourse.MaxLots
	}
	return bourse.Lots(n.Lo)
}

// take adds lots at a price.
func (q *quote) take(m *market, t *taker, price bourse.Price, lots bourse.Lots) {
	q.lots += lots
	switch {
	case t.order.Side == bourse.Sell:
		q.hold, _ = m.BaseAmount(q.lots) // always fits
	case t.total.IsZero():
		value, fits := m.Total(price, lots)
		sum, sumFits := q.hold.Add(value)
		q.hold, q.beyond = sum, !fits || !sumFits // no account has an amount that does not fit
	}
}

// spend returns the budget less unit × lots, at least zero.
func spend(budget, unit bourse.Amount, lots bourse.Lots) bourse.Amount {
	cost, fits := unit.Mul(uint64(lots))
	left, ok := budget.Sub(cost)
	if !fits || !ok {
		return bourse.Amount{}
	}
	return left
}

// satisfied reports whether the quote fills the order. A BUY by total is filled when the
// rest of its budget does not pay one more lot at the next price, or at the last one if
// there is no next.
func satisfied(t *taker, q *quote, budget, unit bourse.Amount) bool {
	switch {
	case t.total.IsZero():
		return q.lots+q.lost == t.order.Left()
	case q.lots+q.lost == bourse.MaxLots:
		return true
	case t.order.Side == bourse.Buy:
		return budget.Less(unit)
	}
	return budget.IsZero()
}

// ownOrders tracks a taker's own orders during its walk through the other side.
type ownOrders struct {
	t        *taker
	opposite *book.Ladder
	// any is false if the account has none, or the order may trade with them.
	any bool
	// steps is the number of orders still to scan in queues before gather lists the
	// account's orders; zero once it has.
	steps int
	// next indexes the first listed order that the walk has not passed.
	next int
}

// ownLots is the open quantity of one of the account's own orders, at a price.
type ownLots struct {
	price bourse.Price
	lots  bourse.Lots
}

func (m *market) ownOrders(t *taker) ownOrders {
	mine := ownOrders{t: t, opposite: m.book.Side(t.order.Side.Opposite())}
	list := m.book.Listed(t.order.Account)
	if t.order.SelfTrade != bourse.SelfTradeNone && list != nil {
		mine.any, mine.steps = list.Open > 0, int(list.Open)
	}
	return mine
}

// reach is the quantity that an order finds at a level.
type reach struct {
	// lots is the quantity that it may trade with. It may stop short of the whole level's once it
	// covers the quantity wanted.
	lots bourse.Lots
	// lost is the quantity that it loses to orders of its own account.
	lost bourse.Lots
	// blocked is true if one of them ends the walk.
	blocked bool
}

// onOwn is the effect of an order of the own account on a taker that reaches it.
type onOwn uint8

const (
	// ownIsPassed: the taker goes on to the next order.
	ownIsPassed onOwn = iota
	// ownBlocks: the taker ends, or cannot be filled whole as a FOK order must be.
	ownBlocks
	// ownTakes: the taker loses the own order's quantity.
	ownTakes
)

// onOwn returns the effect of an order of the own account on the taker.
func (t *taker) onOwn() onOwn {
	switch {
	case t.order.SelfTrade == bourse.CancelOldest:
		return ownIsPassed
	case t.order.SelfTrade == bourse.Decrement && t.order.TIF != bourse.FOK:
		return ownTakes
	}
	return ownBlocks
}

// reachable returns the quantity that the order finds at a level where it wants a quantity.
//
// A level's total includes the account's own orders. The queues of the first levels are
// scanned for them, because most walks end there. Once that has taken as many steps as
// the account has orders in the market, gather lists all of them, and a level costs one
// step again.
func (e *Engine) reachable(
	m *market, mine *ownOrders, price bourse.Price, level book.Level, want bourse.Lots,
) reach {
	if !mine.any {
		return reach{lots: level.Total}
	}
	if mine.steps > 0 {
		if got := e.scan(mine.t, level.Head, want, &mine.steps); mine.steps > 0 {
			return got
		}
		e.gather(m, mine)
	}

	own, does := mine.pass(e.listed, price), mine.t.onOwn()
	switch {
	case own == 0:
		return reach{lots: level.Total}
	case does == ownIsPassed:
		return reach{lots: level.Total - own}
	case does == ownTakes && level.Total <= want:
		return reach{lots: level.Total - own, lost: own}
	}
	all := math.MaxInt
	return e.scan(mine.t, level.Head, want, &all)
}

// scan sums the orders of a queue that the taker may trade with. It stops at the wanted quantity,
// at an own order that ends the walk, or when steps is used up. In the last case the sums are
// meaningless.
func (e *Engine) scan(t *taker, s book.Slot, want bourse.Lots, steps *int) (got reach) {
	does := t.onOwn()
	for ; s != 0 && got.lots+got.lost < want && *steps > 0; s = e.arena.Next(s) {
		*steps--
		e.walked++
		o := e.arena.At(s)
		lots := min(o.Left(), want-got.lots-got.lost)
		switch {
		case o.Account != t.order.Account:
			got.lots += lots
		case does == ownBlocks:
			got.blocked = true
			return got
		case does == ownTakes:
			got.lost += lots
		}
	}
	return got
}

// gather lists the account's own orders on the other side, best first.
func (e *Engine) gather(m *market, mine *ownOrders) {
	e.listed = e.listed[:0]
	for s := m.book.Oldest(mine.t.order.Account); s != 0; s = e.arena.Later(s) {
		e.walked++
		if o := e.arena.At(s); o.State == book.Resting && o.Side != mine.t.order.Side {
			e.listed = append(e.listed, ownLots{o.Price, o.Left()})
		}
	}
	slices.SortFunc(e.listed, func(a, b ownLots) int {
		switch {
		case a.price == b.price:
			return 0
		case mine.opposite.Reaches(a.price, b.price):
			return -1
		}
		return 1
	})
}

// pass advances past the listed orders up to a price, and returns their lots at it.
func (mine *ownOrders) pass(own []ownLots, price bourse.Price) (lots bourse.Lots) {
	for ; mine.next < len(own) && mine.opposite.Reaches(own[mine.next].price, price); mine.next++ {
		if own[mine.next].price == price {
			lots += own[mine.next].lots
		}
	}
	return lots
}
