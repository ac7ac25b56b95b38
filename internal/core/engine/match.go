package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// taker is the order that is being worked against the book: one that has just
// been accepted, or a stop that has just been triggered.
type taker struct {
	slot  book.Slot
	order *book.Order
	// list is where the order goes if it rests; nil if it is there already.
	list *book.List
	// left is what may still be traded; for a BUY by total what its money still
	// buys at the best price, or at that of its last trade.
	left bourse.Lots
	// limit is the worst price it may trade at; zero is any.
	limit bourse.Price
	// held is what is left of its hold.
	held bourse.Amount
	// total is what a MARKET order by total asks for.
	total bourse.Amount
	// spends is set for a BUY by total, which trades while its hold buys a lot.
	spends bool
	// complete is set by the quote of a MARKET FOK order: the book can give all.
	complete bool
	// stopped is set when self-trade prevention or a freeze ended it.
	stopped bool
}

// work matches an order and settles what becomes of the rest of it.
func (e *Engine) work(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	crosses := t.limit == 0 || m.crosses(o.Side, t.limit)
	if crosses && (o.TIF != bourse.FOK || e.canFill(m, t)) {
		e.match(m, t, ev)
	}
	if t.left > 0 && o.TIF == bourse.GTC && !t.stopped && o.Type != bourse.MarketOrder && m.mayRest(o) {
		e.rest(m, t, ev)
	} else {
		e.finish(m, t, ev)
	}
}

// canFill reports whether the book can give a FOK order all it asks for.
func (e *Engine) canFill(m *market, t *taker) bool {
	if t.order.Type == bourse.MarketOrder {
		return t.complete
	}
	return e.quote(m, t, bourse.MaxAmount).complete // the account holds what it asks for
}

// match trades with the best of the other side until nothing is left to trade
// or nothing to trade with.
func (e *Engine) match(m *market, t *taker, ev *bourse.Events) {
	opposite := m.book.Side(t.order.Side.Opposite())
	for t.left > 0 && !t.stopped && !opposite.Empty() {
		if t.spends {
			t.left = min(m.lotsFor(t.held, opposite.Best()), bourse.MaxLots-t.order.Filled)
		}
		if t.left == 0 || t.limit != 0 && !opposite.Reaches(opposite.Best(), t.limit) {
			return
		}
		s := opposite.Front()
		maker := e.arena.At(s)
		if maker.Account == t.order.Account && t.order.SelfTrade != bourse.SelfTradeNone {
			e.preventSelfTrade(m, t, s, maker, ev)
			continue
		}
		e.trade(m, t, s, maker, ev)
	}
}

// preventSelfTrade ends the taker, the maker or both, as the taker's mode says.
func (e *Engine) preventSelfTrade(m *market, t *taker, s book.Slot, maker *book.Order, ev *bourse.Events) {
	if t.order.SelfTrade != bourse.CancelNewest {
		e.end(m, s, maker, bourse.Killed, ev)
	}
	t.stopped = t.order.SelfTrade != bourse.CancelOldest
}

// trade matches the taker with the first order of the best level.
func (e *Engine) trade(m *market, t *taker, s book.Slot, maker *book.Order, ev *bourse.Events) {
	e.arena.ExpectNext(s)
	price, lots := maker.Price, min(t.left, maker.Left())
	m.trades++
	m.last = price
	t.left -= lots
	t.order.Filled += lots

	tr := ev.AddTrade()
	tr.Market, tr.TakerSide, tr.Number, tr.Price, tr.Lots = m.ID, t.order.Side, m.trades, price, lots
	makerRate := e.fill(&tr.Maker, maker, maker.Filled+lots, m.Maker, bourse.Maker)
	takerRate := e.fill(&tr.Taker, t.order, t.order.Filled, m.Taker, bourse.Taker)
	e.settle(m, t, tr, makerRate, takerRate, ev)
	if maker.ID == e.placing { // a stop that it triggered trades with it
		ev.Outcome.Filled = maker.Filled + lots
	}

	if lots < maker.Left() {
		m.noteLevel(maker, m.book.Reduce(maker, lots), ev)
	} else {
		m.noteLevel(maker, m.book.Remove(&e.arena, s, maker), ev)
		maker.Filled = maker.Lots
		e.close(m, s, maker, bourse.Filled, ev)
	}
	if m.book.Satisfied(price) {
		m.book.Trigger(&e.arena, price)
	}
}

// fill writes down one side of a trade, but for its fee, and returns the rate of
// that.
func (e *Engine) fill(f *bourse.Fill, o *book.Order, filled bourse.Lots, rate bourse.Rate, role bourse.Role) bourse.Rate {
	acct := e.accounts.Find(uint32(o.Account))
	acct.fills++
	f.Order, f.Account, f.Ordinal, f.Filled = o.ID, o.Account, acct.fills, filled
	switch {
	case !acct.ownFees:
		return rate
	case role == bourse.Maker:
		return acct.maker
	}
	return acct.taker
}

