package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// preventSelfTrade keeps a taker from a trade with an order of its own account. The taker's
// mode decides, whatever the maker's is:
//
//	cancel_newest  the taker ends
//	cancel_oldest  the maker ends
//	cancel_both    both end
//	decrement      both lose the smaller open quantity, and end if nothing is left
//
// At least one of the two ends, so that the work is bounded by the number of orders, as that of
// trades is. The hold of the quantity taken is released, and no other money moves.
func (e *Engine) preventSelfTrade(m *market, t *taker, s book.Slot, maker *book.Order, ev *bourse.Events) {
	mode, price, left := t.order.SelfTrade, maker.Price, maker.Left()
	lots := min(t.left, left)

	switch {
	case mode == bourse.CancelNewest:
	case mode == bourse.Decrement && lots < left:
		e.decrementMaker(m, s, maker, lots, ev)
	default:
		at := len(ev.Orders)
		e.end(m, s, maker, bourse.Killed, ev)
		ev.Orders[at].Prevented += left
	}

	switch {
	case mode == bourse.CancelOldest:
	case mode == bourse.Decrement && lots < t.left:
		e.decrementTaker(m, t, price, lots, ev)
	default:
		t.stopped, t.prevented = true, t.left
	}
}

// decrementMaker takes lots off a resting order, which keeps its place and has some left.
func (e *Engine) decrementMaker(m *market, s book.Slot, o *book.Order, lots bourse.Lots, ev *bourse.Events) {
	before := e.needed(m, s, o)
	total := m.book.Lessen(o, lots)
	e.arena.SetPrevented(s, e.arena.Prevented(s)+lots)
	m.held[o.Side].Release(ev, o.Account, before.Minus(e.needed(m, s, o)))

	e.announcePrevented(s, o, ev)
	m.noteLevel(o, total, ev)
}

// decrementTaker takes lots off a taker that has some left, at the price of the trade that was
// prevented. It is announced once, when the order rests or ends. An order without a limit holds nothing for a trade with its own account, unless it
// buys by total: then the total is spent as by a trade.
func (e *Engine) decrementTaker(m *market, t *taker, price bourse.Price, lots bourse.Lots, ev *bourse.Events) {
	o := t.order
	own, freed := bourse.Amount{}, bourse.Amount{}
	switch {
	case o.Lots > 0:
		own, freed = e.reserve(m, t.slot, o), e.needed(m, t.slot, o)
		o.Lots -= lots
		own, freed = own.Minus(e.reserve(m, t.slot, o)), freed.Minus(e.needed(m, t.slot, o))
	case t.spends:
		own, _ = m.Total(price, lots) // at most the hold, because left is what it buys
		freed = own
	}

	t.left -= lots
	t.held = t.held.Minus(own)
	e.arena.SetPrevented(t.slot, e.arena.Prevented(t.slot)+lots)
	t.decremented = true
	m.held[o.Side].Release(ev, o.Account, freed)
}

// announcePrevented announces that an open order has lost a part of its quantity.
func (e *Engine) announcePrevented(s book.Slot, o *book.Order, ev *bourse.Events) {
	e.announce(bourse.EventOrderPrevented, s, o, bourse.Open, ev)
	e.accounts.Find(uint32(o.Account)).numberLast(ev)
}
