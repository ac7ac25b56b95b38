package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// cancel cancels one order at its owner's request. An order that is unknown, of another
// account, or closed is not found: the answer does not tell which.
func (e *Engine) cancel(cmd *bourse.Command, ev *bourse.Events) {
	if reason := e.cancelOrder(cmd, ev); reason != 0 {
		ev.Refuse(reason)
	}
}

// cancelOrder cancels an order, or returns the reason for a refusal.
func (e *Engine) cancelOrder(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	s := e.arena.Find(cmd.Order)
	if s == 0 {
		return bourse.OrderNotFound
	}
	o := e.arena.At(s)
	if o.Account != cmd.Account {
		return bourse.OrderNotFound
	}

	m := e.markets[o.Market]
	if m.State == bourse.MarketHalted {
		return bourse.MarketHaltedNow
	}

	ev.Outcome = bourse.Outcome{
		ID: uint64(o.ID), Status: bourse.Canceled, Filled: o.Filled,
	}
	e.end(m, s, o, bourse.Canceled, ev)
	return 0
}

// cancelAll cancels an account's open orders, in one market or in all that are not
// halted. A Continue cancels the orders beyond the step budget.
func (e *Engine) cancelAll(cmd *bourse.Command, ev *bourse.Events) {
	switch {
	case e.account(cmd.Account) == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case cmd.MarketID != 0 && e.market(cmd.MarketID) == nil:
		ev.Refuse(bourse.UnknownMarket)
		return
	case cmd.MarketID != 0 && e.market(cmd.MarketID).State == bourse.MarketHalted:
		ev.Refuse(bourse.MarketHaltedNow)
		return
	}

	p := partialCancel{account: cmd.Account, market: cmd.MarketID, upTo: e.lastOrder}
	if !e.cancelSome(&p, ev) {
		e.keepPartial(p)
	}
}

// keepPartial keeps the rest of a cancel-all. One of the same account and market covers
// it as well from then on, so that repeated requests do not grow the list.
func (e *Engine) keepPartial(p partialCancel) {
	for i := range e.partials {
		if e.partials[i].account == p.account && e.partials[i].market == p.market {
			e.partials[i].upTo = max(e.partials[i].upTo, p.upTo)
			return
		}
	}
	e.partials = append(e.partials, p)
}

// cancelSome cancels orders within the step budget and reports whether all are done. A
// market that is halted at its turn is skipped for good: its orders visibly stay open.
func (e *Engine) cancelSome(p *partialCancel, ev *bourse.Events) bool {
	for i := 0; i < len(e.covered(p)); {
		m := e.markets[e.covered(p)[i]]
		if m.State != bourse.MarketHalted && !e.cancelIn(m, p, ev) {
			return false
		}
		if m.book.Oldest(p.account) != 0 { // otherwise the next market has moved to i
			e.visit()
			i++
		}
	}
	return true
}

// cancelIn cancels orders in a market within the step budget and reports whether all are
// done.
func (e *Engine) cancelIn(m *market, p *partialCancel, ev *bourse.Events) bool {
	for s := m.book.Oldest(p.account); s != 0 && e.arena.At(s).ID <= p.upTo; s = m.book.Oldest(p.account) {
		if e.steps == 0 {
			return false
		}
		e.steps--
		e.end(m, s, e.arena.At(s), bourse.Canceled, ev)
	}
	return true
}

// covered returns the markets of p in which its account has open orders, ascending.
func (e *Engine) covered(p *partialCancel) []bourse.MarketID {
	markets := e.account(p.account).markets
	if p.market == 0 {
		return markets
	}
	at, found := slices.BinarySearch(markets, p.market)
	if !found {
		return nil
	}
	return markets[at : at+1]
}

// Canceling returns the first orders that a cancel-all of an account has left to a
// Continue, by market and age, at most most.
func (e *Engine) Canceling(account bourse.AccountID, market bourse.MarketID, most int) (left []bourse.OrderID) {
	at := slices.IndexFunc(e.partials, func(p partialCancel) bool { return p.account == account && p.market == market })
	if at < 0 {
		return nil
	}
	p := &e.partials[at]

	for _, id := range e.covered(p) {
		m := e.markets[id]
		if m.State == bourse.MarketHalted {
			continue
		}
		for s := m.book.Oldest(account); s != 0 && e.arena.At(s).ID <= p.upTo; s = e.arena.Later(s) {
			if len(left) == most {
				return left
			}
			left = append(left, e.arena.At(s).ID)
		}
	}
	return left
}

// killAll kills the orders of a delisted market, within the step budget.
func (e *Engine) killAll(m *market, ev *bourse.Events) {
	for s := m.book.Any(); s != 0 && e.steps > 0; s = m.book.Any() {
		e.steps--
		e.end(m, s, e.arena.At(s), bourse.Killed, ev)
	}
}

// visit charges a look at a switch, or at a market or an account where nothing is to be
// done: visitsInAStep of them cost a step.
func (e *Engine) visit() {
	if e.visits++; e.visits%visitsInAStep == 0 && e.steps > 0 {
		e.steps--
	}
}
