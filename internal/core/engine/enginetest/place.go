package enginetest

import (
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

func (x *Oracle) place(cmd *bourse.Command) {
	a := x.accountOrRefuse(cmd.Account)
	if a == nil {
		return
	}
	m := x.marketOrRefuse(cmd.NewOrder.Market)
	if m == nil || x.repeated(cmd) {
		return
	}

	x.around = m.price()
	o := &order{
		Order: bourse.Order{Account: cmd.Account, NewOrder: cmd.NewOrder, Time: x.now},
		holds: m.Held(cmd.NewOrder.Side),
	}
	if o.SelfTrade == 0 {
		o.SelfTrade = m.SelfTrade
	}
	if reason := x.admit(a, m, o); reason != 0 {
		x.ev.Reject(&bourse.Order{Account: cmd.Account, NewOrder: cmd.NewOrder, Time: x.now}, reason)
		x.nameEnded(cmd, x.ev.Outcome)
		return
	}

	x.lastOrder++
	a.orders++
	o.ID, o.Ordinal, o.Status = x.lastOrder, a.orders, bourse.Open
	m.open = append(m.open, o)
	x.nameTaken(cmd, o)
	x.tell(bourse.EventOrderAccepted, o)

	if o.Type.HasStop() {
		o.where = waiting
		if m.last != 0 && o.satisfiedAt(m.last) {
			o.where = queued
			m.queue = append(m.queue, o)
		}
	} else {
		x.work(m, o, x.worst(m, o), false)
	}

	x.drain(m)
	x.ev.Outcome = bourse.Outcome{ID: uint64(o.ID), Status: o.Status, Filled: o.Filled}
	x.nameDecided(cmd, x.ev.Outcome)
}

// admit holds the money for an order and returns zero, or returns the reason to reject
// it.
func (x *Oracle) admit(a *account, m *market, o *order) bourse.Reason {
	if a.frozen {
		return bourse.AccountFrozen
	}
	if !x.tradable(m) {
		return bourse.MarketClosed
	}
	var need *big.Int
	var reason bourse.Reason
	switch {
	case o.Type == bourse.MarketOrder:
		need, reason = x.needOfMarket(m, o)
	case o.unpriced():
		need, reason = x.needBehindStop(m, o)
	default:
		need, reason = x.needOfLimit(m, o)
	}
	if reason != 0 {
		return reason
	}
	if x.purse(o.Account, o.holds).available.Cmp(need) >= 0 && !x.mayGive(o.Account, o.holds, need) {
		return bourse.TradeLimit
	}
	if !x.hold(o, need) {
		return bourse.InsufficientFunds
	}
	return 0
}

func (x *Oracle) needOfLimit(m *market, o *order) (*big.Int, bourse.Reason) {
	if o.Price > m.MaxPrice || o.Stop > m.MaxPrice || !m.inBand(o.Price) || o.Stop > 0 && !m.inBand(o.Stop) {
		return nil, bourse.PriceOutOfRange
	}

	total, base := m.value(o.Price, o.Lots), m.base(o.Lots)
	if total.Cmp(most) > 0 || base.Cmp(most) > 0 {
		return nil, bourse.Overflow
	}
	if m.value(min(o.Price, m.price()), o.Lots).Cmp(fromAmount(m.MinOrder)) < 0 {
		return nil, bourse.BelowMinOrder
	}

	if o.Type.HasStop() || o.TIF == bourse.GTC {
		if m.openOf(o.Account) >= maxOpen {
			return nil, bourse.TooManyOrders
		}
	}
	if o.Type == bourse.Limit && o.TIF == bourse.GTC && !m.room(o.Side, o.Price, o.Lots) {
		return nil, bourse.Overflow
	}
	if best := m.best(o.Side.Opposite()); o.PostOnly && best != nil && o.accepts(best.Price, o.Price) {
		return nil, bourse.WouldTake
	}

	if o.Side == bourse.Buy {
		return total, 0
	}
	return base, 0
}

func (x *Oracle) needOfMarket(m *market, o *order) (*big.Int, bourse.Reason) {
	value := fromAmount(o.Total)
	best := m.best(o.Side.Opposite())
	if o.Lots > 0 && best != nil {
		value = m.value(min(best.Price, m.price()), o.Lots)
	}
	if value.Cmp(most) > 0 {
		return nil, bourse.Overflow
	}
	if (o.Lots == 0 || best != nil) && value.Cmp(fromAmount(m.MinOrder)) < 0 {
		return nil, bourse.BelowMinOrder
	}

	would, _ := x.would(m, o, x.worst(m, o))
	var need *big.Int
	switch {
	case o.Side == bourse.Buy && o.Lots > 0:
		need = &would.value
	case o.Side == bourse.Buy:
		need = fromAmount(o.Total)
	case o.Lots > 0:
		need = m.base(o.Lots)
	default:
		need = m.base(would.Filled)
	}
	return need, 0
}

// needBehindStop returns the hold of a stop or take profit without a price while it waits, and
// fixes the cap of a purchase of an amount.
func (x *Oracle) needBehindStop(m *market, o *order) (*big.Int, bourse.Reason) {
	if o.Stop > m.MaxPrice || !m.inBand(o.Stop) {
		return nil, bourse.PriceOutOfRange
	}

	need, worth := fromAmount(o.Total), fromAmount(o.Total)
	if o.Lots > 0 {
		need, worth = m.base(o.Lots), m.value(min(o.Stop, m.price()), o.Lots)
	}
	if o.Lots > 0 && o.Side == bourse.Buy {
		if m.Collar == 0 {
			return nil, bourse.NoCollar
		}
		from := o.Stop
		if m.last != 0 && o.satisfiedAt(m.last) {
			from = m.last
		}
		wide := times(uint64(from), uint64(m.Collar))
		wide.Quo(wide, whole(bourse.RateOne)).Add(wide, whole(uint64(from)))
		if most := whole(uint64(bourse.MaxPrice)); wide.Cmp(most) > 0 {
			wide = most
		}
		o.Price = bourse.Price(wide.Uint64())
		need = m.value(o.Price, o.Lots)
	}

	switch {
	case need.Cmp(most) > 0 || worth.Cmp(most) > 0:
		return nil, bourse.Overflow
	case worth.Cmp(fromAmount(m.MinOrder)) < 0:
		return nil, bourse.BelowMinOrder
	case m.openOf(o.Account) >= maxOpen:
		return nil, bourse.TooManyOrders
	}
	return need, 0
}

// inBand reports whether a price is at most Band times the last or the initial price, and
// at least 1/Band of one of them.
func (m *market) inBand(price bourse.Price) bool {
	if m.Band == 0 {
		return true
	}
	under, above := false, false
	for _, known := range []bourse.Price{m.price(), m.InitialPrice} {
		under = under || times(uint64(price), bourse.RateOne).Cmp(times(uint64(known), uint64(m.Band))) <= 0
		above = above || times(uint64(known), bourse.RateOne).Cmp(times(uint64(price), uint64(m.Band))) <= 0
	}
	return under && above
}

// room reports whether a level has room for more lots.
func (m *market) room(side bourse.Side, price bourse.Price, lots bourse.Lots) bool {
	for _, o := range m.open {
		if o.where == resting && o.Side == side && o.Price == price {
			lots += o.left()
			if lots > bourse.MaxLots {
				return false
			}
		}
	}
	return true
}

// worst returns the worst price at which an order may trade now; zero is any.
func (x *Oracle) worst(m *market, o *order) bourse.Price {
	if m.Collar == 0 || o.Type == bourse.Limit {
		return o.Price
	}
	wide := times(uint64(x.around), uint64(m.Collar))
	width := bourse.Price(wide.Quo(wide, whole(bourse.RateOne)).Uint64())
	bound := x.around + width
	if o.Side == bourse.Sell {
		bound = x.around - width
	}
	if o.Price != 0 && o.accepts(o.Price, bound) {
		return o.Price
	}
	return bound
}

// tell adds an event with an order.
func (x *Oracle) tell(kind bourse.EventKind, o *order) {
	*x.ev.AddOrder(kind) = o.Order
}

// end removes an order from its market.
func (x *Oracle) end(m *market, o *order, status bourse.OrderStatus) {
	if o.list != nil {
		x.endBoth(m, o, status)
		return
	}
	o.Status = status
	m.open = slices.DeleteFunc(m.open, func(p *order) bool { return p == o })
	m.queue = slices.DeleteFunc(m.queue, func(p *order) bool { return p == o })
	x.release(o, new(big.Int))
	x.tell(bourse.EventOrderClosed, o)
	x.orderEnded(o)
}

// cancel cancels one order.
func (x *Oracle) cancel(cmd *bourse.Command) {
	for _, m := range x.markets {
		for _, o := range m.open {
			if o.ID != cmd.Order || o.Account != cmd.Account {
				continue
			}
			if m.State == bourse.MarketHalted {
				x.ev.Refuse(bourse.MarketHaltedNow)
				return
			}
			x.end(m, o, bourse.Canceled)
			x.ev.Outcome = bourse.Outcome{ID: uint64(o.ID), Status: o.Status, Filled: o.Filled}
			return
		}
	}
	x.ev.Refuse(bourse.OrderNotFound)
}

func (x *Oracle) cancelAll(cmd *bourse.Command) {
	if x.accountOrRefuse(cmd.Account) == nil {
		return
	}
	if cmd.MarketID != 0 {
		m := x.marketOrRefuse(cmd.MarketID)
		if m == nil {
			return
		}
		if m.State == bourse.MarketHalted {
			x.ev.Refuse(bourse.MarketHaltedNow)
			return
		}
	}

	w := partialCancel{cmd.Account, cmd.MarketID, x.lastOrder}
	if !x.cancelSome(w) {
		x.keepPartial(w)
	}
}

func (x *Oracle) keepPartial(w partialCancel) {
	for i, old := range x.partials {
		if old.account == w.account && old.market == w.market {
			x.partials[i].upTo = max(old.upTo, w.upTo)
			return
		}
	}
	x.partials = append(x.partials, w)
}

// cancelSome cancels orders within the step budget and reports whether all are done.
func (x *Oracle) cancelSome(w partialCancel) bool {
	for _, m := range x.markets {
		if w.market != 0 && w.market != m.ID || m.openOf(w.account) == 0 {
			continue
		}
		for _, o := range slices.Clone(m.open) {
			if o.Account != w.account || o.ID > w.upTo || m.State == bourse.MarketHalted || o.Status != bourse.Open {
				continue
			}
			if x.steps == 0 {
				return false
			}
			x.steps--
			x.end(m, o, bourse.Canceled)
		}
		if m.openOf(w.account) > 0 {
			x.visit()
		}
	}
	return true
}

// visit counts a look at something where nothing is to be done.
func (x *Oracle) visit() {
	if x.visits++; x.visits%visitsInAStep == 0 && x.steps > 0 {
		x.steps--
	}
}

func (x *Oracle) resume() {
	for len(x.partials) > 0 && x.steps > 0 && x.cancelSome(x.partials[0]) {
		x.partials = x.partials[1:]
	}
	x.fireDue()
	for _, m := range x.markets {
		x.workBacklog(m)
	}
	x.setLevels()
}
