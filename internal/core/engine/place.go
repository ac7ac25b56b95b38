package engine

import (
	"math/bits"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// place accepts or rejects a new order, and works it and the stops that it triggers.
// Nearly all orders are limits that rest at once. This function is their straight path,
// with each lookup done once; rare cases leave it by a call:
//
//	account, market   find the account, its market and its open orders there
//	admit             check numbers, states and the rules of a limit; compute the hold
//	Hold              hold the money
//	accept            allot an id and a slot, and announce the order
//	Open, Rest        index it by id and account, and append it to its price's queue
//
// Orders without a price leave the path after the checks that all orders share: the hold of a
// MARKET order depends on the book, and that of one behind a stop on the collar. Stops,
// takers and orders that may not rest leave it once accepted.
func (e *Engine) place(cmd *bourse.Command, ev *bourse.Events) {
	p := &cmd.NewOrder
	acct, m := e.account(cmd.Account), e.market(p.Market)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case m == nil:
		ev.Refuse(bourse.UnknownMarket)
		return
	case !p.ClientID.IsZero() && e.repeated(cmd, ev):
		return
	case e.usedUp(m):
		ev.Refuse(bourse.TooMany)
		return
	}

	var named uint32
	if !p.ClientID.IsZero() {
		named = e.names.take(cmd)
	}

	e.around = m.price()
	list := m.book.Listed(cmd.Account)
	if list == nil {
		list = m.book.List(cmd.Account)
	}

	held, reason := m.admit(acct, list, p)
	switch {
	case reason != 0:
	case !p.Type.HasPrice():
		reason = e.placeUnpriced(acct, m, cmd, named, ev)
	case e.tiers.trades && !e.mayGive(cmd.Account, m.Held(p.Side), held):
		reason = bourse.TradeLimit
	case !m.held[p.Side].Hold(ev, cmd.Account, held):
		reason = bourse.InsufficientFunds
	default:
		s, o := e.accept(acct, m, cmd, named, ev)
		if p.Type == bourse.Limit && p.TIF == bourse.GTC && !m.crosses(p.Side, p.Price) {
			e.list(m, s, o, list)
			m.noteLevel(o, m.book.Rest(&e.arena, s, o), ev)
		} else {
			e.enter(m, &taker{slot: s, order: o, list: list, left: p.Lots, limit: p.Price, held: held}, ev)
		}
	}

	if reason != 0 {
		e.turnDown(cmd, named, reason, ev)
	} else if m.book.Queued() != 0 {
		e.drainQueue(m, ev)
	}
	if named != 0 && reason == 0 {
		e.names.entries[named].outcome = ev.Outcome
	}
}

// turnDown rejects an order. Its client id, if any, stays taken.
//
//go:noinline
func (e *Engine) turnDown(cmd *bourse.Command, named uint32, reason bourse.Reason, ev *bourse.Events) {
	e.reject(cmd, reason, ev)
	if named != 0 {
		e.names.entries[named].outcome = ev.Outcome
		e.names.retire(e, named)
	}
}

// reject announces a rejected order.
func (e *Engine) reject(cmd *bourse.Command, reason bourse.Reason, ev *bourse.Events) {
	ev.Reject(&bourse.Order{Account: cmd.Account, NewOrder: cmd.NewOrder, Time: e.now}, reason)
	e.accounts.At(uint32(cmd.Account)).numberLast(ev)
}

// usedUp reports whether a number that an order may need has reached MaxNumber. As
// MaxNumber is a power of two, three numbers are below it if their bitwise or is.
func (e *Engine) usedUp(m *market) bool {
	return uint64(e.lastOrder)|m.trades|m.levelSeq >= MaxNumber || !e.arena.Reaches(e.lastOrder+1)
}

