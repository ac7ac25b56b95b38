package engine

import (
	"math/bits"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// place takes or turns down a new order, and works it and what it triggers.
func (e *Engine) place(cmd *bourse.Command, ev *bourse.Events) {
	acct, m := e.account(cmd.Account), e.market(cmd.Place.Market)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case m == nil:
		ev.Refuse(bourse.UnknownMarket)
		return
	case cmd.Place.ClientID.Given() && e.repeated(cmd, ev):
		return
	case e.usedUp(m):
		ev.Refuse(bourse.TooMany)
		return
	}
	var named uint32
	if cmd.Place.ClientID.Given() {
		named = e.names.take(cmd)
	}
	e.around = m.price()
	t := taker{list: m.book.List(cmd.Account)}
	t.slot, t.order = e.newOrder(cmd, m)
	if reason := e.admit(acct, m, &t, cmd, ev); reason != 0 {
		e.arena.Free(t.slot)
		e.reject(cmd, reason, ev)
		if named != 0 {
			e.names.retire(e, named)
		}
	} else {
		e.identify(acct, &t, named, ev)
		if t.order.Type == bourse.StopLimit {
			e.wait(m, &t)
		} else {
			e.work(m, &t, ev)
		}
		if m.book.Queued() != 0 {
			e.drainQueue(m, ev)
		}
	}
	if named != 0 {
		e.names.entries[named].outcome = ev.Outcome
	}
}

// reject announces an order that was turned down.
func (e *Engine) reject(cmd *bourse.Command, reason bourse.Reason, ev *bourse.Events) {
	ev.Reject(&bourse.Order{Account: cmd.Account, Place: cmd.Place, Time: e.now}, reason)
}

// usedUp reports whether the numbers that an order may need are used up.
func (e *Engine) usedUp(m *market) bool {
	return e.lastOrder >= MaxNumber || m.trades >= MaxNumber || m.levelSeq >= MaxNumber ||
		!e.arena.Reaches(e.lastOrder+1)
}

// newOrder writes down what a command asks for.
func (e *Engine) newOrder(cmd *bourse.Command, m *market) (book.Slot, *book.Order) {
	s := e.arena.New()
	o, p := e.arena.At(s), &cmd.Place
	o.Market, o.Side, o.Type, o.TIF, o.SelfTrade, o.PostOnly = p.Market, p.Side, p.Type, p.TIF, p.SelfTrade, p.PostOnly
	o.Price, o.Stop, o.Lots, o.Filled = p.Price, p.Stop, p.Lots, 0
	o.State, o.Triggered, o.Named = book.Taking, false, p.ClientID.Given()
	if o.SelfTrade == 0 {
		o.SelfTrade = m.SelfTrade
	}
	o.Account, o.Time = cmd.Account, e.now
	return s, o
}

// admit checks an order against the rules, the book and the account's money. If
// it returns zero, what the order needs is held.
func (e *Engine) admit(acct *account, m *market, t *taker, cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	switch {
	case acct.frozen:
		return bourse.AccountFrozen
	case !m.tradable:
		return bourse.MarketClosed
	}
	var reason bourse.Reason
	if t.order.Type == bourse.MarketOrder {
		t.total = cmd.Place.Total
		reason = e.admitMarket(m, t)
	} else {
		reason = e.admitLimit(m, t)
	}
	if reason != 0 {
		return reason
	}
	if !m.held[t.order.Side].Hold(ev, cmd.Account, t.held) {
		return bourse.InsufficientFunds
	}
	return 0
}

// admitLimit checks what is special to LIMIT and STOP_LIMIT and computes the
// hold.
func (e *Engine) admitLimit(m *market, t *taker) bourse.Reason {
	o, def := t.order, m.Market
	if o.Price > def.MaxPrice || o.Stop > def.MaxPrice {
		return bourse.PriceOutOfRange
	}
	total, fits := def.Total(o.Price, o.Lots)
	base, baseFits := def.BaseAmount(o.Lots)
	if !fits || !baseFits {
		return bourse.Overflow
	}
	if total.Less(def.MinOrder) {
		return bourse.BelowMinOrder
	}
	// The bounds of the structures that it may come to rest in.
	waits, rests := o.Type == bourse.StopLimit, o.TIF == bourse.GTC
	switch {
	case (waits || rests) && t.list.Open >= MaxOpenOrders:
		return bourse.TooManyOrders
	case rests && !m.book.Side(o.Side).Room(o.Price, o.Lots),
		waits && !m.book.Stops(o.Side).Room(o.Stop, o.Lots):
		return bourse.PriceOutOfRange
	case o.PostOnly && m.crosses(o.Side, o.Price):
		return bourse.WouldTake
	}
	t.left, t.limit, t.held = o.Lots, o.Price, base
	if o.Side == bourse.Buy {
		t.held = total
	}
	return 0
}

