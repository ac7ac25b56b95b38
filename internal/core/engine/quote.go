package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// quote is what the book would give an order now, within its limit and without
// what self-trade prevention keeps it from.
type quote struct {
	lots bourse.Lots
	// cost is the value of lots; for a SELL by total no more is computed than
	// what is asked for.
	cost bourse.Amount
	// complete: the order would get all it asks for.
	complete bool
	// overflow: the cost does not fit.
	overflow bool
}

// quote walks the other side, best price first.
func (e *Engine) quote(m *market, t *taker) quote {
	var q quote
	o := t.order
	budget := t.total
	opposite := m.book.Side(o.Side.Opposite())
	var unit bourse.Amount
	for price, level := range opposite.Levels {
		unit, _ = m.Total(price, 1)
		if t.limit != 0 && !opposite.Reaches(price, t.limit) {
			break
		}
		total, blocked := e.reachable(level, t)
		take := wanted(t, &q, budget, unit)
		short := take > total
		take = min(take, total)
		q.take(m, price, take)
		if !budget.IsZero() {
			budget = spend(budget, unit, take)
		}
		if q.overflow || !short || blocked {
			break
		}
	}
	q.complete = !q.overflow && q.lots > 0 && satisfied(t, &q, budget, unit)
	return q
}

// wanted returns how many lots the order would take at a level with room for
// any number.
func wanted(t *taker, q *quote, budget, unit bourse.Amount) bourse.Lots {
	if t.total.IsZero() {
		return t.order.Left() - q.lots
	}
	n, rest := budget.Div(unit)
	if t.order.Side == bourse.Sell && !rest.IsZero() {
		n, _ = n.Add(bourse.Units(1)) // rounded up: the last step passes the total
	}
	return atMostLots(n)
}

// lotsFor returns how many lots an amount of the quote asset buys at a price.
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
func (q *quote) take(m *market, price bourse.Price, lots bourse.Lots) {
	cost, fits := m.Total(price, lots)
	sum, sumFits := q.cost.Add(cost)
	if !fits || !sumFits {
		q.overflow = true
		return
	}
	q.lots += lots
	q.cost = sum
}

// spend takes unit × lots off the budget, down to zero.
func spend(budget, unit bourse.Amount, lots bourse.Lots) bourse.Amount {
	cost, _ := unit.Mul(uint64(lots))
	left, ok := budget.Sub(cost)
	if !ok {
		return bourse.Amount{}
	}
	return left
}

// satisfied reports whether an order would have all it asks for. A BUY by total
// has when what is left of the budget does not pay one more lot at the price
// that comes next, or at the last one if none does.
func satisfied(t *taker, q *quote, budget, unit bourse.Amount) bool {
	switch {
	case t.total.IsZero():
		return q.lots == t.order.Left()
	case t.order.Side == bourse.Buy:
		return budget.Less(unit)
	}
	return budget.IsZero()
}

// reachable returns how much of a level the order may trade with, and whether
// an order of its own ends the walk there.
func (e *Engine) reachable(level book.Level, t *taker) (total bourse.Lots, blocked bool) {
	if t.order.SelfTrade == bourse.SelfTradeNone {
		return level.Total, false
	}
	for s := level.Head; s != 0; s = e.arena.Next(s) {
		o := e.arena.At(s)
		switch {
		case o.Account != t.order.Account:
			total += o.Left()
		case t.order.SelfTrade != bourse.CancelOldest:
			return total, true
		}
	}
	return total, false
}