// admit checks an order against the account, the rules and the book, and returns its
// hold. The checks of orders without a price are in admitMarket and admitBehindStop.
func (m *market) admit(acct *account, list *book.List, p *bourse.NewOrder) (bourse.Amount, bourse.Reason) {
	switch {
	case acct.frozen:
		return bourse.Amount{}, bourse.AccountFrozen
	case !m.tradable:
		return bourse.Amount{}, bourse.MarketClosed
	case !p.Type.HasPrice():
		return bourse.Amount{}, 0
	case p.Price > m.MaxPrice || p.Stop > m.MaxPrice, m.Band != 0 && !m.inBand(p):
		return bourse.Amount{}, bourse.PriceOutOfRange
	}

	total, fits := m.Total(p.Price, p.Lots)
	base, baseFits := m.BaseAmount(p.Lots)
	waits, rests := p.Type.HasStop(), p.TIF == bourse.GTC
	switch {
	case !fits || !baseFits:
		return bourse.Amount{}, bourse.Overflow
	case !m.MinOrder.IsZero() && m.worth(p.Price, p.Lots).Less(m.MinOrder):
		return bourse.Amount{}, bourse.BelowMinOrder
	case (waits || rests) && list.Open >= MaxOpenOrders:
		return bourse.Amount{}, bourse.TooManyOrders
	case rests && !waits && !m.book.Side(p.Side).Room(p.Price, p.Lots):
		return bourse.Amount{}, bourse.Overflow
	case p.PostOnly && m.crosses(p.Side, p.Price):
		return bourse.Amount{}, bourse.WouldTake
	}
	return bySide(p.Side, total, base), 0
}

// inBand reports whether an order's price, and its stop if any, lie in the market's band
// around the last price and the initial one.
//
//go:noinline
func (m *market) inBand(p *bourse.NewOrder) bool {
	return m.InBand(p.Price, m.price()) && (!p.Type.HasStop() || m.InBand(p.Stop, m.price()))
}

// worth returns the value of an order for the minimum. The total at its price must fit. A
// price above the last one counts as the last one, so that a far price does not inflate a
// tiny order.
func (m *market) worth(price bourse.Price, lots bourse.Lots) bourse.Amount {
	total, _ := m.Total(min(price, m.price()), lots)
	return total
}

// bySide returns one of two amounts without a branch, because the side of the next order
// is unpredictable.
func bySide(side bourse.Side, buy, sell bourse.Amount) bourse.Amount {
	keep := -uint64(side - bourse.Buy) // no bits for Buy, all for Sell
	return bourse.Amount{
		Hi: buy.Hi ^ (buy.Hi^sell.Hi)&keep,
		Lo: buy.Lo ^ (buy.Lo^sell.Lo)&keep,
	}
}

// accept allots an id and a slot to an order whose hold is taken, and announces it.
func (e *Engine) accept(
	acct *account, m *market, cmd *bourse.Command, named uint32, ev *bourse.Events,
) (book.Slot, *book.Order) {
	e.lastOrder++
	acct.orders++
	p, mode := &cmd.NewOrder, m.selfTrade(&cmd.NewOrder)
	s, o := e.arena.New()
	o.Market, o.Side, o.Type, o.TIF, o.SelfTrade, o.PostOnly = p.Market, p.Side, p.Type, p.TIF, mode, p.PostOnly
	o.Price, o.Lots, o.Filled = p.Price, p.Lots, 0
	o.State, o.Triggered, o.Named, o.Changed, o.Listed = book.Taking, false, named != 0, 0, false
	o.ID, o.Ordinal, o.Account, o.Time = e.lastOrder, acct.orders, cmd.Account, e.now
	if p.Type.HasStop() {
		*e.arena.Stop(s) = book.Stop{Price: p.Stop, Total: p.Total}
	}
	if named != 0 {
		e.names.byOrder[o.ID] = named
	}
	e.placing = o.ID

	told := ev.AddOrder(bourse.EventOrderAccepted)
	acct.numberLast(ev)
	told.NewOrder = *p
	told.SelfTrade = mode
	told.ID, told.Ordinal, told.Account, told.Time = o.ID, o.Ordinal, o.Account, o.Time
	told.Status, told.Triggered, told.Amended, told.List = bourse.Open, false, false, 0
	told.Filled, told.Prevented = 0, 0
	ev.Outcome = bourse.Outcome{ID: uint64(o.ID), Status: bourse.Open}
	return s, o
}

// selfTrade returns the mode of an order: its own or the market's.
func (m *market) selfTrade(p *bourse.NewOrder) bourse.SelfTradeMode {
	if p.SelfTrade != 0 {
		return p.SelfTrade
	}
	return m.SelfTrade
}

