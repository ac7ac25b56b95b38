package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// taker is the order being matched: a newly accepted order, or a newly triggered stop.
type taker struct {
	slot  book.Slot
	order *book.Order
	// list is the account's list to add a resting order to; nil if the order is already
	// in it.
	list *book.List
	// left is the quantity still to trade. For a BUY by total it is the quantity that the
	// hold buys at the best price, or at the price of its last trade.
	left bourse.Lots
	// limit is the worst price of a trade; zero is any.
	limit bourse.Price
	// held is the rest of the order's hold.
	held bourse.Amount
	// total is the requested total of an order by total.
	total bourse.Amount
	// spends is set for a BUY by total, which trades while its hold buys a lot.
	spends bool
	// complete is set by the quote of a MARKET FOK order: the book can fill it.
	complete bool
	// stopped is set when self-trade prevention or a freeze ended the order.
	stopped bool
	// prevented is what self-trade prevention took when it ended the order. It is still in left.
	prevented bourse.Lots
	// decremented is set when self-trade prevention took a part, which is no longer in left.
	decremented bool
}

// work matches an order, then rests or finishes it.
func (e *Engine) work(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	crosses := t.limit == 0 || m.crosses(o.Side, t.limit)
	if crosses && (o.TIF != bourse.FOK || e.canFill(m, t)) {
		e.match(m, t, ev)
	}
	if t.left > 0 && o.TIF == bourse.GTC && !t.stopped && o.Type.HasPrice() && m.mayRest(o) {
		e.rest(m, t, ev)
	} else {
		e.finish(m, t, ev)
	}
}

// canFill reports whether the book can fill a FOK order.
func (e *Engine) canFill(m *market, t *taker) bool {
	if t.order.Type == bourse.MarketOrder {
		return t.complete
	}
	return e.quote(m, t, bourse.MaxAmount).complete // the account already holds the amount
}

