package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// drainQueue works the market's triggered stops, first in, first out, while the
// command has steps left. A stop's trades may trigger more.
func (e *Engine) drainQueue(m *market, ev *bourse.Events) {
	for m.book.Queued() != 0 && e.steps > 0 && m.tradable {
		e.steps--
		e.trigger(m, m.book.Queued(), ev)
	}
}

// trigger lets a stop enter the book as if newly placed. It keeps its id, its
// hold and its type.
func (e *Engine) trigger(m *market, s book.Slot, ev *bourse.Events) {
	o := e.arena.At(s)
	m.book.Remove(&e.arena, s, o)
	o.Triggered = true
	t := taker{
		slot: s, order: o, left: o.Left(), limit: o.Price, held: m.reserve(o),
		stopped: e.accounts.At(uint32(o.Account)).frozen,
	}
	e.announce(bourse.EventOrderTriggered, s, o, bourse.Open, ev)
	opposite := m.book.Side(o.Side.Opposite())
	if bound := e.collar(m, o.Side); bound != 0 && opposite.Reaches(bound, t.limit) {
		t.limit = bound
	}
	walked := e.walked
	e.work(m, &t, ev)
	e.steps -= min(e.steps, (e.walked-walked)/walkedInAStep)
	e.walked = walked // the command's account is not the stop's, which paid in wait
}

// walkedInAStep is how much a triggered stop may look at for a step of its command:
// what looks further has fewer others work beside it.
const walkedInAStep = 100

// sweep is a cancel-all that has orders left to cancel.
type sweep struct {
	account bourse.AccountID
	// market is zero for all markets.
	market bourse.MarketID
	// upTo is the youngest order that it covers.
	upTo bourse.OrderID
}

// Unfinished reports whether a command left work behind for lack of steps, so
// that a Continue has something to do.
func (e *Engine) Unfinished() bool {
	if len(e.sweeps) > 0 || e.custody.Ready() != nil || e.custody.Due(e.now) != nil {
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

// resume takes up the work that commands left behind: cancel-alls first, then
// the markets in order, then withdrawals.
func (e *Engine) resume(ev *bourse.Events) {
	for len(e.sweeps) > 0 && e.steps > 0 {
		if !e.cancelSome(&e.sweeps[0], ev) {
			return
		}
		e.sweeps = e.sweeps[:copy(e.sweeps, e.sweeps[1:])]
	}
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
	e.letDueGo(ev)
	e.letReadyGo(ev)
}