// enter puts an accepted order to wait for its stop, or works it.
//
//go:noinline
func (e *Engine) enter(m *market, t *taker, ev *bourse.Events) {
	if t.order.Type.HasStop() {
		e.wait(m, t)
	} else {
		e.work(m, t, ev)
	}
}

// crosses reports whether an order of this side and price would trade.
func (m *market) crosses(side bourse.Side, price bourse.Price) bool {
	return m.book.Side(side.Opposite()).Within(price)
}

// placeUnpriced admits an order without a price, and works it or lets it wait.
//
//go:noinline
func (e *Engine) placeUnpriced(
	acct *account, m *market, cmd *bourse.Command, named uint32, ev *bourse.Events,
) bourse.Reason {
	if cmd.NewOrder.Type.HasStop() {
		return e.placeBehindStop(acct, m, cmd, named, ev)
	}
	return e.placeMarket(acct, m, cmd, named, ev)
}

// placeMarket admits and works a MARKET order.
func (e *Engine) placeMarket(
	acct *account, m *market, cmd *bourse.Command, named uint32, ev *bourse.Events,
) bourse.Reason {
	p := &cmd.NewOrder
	asked := book.Order{Account: cmd.Account, Side: p.Side, TIF: p.TIF, SelfTrade: m.selfTrade(p), Lots: p.Lots}
	t := taker{order: &asked, total: p.Total}
	if reason := e.admitMarket(m, &t); reason != 0 {
		return reason
	}

	if e.tiers.trades && !e.mayGive(cmd.Account, m.Held(p.Side), t.held) {
		return bourse.TradeLimit
	}
	if !m.held[p.Side].Hold(ev, cmd.Account, t.held) {
		return bourse.InsufficientFunds
	}

	t.slot, t.order = e.accept(acct, m, cmd, named, ev)
	t.list = m.book.List(cmd.Account)
	e.work(m, &t, ev)
	return 0
}

// admitMarket makes the checks of MARKET orders alone and computes the hold. If the hold
// depends on the book, the book is walked as far as the account can pay; if it does not,
// and the order may be filled in part, the book is not walked at all.
func (e *Engine) admitMarket(m *market, t *taker) bourse.Reason {
	o := t.order
	if reason := checkMinMarket(m, t); reason != 0 {
		return reason
	}

	t.limit = e.collar(m, o.Side)
	byLots, buys := o.Lots > 0, o.Side == bourse.Buy
	t.left = bourse.MaxLots // bounded by the book and the hold
	if byLots {
		t.left = o.Lots
	}
	switch {
	case byLots && !buys:
		t.held, _ = m.BaseAmount(o.Lots) // always fits
	case !byLots && buys:
		t.held, t.spends = t.total, true
	}

	available := m.held[o.Side].Available(o.Account)
	if available.Less(t.held) {
		return bourse.InsufficientFunds
	}
	asksBook := byLots == buys
	if !asksBook && o.TIF != bourse.FOK {
		return 0
	}

	q := e.quote(m, t, available)
	if q.beyond {
		return bourse.InsufficientFunds
	}
	t.complete = q.complete
	if asksBook {
		t.held = q.hold
	}
	if asksBook && !buys && (q.complete || q.stuck > 0) {
		t.left = q.lots + q.lost + q.stuck
	}
	return 0
}