// crosses reports whether an order of this side and price would trade.
func (m *market) crosses(side bourse.Side, price bourse.Price) bool {
	opposite := m.book.Side(side.Opposite())
	return !opposite.Empty() && opposite.Reaches(opposite.Best(), price)
}

// admitMarket checks what is special to MARKET orders and computes the hold
// from what the book would give.
func (e *Engine) admitMarket(m *market, t *taker) bourse.Reason {
	o := t.order
	if reason := checkMinMarket(m, t); reason != 0 {
		return reason
	}
	t.limit = e.collar(m, o.Side)
	q := e.quote(m, t)
	if q.overflow {
		return bourse.Overflow
	}
	t.complete = q.complete
	t.left = q.lots
	t.spends = o.Side == bourse.Buy && o.Lots == 0
	if !q.complete || t.spends {
		t.left = bourse.MaxLots // takes all it can reach, or pay
	}
	if o.Side == bourse.Buy {
		t.held = q.cost
		if t.spends {
			t.held = t.total
		}
		return 0
	}
	lots := q.lots
	if o.Lots > 0 {
		lots = o.Lots
	}
	base, fits := m.BaseAmount(lots)
	if !fits {
		return bourse.Overflow
	}
	t.held = base
	return 0
}

// checkMinMarket holds a MARKET order's total, or its value at the best price,
// against the market's least.
func checkMinMarket(m *market, t *taker) bourse.Reason {
	value := t.total
	if t.order.Lots > 0 {
		opposite := m.book.Side(t.order.Side.Opposite())
		if opposite.Empty() {
			return 0
		}
		var fits bool
		if value, fits = m.Total(opposite.Best(), t.order.Lots); !fits {
			return bourse.Overflow
		}
	}
	if value.Less(m.MinOrder) {
		return bourse.BelowMinOrder
	}
	return 0
}

// price returns the last price, or the initial one before the first trade.
func (m *market) price() bourse.Price {
	if m.last == 0 {
		return m.InitialPrice
	}
	return m.last
}

// collar returns the worst price at which MARKET orders and triggered stops of
// a side may trade, around the price when the command began; zero is any.
func (e *Engine) collar(m *market, side bourse.Side) bourse.Price {
	if m.Collar == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(e.around), uint64(m.Collar))
	width, _ := bits.Div64(hi, lo, bourse.RateOne) // Collar < RateOne, so it fits
	if side == bourse.Buy {
		return e.around + bourse.Price(width)
	}
	return e.around - bourse.Price(width)
}

// identify gives an accepted order its id and announces it. named is its entry
// among the client ids, or zero.
func (e *Engine) identify(acct *account, t *taker, named uint32, ev *bourse.Events) {
	e.lastOrder++
	acct.orders++
	o := t.order
	o.ID, o.Ordinal = e.lastOrder, acct.orders
	if named != 0 {
		e.names.byOrder[e.lastOrder] = named
	}
	e.announce(bourse.EventOrderAccepted, o, bourse.Open, ev).Total = t.total
	e.placing = o.ID
	ev.Outcome.ID, ev.Outcome.Status = uint64(o.ID), bourse.Open
}

// wait lets a new order wait for its stop.
func (e *Engine) wait(m *market, t *taker) {
	m.book.Open(&e.arena, t.slot, t.list)
	if m.last != 0 && stopReached(t.order, m.last) {
		m.book.Queue(&e.arena, t.slot)
	} else {
		m.book.Wait(&e.arena, t.slot)
	}
}

// stopReached reports whether a trade at this price satisfies the order's stop.
func stopReached(o *book.Order, price bourse.Price) bool {
	if o.Side == bourse.Buy {
		return price >= o.Stop
	}
	return price <= o.Stop
}

// announce adds an event that tells an order to the outside, and returns what it
// tells: the total of a MARKET order is not known here.
func (e *Engine) announce(kind bourse.EventKind, in *book.Order, status bourse.OrderStatus, ev *bourse.Events) *bourse.Order {
	o := ev.AddOrder(kind)
	o.Market, o.Side, o.Type, o.TIF, o.SelfTrade, o.PostOnly = in.Market, in.Side, in.Type, in.TIF, in.SelfTrade, in.PostOnly
	o.ID, o.Account, o.Status, o.Triggered = in.ID, in.Account, status, in.Triggered
	o.Ordinal, o.Time, o.Filled = in.Ordinal, in.Time, in.Filled
	o.Price, o.Stop, o.Lots, o.Total = in.Price, in.Stop, in.Lots, bourse.Amount{}
	if in.Named || o.ClientID.Given() {
		o.ClientID = e.names.of(in)
	}
	return o
}
