package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// amend changes the price, the quantity or both of an open order at its owner's request.
// The order keeps its id, ordinal, time and client id. Its quantity includes the filled part and
// the part that self-trade prevention took. Either all of the amendment takes effect, or nothing:
//
//   - Less quantity at the same price keeps the place in the queue. It is allowed wherever
//     a cancel is, because it only reduces risk.
//   - Any other change is admitted like a new order of these terms. In the book it loses
//     the place, and at a price that crosses it trades at once.
//   - A stop or take profit that was not triggered gets its new terms and waits on. One
//     without a price is not amended: its cap, if it has one, was fixed when it was placed.
//
// A request for the terms that the order already has is a repetition and changes nothing,
// so that a client that lost the answer may ask again.
func (e *Engine) amend(cmd *bourse.Command, ev *bourse.Events) {
	s := e.arena.Find(cmd.Order)
	if s == 0 || e.arena.At(s).Account != cmd.Account {
		ev.Refuse(bourse.OrderNotFound)
		return
	}

	o := e.arena.At(s)
	m := e.markets[o.Market]
	former := e.termsOf(s, o)
	to := amended(former, &cmd.NewOrder)
	if reason := e.renegotiate(m, s, o, to, ev); reason != 0 {
		ev.Refuse(reason)
		return
	}

	ev.Outcome = bourse.Outcome{ID: uint64(o.ID), Status: bourse.Open, Filled: o.Filled, Repeated: to == former}
	if to != former {
		ev.Former, e.placing, e.around = former, o.ID, m.price()
		e.change(m, s, o, to, ev)
	}
}

// amended returns the terms of an order after an amendment of the fields that are not zero.
func amended(t bourse.Terms, to *bourse.NewOrder) bourse.Terms {
	if to.Price != 0 {
		t.Price = to.Price
	}
	if to.Lots != 0 {
		t.Lots = to.Lots
	}
	return t
}

// termsOf returns the terms of an order, whose quantity counts what self-trade prevention took.
// An order by total has no Lots.
func (e *Engine) termsOf(s book.Slot, o *book.Order) bourse.Terms {
	t := bourse.Terms{Price: o.Price, Lots: o.Lots}
	if t.Lots != 0 {
		t.Lots += e.arena.Prevented(s)
	}
	return t
}

// lessens reports whether new terms reduce the quantity of former ones alone.
func lessens(former, to bourse.Terms) bool { return to.Price == former.Price && to.Lots < former.Lots }

// renegotiate checks an order's new terms and holds or releases the difference. It returns
// the reason for a refusal, which changes nothing.
func (e *Engine) renegotiate(
	m *market, s book.Slot, o *book.Order, to bourse.Terms, ev *bourse.Events,
) (reason bourse.Reason) {
	former, prevented := e.termsOf(s, o), e.arena.Prevented(s)
	switch {
	case m.State == bourse.MarketHalted:
		reason = bourse.MarketHaltedNow
	case !o.Type.HasPrice():
		reason = bourse.NotAmendable
	case to.Lots <= o.Filled+prevented:
		reason = bourse.NothingLeft
	case to == former:
		return 0
	case e.usedUp(m):
		reason = bourse.TooMany
	case !lessens(former, to):
		reason = e.readmit(m, s, o, to)
	case m.worth(to.Price, to.Lots).Less(m.MinOrder):
		reason = bourse.BelowMinOrder
	}
	if reason != 0 {
		return reason
	}

	with := *o
	with.Price, with.Lots = to.Price, to.Lots-prevented
	before, after := e.needed(m, s, o), e.needed(m, s, &with)
	more, grows := after.Sub(before)
	switch {
	case !grows:
		m.held[o.Side].Release(ev, o.Account, before.Minus(after))
	case more.IsZero():
	case e.tiers.trades && !e.mayGive(o.Account, m.Held(o.Side), more):
		return bourse.TradeLimit
	case !m.held[o.Side].Hold(ev, o.Account, more):
		return bourse.InsufficientFunds
	}
	return 0
}

// readmit checks an order with new terms as if it were new. One in the book is checked as
// a LIMIT, whatever it was before its trigger.
func (e *Engine) readmit(m *market, s book.Slot, o *book.Order, to bourse.Terms) bourse.Reason {
	p := bourse.NewOrder{
		Market: o.Market, Side: o.Side, Type: o.Type, TIF: o.TIF, PostOnly: o.PostOnly,
		Price: to.Price, Stop: e.stop(s, o).Price, Lots: to.Lots,
	}
	if o.State == book.Resting {
		p.Type, p.Stop = bourse.Limit, 0
	}
	others := *m.book.Listed(o.Account)
	others.Open-- // the order itself is in the list
	_, reason := m.admit(e.account(o.Account), &others, &p)
	return reason
}

// change gives an order terms that renegotiate accepted.
func (e *Engine) change(m *market, s book.Slot, o *book.Order, to bourse.Terms, ev *bourse.Events) {
	former := e.termsOf(s, o)
	switch {
	case o.State != book.Resting:
		e.setTerms(s, o, to, ev)
	case lessens(former, to):
		total := m.book.Lessen(o, former.Lots-to.Lots)
		e.setTerms(s, o, to, ev)
		m.noteLevel(o, total, ev)
	default:
		e.requeue(m, s, o, to, ev)
	}
}

// setTerms sets an order's terms and announces them.
func (e *Engine) setTerms(s book.Slot, o *book.Order, to bourse.Terms, ev *bourse.Events) {
	o.Price, o.Lots = to.Price, to.Lots-e.arena.Prevented(s)
	o.Changed |= book.Amended
	e.announce(bourse.EventOrderAmended, s, o, bourse.Open, ev)
	e.accounts.At(uint32(o.Account)).numberLast(ev)
}

// requeue takes an order out of the book and enters it with new terms behind the orders of
// its price. At a new price it may trade and trigger stops, as a new order.
func (e *Engine) requeue(m *market, s book.Slot, o *book.Order, to bourse.Terms, ev *bourse.Events) {
	total := m.book.Remove(&e.arena, s, o)
	if o.Price == to.Price {
		e.setTerms(s, o, to, ev)
		m.noteLevel(o, m.book.Rest(&e.arena, s, o), ev)
		return
	}

	m.noteLevel(o, total, ev)
	e.setTerms(s, o, to, ev)
	e.work(m, &taker{slot: s, order: o, left: o.Left(), limit: o.Price, held: e.reserve(m, s, o)}, ev)
	e.drainQueue(m, ev)
}
