package engine

import "github.com/bourse-exchange/bourse"

// cancel ends one order at its owner's request. An order that is unknown,
// somebody else's or done is not found, whichever it is.
func (e *Engine) cancel(cmd *bourse.Command, ev *bourse.Events) {
	s := e.arena.Find(cmd.Order)
	if s == 0 {
		ev.Refuse(bourse.OrderNotFound)
		return
	}
	o := e.arena.At(s)
	if o.Account != cmd.Account {
		ev.Refuse(bourse.OrderNotFound)
		return
	}
	m := e.markets[o.Market]
	if m.State == bourse.MarketHalted {
		ev.Refuse(bourse.MarketHaltedNow)
		return
	}
	ev.Outcome = bourse.Outcome{
		ID: uint64(o.ID), Status: bourse.Canceled, Filled: o.Filled,
	}
	e.end(m, s, o, bourse.Canceled, ev)
}

// cancelAll ends an account's open orders, in one market or all that are not
// halted; what the steps do not suffice for is left to a Continue.
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
	w := sweep{account: cmd.Account, market: cmd.MarketID, upTo: e.lastOrder}
	if !e.cancelSome(&w, ev) {
		e.leaveSweep(w)
	}
}

// leaveSweep keeps what is left of a cancel-all. One that covers the same
// orders and more takes an older one's place, so that repeating the request
// does not make the list grow.
func (e *Engine) leaveSweep(w sweep) {
	for i := range e.sweeps {
		if e.sweeps[i].account == w.account && e.sweeps[i].market == w.market {
			e.sweeps[i] = w
			return
		}
	}
	e.sweeps = append(e.sweeps, w)
}

// cancelSome cancels what the steps allow and reports whether that was all. A
// market that is halted when its turn comes is passed over for good: its orders
// stay open, and are seen to be.
func (e *Engine) cancelSome(w *sweep, ev *bourse.Events) bool {
	for _, m := range e.markets[1:] {
		if w.market != 0 && w.market != m.ID || m.State == bourse.MarketHalted {
			continue
		}
		for s := m.book.Oldest(w.account); s != 0 && e.arena.At(s).ID <= w.upTo; s = m.book.Oldest(w.account) {
			if e.steps == 0 {
				return false
			}
			e.steps--
			e.end(m, s, e.arena.At(s), bourse.Canceled, ev)
		}
	}
	return true
}

// killAll ends the orders of a delisted market, as far as the steps allow.
func (e *Engine) killAll(m *market, ev *bourse.Events) {
	for s := m.book.Any(); s != 0 && e.steps > 0; s = m.book.Any() {
		e.steps--
		e.end(m, s, e.arena.At(s), bourse.Killed, ev)
	}
}