// checkMinMarket checks a MARKET order's total, or its value at the best price, against
// the market's minimum.
func checkMinMarket(m *market, t *taker) bourse.Reason {
	value := t.total
	if t.order.Lots > 0 {
		opposite := m.book.Side(t.order.Side.Opposite())
		if opposite.Empty() {
			return 0
		}
		var fits bool
		if value, fits = m.Total(min(opposite.Best(), m.price()), t.order.Lots); !fits {
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

// collar returns the worst price at which MARKET orders and triggered stops of a side may
// trade, measured from the price at the start of the command; zero is any.
func (e *Engine) collar(m *market, side bourse.Side) bourse.Price {
	if m.Collar == 0 {
		return 0
	}
	return m.bound(e.around, side)
}

// bound returns the worst price of a side within the market's collar around a price.
func (m *market) bound(around bourse.Price, side bourse.Side) bourse.Price {
	hi, lo := bits.Mul64(uint64(around), uint64(m.Collar))
	width, _ := bits.Div64(hi, lo, bourse.RateOne) // fits because Collar < RateOne
	if side == bourse.Buy {
		return around + bourse.Price(width)
	}
	return around - bourse.Price(width)
}

// list adds a new order to the open orders of its account in the market.
func (e *Engine) list(m *market, s book.Slot, o *book.Order, list *book.List) {
	if list.Open == 0 {
		e.accounts.At(uint32(o.Account)).enter(m.ID)
	}
	m.book.Open(&e.arena, s, o, list)
}

// unlist removes an order that is in no queue from the open orders of its account, and
// frees it.
func (e *Engine) unlist(m *market, s book.Slot, o *book.Order) {
	account := o.Account
	if m.book.Close(&e.arena, s, o) {
		e.accounts.At(uint32(account)).leave(m.ID)
	}
}

// enter notes that the account has open orders in a market. Accounts that trade in one
// market search nothing.
func (a *account) enter(m bourse.MarketID) {
	if n := len(a.markets); n == 0 || a.markets[n-1] < m {
		a.markets = append(a.markets, m)
		return
	}
	at, _ := slices.BinarySearch(a.markets, m)
	a.markets = slices.Insert(a.markets, at, m)
}

// leave notes that the account has no more open orders in a market.
func (a *account) leave(m bourse.MarketID) {
	if last := len(a.markets) - 1; a.markets[last] == m {
		a.markets = a.markets[:last]
		return
	}
	at, _ := slices.BinarySearch(a.markets, m)
	a.markets = slices.Delete(a.markets, at, at+1)
}

// wait puts a new order to wait for its stop.
func (e *Engine) wait(m *market, t *taker) {
	e.chargeWait(t.order, t.list)
	e.list(m, t.slot, t.order, t.list)
	m.await(&e.arena, t.slot, t.order)
}

// chargeWait charges a FOK order with a stop for the walk over its account's own orders when
// it triggers.
func (e *Engine) chargeWait(o *book.Order, list *book.List) {
	if o.TIF == bourse.FOK {
		e.walked += int(list.Open)
	}
}

// await puts an order into the trigger queue if the last price satisfies its stop, or to wait.
func (m *market) await(a *book.Arena, s book.Slot, o *book.Order) {
	if m.last != 0 && o.Type.Fires(o.Side, a.Stop(s).Price, m.last) {
		m.book.Queue(a, s)
	} else {
		m.book.Wait(a, s, o)
	}
}

// stop returns the fields of an order's stop, all zero if it has none.
func (e *Engine) stop(s book.Slot, o *book.Order) book.Stop {
	if !o.Type.HasStop() {
		return book.Stop{}
	}
	return *e.arena.Stop(s)
}

// listOf returns the id of an order's list, zero if it has none.
func (e *Engine) listOf(s book.Slot, o *book.Order) bourse.OrderID {
	if !o.Listed {
		return 0
	}
	return e.arena.Leg(s).List
}

// announce adds an event with an order and returns the event's copy, for the caller to
// set the total of a MARKET order, which is unknown here.
func (e *Engine) announce(
	kind bourse.EventKind, s book.Slot, in *book.Order, status bourse.OrderStatus, ev *bourse.Events,
) *bourse.Order {
	o := ev.AddOrder(kind)
	o.Market, o.Side, o.Type, o.TIF, o.SelfTrade, o.PostOnly =
		in.Market, in.Side, in.Type, in.TIF, in.SelfTrade, in.PostOnly
	o.ID, o.Account, o.Status, o.Triggered = in.ID, in.Account, status, in.Triggered
	o.Amended, o.Prevented = in.Changed.Has(book.Amended), e.arena.Prevented(s)
	o.Ordinal, o.Time, o.Filled, o.List = in.Ordinal, in.Time, in.Filled, e.listOf(s, in)
	stop := e.stop(s, in)
	o.Price, o.Stop, o.Lots, o.Total = in.Price, stop.Price, e.termsOf(s, in).Lots, stop.Total
	if in.Named || !o.ClientID.IsZero() {
		o.ClientID = e.names.of(in)
	}
	return o
}
