package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// drainQueue works the market's triggered orders, first in, first out, within the step
// budget. Their trades may trigger more.
func (e *Engine) drainQueue(m *market, ev *bourse.Events) {
	for m.book.Queued() != 0 && e.steps > 0 && m.tradable {
		e.steps--
		e.trigger(m, m.book.Queued(), ev)
	}
}

// trigger enters a waiting order into the book as if newly placed. It keeps its id, its hold
// and its type. One without a price never trades beyond its cap, if it has one, so that its
// hold pays for all of its trades; one by total trades while its hold buys a lot.
func (e *Engine) trigger(m *market, s book.Slot, ev *bourse.Events) {
	o := e.arena.At(s)
	m.book.Remove(&e.arena, s, o)
	o.Triggered = true
	if o.Listed {
		e.win(m, s, o, ev)
	}
	acct := e.accounts.At(uint32(o.Account))
	t := taker{slot: s, order: o, left: o.Left(), limit: o.Price, held: e.reserve(m, s, o), stopped: acct.frozen}
	if o.Lots == 0 {
		t.left, t.total, t.spends = bourse.MaxLots, t.held, true
	}

	e.announce(bourse.EventOrderTriggered, s, o, bourse.Open, ev)
	acct.numberLast(ev)
	opposite := m.book.Side(o.Side.Opposite())
	if bound := e.collar(m, o.Side); bound != 0 && (t.limit == 0 || opposite.Reaches(bound, t.limit)) {
		t.limit = bound
	}

	walked := e.walked
	e.work(m, &t, ev)
	e.steps -= min(e.steps, (e.walked-walked)/visitsInAStep)
	e.walked = walked // not charged to the command: the stop paid in wait
}

// visitsInAStep is the number of visits that cost a step of the command: by the walk of a
// triggered stop, so that stops with long walks leave room for fewer others, and by work
// that finds nothing to do.
const visitsInAStep = 100

// partialCancel is a cancel-all that has orders left to cancel.
type partialCancel struct {
	account bourse.AccountID
	// market is zero for all markets.
	market bourse.MarketID
	// upTo is the newest order that it covers.
	upTo bourse.OrderID
}

// Unfinished reports whether work is left for a Continue.
func (e *Engine) Unfinished() bool {
	if len(e.partials) > 0 || e.Firing() || e.fees.pass != 0 || e.custody.Ready() != nil ||
		e.custody.Due(e.now) != nil {
		return true
	}
	for _, m := range e.markets[1:] {
		if e.hasBacklog(m) {
			return true
		}
	}
	return false
}

func (e *Engine) hasBacklog(m *market) bool {
	if m.State == bourse.MarketDelisted {
		return !m.book.Empty()
	}
	return m.book.Queued() != 0 && m.tradable
}

// resume continues unfinished work: cancel-alls first, then dead man's switches, the
// markets in order, fee levels and withdrawals.
func (e *Engine) resume(ev *bourse.Events) {
	for len(e.partials) > 0 && e.steps > 0 {
		if !e.cancelSome(&e.partials[0], ev) {
			return
		}
		e.partials = e.partials[:copy(e.partials, e.partials[1:])]
	}

	e.fireDue(ev)
	for _, m := range e.markets[1:] {
		if e.steps == 0 {
			return
		}
		e.around = m.price()
		if m.State == bourse.MarketDelisted {
			e.killAll(m, ev)
		} else {
			e.drainQueue(m, ev)
		}
	}

	e.setLevels(ev)
	e.letDueGo(ev)
	e.letReadyGo(ev)
}