// match trades with the best of the other side until the taker or the reachable book is
// exhausted.
func (e *Engine) match(m *market, t *taker, ev *bourse.Events) {
	opposite := m.book.Side(t.order.Side.Opposite())
	for t.left > 0 && !t.stopped && !opposite.Empty() {
		if t.spends {
			room := bourse.MaxLots - t.order.Filled - e.arena.Prevented(t.slot)
			t.left = min(m.lotsFor(t.held, opposite.Best()), room)
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

// trade matches the taker with the first order of the best level.
func (e *Engine) trade(m *market, t *taker, s book.Slot, maker *book.Order, ev *bourse.Events) {
	if maker.Listed || t.order.Listed {
		e.win(m, s, maker, ev)
		e.win(m, t.slot, t.order, ev)
	}
	e.arena.ExpectNext(s)
	price, lots := maker.Price, min(t.left, maker.Left())
	m.trades++
	m.last = price
	t.left -= lots
	t.order.Filled += lots

	tr := ev.AddTrade()
	tr.Market, tr.TakerSide, tr.Number, tr.Price, tr.Lots = m.ID, t.order.Side, m.trades, price, lots
	e.settle(m, t, tr, rates{
		maker: e.fill(&tr.Maker, maker, maker.Filled+lots, m.Maker, bourse.Maker),
		taker: e.fill(&tr.Taker, t.order, t.order.Filled, m.Taker, bourse.Taker),
	}, ev)
	if m.valued != unvalued {
		e.countVolume(m, tr)
	}
	if e.tiers.trades {
		e.countTrade(m, tr, ev)
	}
	if maker.ID == e.placing { // a stop that the placed order triggered trades with it
		ev.Outcome.Filled = maker.Filled + lots
	}

	if lots < maker.Left() {
		tr.Maker.UpdateSeq, e.mayUpdate = updateDue, true
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

// fill sets one side of a trade except its fee, and returns its fee rate.
func (e *Engine) fill(
	f *bourse.Fill, o *book.Order, filled bourse.Lots, rate bourse.Rate, role bourse.Role,
) bourse.Rate {
	acct := e.accounts.Find(uint32(o.Account))
	acct.fills++
	f.Order, f.Account, f.Ordinal, f.Filled, f.UpdateSeq = o.ID, o.Account, acct.fills, filled, 0
	bounds := &e.fees.bounds[acct.level]
	switch {
	case acct.ownFees && role == bourse.Maker:
		return acct.maker
	case acct.ownFees:
		return acct.taker
	case role == bourse.Maker:
		return min(rate, bounds.maker)
	}
	return min(rate, bounds.taker)
}

// rates are the fee rates of the two sides of a trade.
type rates struct{ maker, taker bourse.Rate }

// settle moves the money of a trade: the taker's payment, then its proceeds.
func (e *Engine) settle(m *market, t *taker, tr *bourse.Trade, fees rates, ev *bourse.Events) {
	total, fits := m.Total(tr.Price, tr.Lots)
	base, baseFits := m.BaseAmount(tr.Lots)
	if !fits || !baseFits {
		bourse.Impossible("trade %d of market %d does not fit", tr.Number, m.ID)
	}
	tr.Total = total
	given, got := bySide(tr.TakerSide, total, base), bySide(tr.TakerSide, base, total)
	tr.Maker.Fee, tr.Taker.Fee = fees.maker.FeeOn(given), fees.taker.FeeOn(got)
	refund := t.priceImprovement(m, tr)
	t.held = t.held.Minus(given).Minus(refund)

	held := m.held[tr.TakerSide]
	held.Give(ev, tr.Taker.Account, given, refund)
	held.Receive(ev, tr.Maker.Account, given, tr.Maker.Fee)
	held = m.held[tr.TakerSide.Opposite()]
	held.Give(ev, tr.Maker.Account, got, bourse.Amount{})
	held.Receive(ev, tr.Taker.Account, got, tr.Taker.Fee)
}

// priceImprovement returns the part of a buyer's hold for this trade above its total.
func (t *taker) priceImprovement(m *market, tr *bourse.Trade) bourse.Amount {
	if tr.TakerSide != bourse.Buy || t.order.Price <= tr.Price {
		return bourse.Amount{} // also an order without a price and a cap
	}
	better, _ := m.Total(t.order.Price-tr.Price, tr.Lots)
	return better
}

// mayRest reports whether the remainder of an order may rest. A LIMIT was admitted with
// room in the book. A triggered stop needs room now, and does not rest at a price that
// crosses the book beyond its collar.
func (m *market) mayRest(o *book.Order) bool {
	return o.Type == bourse.Limit || !m.crosses(o.Side, o.Price) && m.book.Side(o.Side).Room(o.Price, o.Left())
}

// rest puts the remainder of an order into the book.
func (e *Engine) rest(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	if o.Filled > 0 || t.decremented {
		if e.reserve(m, t.slot, o) != t.held {
			bourse.Impossible("order %d rests with a hold of %s", o.ID, t.held.Format(0))
		}
		e.noteRest(o, ev)
	}
	if t.list != nil {
		e.list(m, t.slot, o, t.list)
	}
	if t.decremented {
		e.announcePrevented(t.slot, o, ev)
	}
	m.noteLevel(o, m.book.Rest(&e.arena, t.slot, o), ev)
	if o.ID == e.placing {
		ev.Outcome.Filled = o.Filled
	}
}

// noteRest marks the last fill of a taker that rests now, if this command filled it.
func (e *Engine) noteRest(o *book.Order, ev *bourse.Events) {
	if n := len(ev.Trades); n != 0 && ev.Trades[n-1].Taker.Order == o.ID {
		ev.Trades[n-1].Taker.UpdateSeq, e.mayUpdate = updateDue, true
	}
}

// finish ends an order that does not rest.
func (e *Engine) finish(m *market, t *taker, ev *bourse.Events) {
	o := t.order
	status := bourse.Filled
	if t.left > 0 || o.Filled == 0 {
		status = bourse.Killed
	}
	if e.other(t.slot, o) != 0 { // self-trade prevention ended an order of a list
		at := len(ev.Orders)
		e.end(m, t.slot, o, status, ev)
		ev.Orders[at].Prevented += t.prevented
		return
	}

	m.held[o.Side].Release(ev, o.Account, t.held)
	told := e.announceClosed(t.slot, o, status, ev)
	told.Total = t.total
	told.Prevented += t.prevented
	if t.list == nil {
		e.unlist(m, t.slot, o)
	} else {
		e.arena.Free(t.slot)
	}
}

// end removes an open order from the market and releases its hold. With an order of a pair
// the other one ends.
func (e *Engine) end(m *market, s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events) {
	if other := e.remove(m, s, o, status, ev); other != 0 {
		e.remove(m, other, e.arena.At(other), status, ev)
	}
}

// remove ends an open order alone, and returns the other order of its pair, or zero.
func (e *Engine) remove(
	m *market, s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events,
) book.Slot {
	rested := o.State == book.Resting
	total := m.book.Remove(&e.arena, s, o)
	if rested {
		m.noteLevel(o, total, ev)
	}
	m.held[o.Side].Release(ev, o.Account, e.freed(m, s, o))
	other := e.part(s, o)
	e.close(m, s, o, status, ev)
	return other
}

// reserve returns the hold of an open order.
func (e *Engine) reserve(m *market, s book.Slot, o *book.Order) bourse.Amount {
	if o.Lots == 0 {
		return e.arena.Stop(s).Total // a BUY by total, which waits or is queued
	}
	total, fits := m.Total(o.Price, o.Left()) // both fit since admission, on either side
	base, baseFits := m.BaseAmount(o.Left())
	if !fits || !baseFits {
		bourse.Impossible("order %d holds more than fits", o.ID)
	}
	return bySide(o.Side, total, base)
}

// close announces an open order's final status and frees it. The order must be in no
// queue and hold nothing.
func (e *Engine) close(m *market, s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events) {
	e.announceClosed(s, o, status, ev)
	e.unlist(m, s, o)
}

func (e *Engine) announceClosed(
	s book.Slot, o *book.Order, status bourse.OrderStatus, ev *bourse.Events,
) *bourse.Order {
	told := e.announce(bourse.EventOrderClosed, s, o, status, ev)
	e.accounts.Find(uint32(o.Account)).numberLast(ev)
	if o.ID == e.placing {
		ev.Outcome.Status, ev.Outcome.Filled = status, o.Filled
	}
	if o.Named {
		e.names.end(e, o.ID)
	}
	return told
}

// noteLevel announces the new quantity at an order's price.
func (m *market) noteLevel(o *book.Order, lots bourse.Lots, ev *bourse.Events) {
	m.levelSeq++
	l := ev.AddLevel(bourse.EventLevel)
	l.Market, l.Side, l.Price, l.Lots, l.Seq = o.Market, o.Side, o.Price, lots, m.levelSeq
}