// settle moves the money of a trade: what the taker gives, then what it gets.
func (e *Engine) settle(m *market, t *taker, tr *bourse.Trade, makerRate, takerRate bourse.Rate, ev *bourse.Events) {
	total, fits := m.Total(tr.Price, tr.Lots)
	base, baseFits := m.BaseAmount(tr.Lots)
	if !fits || !baseFits {
		bourse.Impossible("trade %d of market %d does not fit", tr.Number, m.ID)
	}
	tr.Total = total
	given, got := bySide(tr.TakerSide, total, base), bySide(tr.TakerSide, base, total)
	tr.Maker.Fee, tr.Taker.Fee = makerRate.FeeOn(given), takerRate.FeeOn(got)
	refund := t.priceImprovement(m, tr)
	t.held = t.held.Minus(given).Minus(refund)
	held := m.held[tr.TakerSide]
	held.Give(ev, tr.Taker.Account, given, refund)
	held.Receive(ev, tr.Maker.Account, given, tr.Maker.Fee)
	held = m.held[tr.TakerSide.Opposite()]
	held.Give(ev, tr.Maker.Account, got, bourse.Amount{})
	held.Receive(ev, tr.Taker.Account, got, tr.Taker.Fee)
}

// priceImprovement returns what a buyer held for this trade beyond its total.
func (t *taker) priceImprovement(m *market, tr *bourse.Trade) bourse.Amount {
	if tr.TakerSide != bourse.Buy || t.order.Price <= tr.Price {
		return bourse.Amount{} // also a MARKET order, whose price is zero
	}
	better, _ := m.Total(t.order.Price-tr.Price, tr.Lots)
	return better
}

// mayRest reports whether the book takes what is left of an order: a LIMIT was
// admitted with room, a triggered stop meets the book as it is now, and does not
// rest across what its collar kept it from.
func (m *market) mayRest(o *book.Order) bool {
	return o.Type == bourse.Limit || !m.crosses(o.Side, o.Price) && m.book.Side(o.Side).Room(o.Price, o.Left())
}

// rest puts what is left of an order into the book.
func (e *Engine) rest(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	if o.Filled > 0 && m.reserve(o) != t.held {
		bourse.Impossible("order %d rests with a hold of %s", o.ID, t.held.Format(0))
	}
	if t.list != nil {
		m.book.Open(&e.arena, t.slot, o, t.list)
	}
	m.noteLevel(o, m.book.Rest(&e.arena, t.slot, o), ev)
	if o.ID == e.placing {
		ev.Outcome.Filled = o.Filled
	}
}

// finish ends an order that does not rest.
func (e *Engine) finish(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	status := bourse.Filled
	if t.left > 0 || o.Filled == 0 {
		status = bourse.Killed
	}
	m.held[o.Side].Release(ev, o.Account, t.held)
	e.announceClosed(t.slot, o, status, ev).Total = t.total
	if t.list == nil {
		m.book.Close(&e.arena, t.slot, o)
	} else {
		e.arena.Free(t.slot)
	}
}

// end takes an open order out of the market: its hold is released.
func (e *Engine) end(m *market, s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events) {
	rested := o.State == book.Resting
	total := m.book.Remove(&e.arena, s, o)
	if rested {
		m.noteLevel(o, total, ev)
	}
	m.held[o.Side].Release(ev, o.Account, m.reserve(o))
	e.close(m, s, o, status, ev)
}

// reserve returns what an open order holds.
func (m *market) reserve(o *book.Order) bourse.Amount {
	total, fits := m.Total(o.Price, o.Left()) // admitted with both, whatever its side
	base, baseFits := m.BaseAmount(o.Left())
	if !fits || !baseFits {
		bourse.Impossible("order %d holds more than fits", o.ID)
	}
	return bySide(o.Side, total, base)
}

// close announces an open order's final status and frees it; it must be in no
// queue and hold nothing.
func (e *Engine) close(m *market, s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events) {
	e.announceClosed(s, o, status, ev)
	m.book.Close(&e.arena, s, o)
}

func (e *Engine) announceClosed(s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events) *bourse.Order {
	told := e.announce(bourse.EventOrderClosed, s, o, status, ev)
	if o.ID == e.placing {
		ev.Outcome.Status, ev.Outcome.Filled = status, o.Filled
	}
	if o.Named {
		e.names.end(e, o.ID)
	}
	return told
}

// noteLevel announces what rests at an order's price now.
func (m *market) noteLevel(o *book.Order, lots bourse.Lots, ev *bourse.Events) {
	m.levelSeq++
	l := ev.AddLevel(bourse.EventLevel)
	l.Market, l.Side, l.Price, l.Lots, l.Seq = o.Market, o.Side, o.Price, lots, m.levelSeq
}
