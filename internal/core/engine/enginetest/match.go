package enginetest

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

func (m *market) value(price bourse.Price, lots bourse.Lots) *big.Int {
	return times(uint64(price), uint64(lots), m.TotalUnit)
}

func (m *market) base(lots bourse.Lots) *big.Int { return times(uint64(lots), m.LotUnit) }

func (m *market) price() bourse.Price {
	if m.last == 0 {
		return m.InitialPrice
	}
	return m.last
}

func (m *market) openOf(account bourse.AccountID) (n int) {
	for _, o := range m.open {
		if o.Account == account {
			n++
		}
	}
	return n
}

func (x *Oracle) tradable(m *market) bool {
	return m.State == bourse.MarketOpen && m.Enabled && x.assets[m.Base-1].Enabled && x.assets[m.Quote-1].Enabled
}

func (o *order) left() bourse.Lots { return o.Lots - o.Filled - o.Prevented }

// accepts reports whether a price is within a bound for this order. Zero is no bound.
func (o *order) accepts(price, bound bourse.Price) bool {
	if bound == 0 {
		return true
	}
	if o.Side == bourse.Buy {
		return price <= bound
	}
	return price >= bound
}

// satisfiedAt reports whether a trade at a price triggers a waiting order: it goes against
// the order's side as far as the stop, or with it for a take profit.
func (o *order) satisfiedAt(price bourse.Price) bool {
	switch {
	case price == o.Stop:
		return true
	case o.Type == bourse.TakeProfitLimit || o.Type == bourse.TakeProfitMarket:
		return o.Side == bourse.Buy && price < o.Stop || o.Side == bourse.Sell && price > o.Stop
	default:
		return o.Side == bourse.Buy && price > o.Stop || o.Side == bourse.Sell && price < o.Stop
	}
}

// unpriced reports whether an order trades without a price of its own.
func (o *order) unpriced() bool {
	switch o.Type {
	case bourse.MarketOrder, bourse.StopMarket, bourse.TakeProfitMarket:
		return true
	default:
		return false
	}
}

// before reports whether a resting order trades before another of its side.
func (o *order) before(p *order) bool {
	if o.Price != p.Price {
		return (o.Price > p.Price) == (o.Side == bourse.Buy)
	}
	return o.arrival < p.arrival
}

// best returns the first resting order of a side, or nil.
func (m *market) best(side bourse.Side) (best *order) {
	for _, o := range m.open {
		if o.where == resting && o.Side == side && (best == nil || o.before(best)) {
			best = o
		}
	}
	return best
}

// rested returns a side's resting orders, best first.
func (m *market) rested(side bourse.Side) []*order {
	var list []*order
	for _, o := range m.open {
		if o.where == resting && o.Side == side {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *order) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return list
}

// wants returns the lots that an order would take at a price with unbounded supply.
func (m *market) wants(o *order, price bourse.Price) bourse.Lots {
	if o.Lots > 0 {
		return o.left()
	}
	owed := new(big.Int).Sub(fromAmount(o.Total), &o.value)
	owed.Sub(owed, &o.lost)
	if owed.Sign() <= 0 {
		return 0
	}
	n, rest := new(big.Int).QuoRem(owed, m.value(price, 1), new(big.Int))
	if o.Side == bourse.Sell && rest.Sign() > 0 {
		n.Add(n, whole(1))
	}
	if room := bourse.MaxLots - o.Filled - o.Prevented; n.Cmp(whole(uint64(room))) > 0 {
		return room
	}
	return bourse.Lots(n.Uint64())
}

// has reports whether an order is filled, given the next price of the other side; zero
// means that the other side is used up.
func (m *market) has(o *order, next bourse.Price) bool {
	switch {
	case o.Lots > 0:
		return o.left() == 0
	case o.Side == bourse.Sell:
		return m.wants(o, 1) == 0
	case o.Filled == 0:
		return false
	case next == 0:
		next = o.lastPrice
	}
	return m.wants(o, next) == 0
}

// would returns a copy of the order as if it had traded with the current book, and
// whether it would be filled.
func (x *Oracle) would(m *market, o *order, limit bourse.Price) (*order, bool) {
	would := &order{Order: o.Order}
	would.value.Set(&o.value)
	would.lost.Set(&o.lost)
	for _, maker := range m.rested(o.Side.Opposite()) {
		want := m.wants(would, maker.Price)
		if want == 0 || !o.accepts(maker.Price, limit) {
			return would, m.has(would, maker.Price)
		}
		if maker.Account == o.Account && o.SelfTrade != bourse.SelfTradeNone {
			if o.SelfTrade == bourse.Decrement && o.TIF != bourse.FOK {
				m.lose(would, maker.Price, min(want, maker.left()))
			} else if o.SelfTrade != bourse.CancelOldest {
				return would, false
			}
			continue
		}
		lots := min(want, maker.left())
		would.Filled += lots
		would.value.Add(&would.value, m.value(maker.Price, lots))
		would.lastPrice = maker.Price
	}
	return would, m.has(would, 0)
}

// work trades an order with the book within its terms and the limit, then rests or ends
// it. A frozen order trades nothing.
func (x *Oracle) work(m *market, o *order, limit bourse.Price, frozen bool) {

	o.where = taking
	prevented := o.Prevented
	may := !frozen
	if o.TIF == bourse.FOK && may {
		_, may = x.would(m, o, limit)
	}
	stopped := frozen || may && x.match(m, o, limit)

	next := bourse.Price(0)
	if best := m.best(o.Side.Opposite()); best != nil {
		next = best.Price
	}

	switch {
	case may && !stopped && m.has(o, next):
		x.end(m, o, bourse.Filled)
	case !stopped && x.rests(m, o, next):
		x.arrivals++
		o.where, o.arrival = resting, x.arrivals
		if o.Prevented != prevented {
			x.tell(bourse.EventOrderPrevented, o)
		}
	default:
		x.end(m, o, bourse.Killed)
	}
}

// rests reports whether the remainder of an order may rest. next is the other side's best
// price.
func (x *Oracle) rests(m *market, o *order, next bourse.Price) bool {
	if o.unpriced() || o.TIF != bourse.GTC {
		return false
	}
	if o.Type == bourse.Limit {
		return true
	}
	crosses := next != 0 && o.accepts(next, o.Price)
	return !crosses && m.room(o.Side, o.Price, o.left())
}

// match trades an order with the book and reports whether self-trade prevention stopped
// it.
func (x *Oracle) match(m *market, o *order, limit bourse.Price) bool {
	for {
		maker := m.best(o.Side.Opposite())
		if maker == nil || !o.accepts(maker.Price, limit) {
			return false
		}
		want := m.wants(o, maker.Price)
		if want == 0 {
			return false
		}
		if maker.Account == o.Account && o.SelfTrade != bourse.SelfTradeNone {
			if x.prevent(m, o, maker, want) {
				return true
			}
			continue
		}
		x.trade(m, o, maker, min(want, maker.left()))
	}
}

// trade matches two orders.
func (x *Oracle) trade(m *market, taker, maker *order, lots bourse.Lots) {
	x.act(m, maker)
	x.act(m, taker)
	m.trades++
	m.last = maker.Price
	value, base := m.value(maker.Price, lots), m.base(lots)
	taker.Filled += lots
	taker.value.Add(&taker.value, value)
	taker.lastPrice = maker.Price
	maker.Filled += lots

	ofMaker, ofTaker := x.accounts[maker.Account-1], x.accounts[taker.Account-1]
	makerRate, _ := x.rates(m, ofMaker)
	_, takerRate := x.rates(m, ofTaker)
	paid, got := value, base // the taker's payment and proceeds
	if taker.Side == bourse.Sell {
		paid, got = base, value
	}
	makerFee, takerFee := feeOn(makerRate, paid), feeOn(takerRate, got)
	x.pay(taker, maker.Account, paid, makerFee)
	x.pay(maker, taker.Account, got, takerFee)
	if taker.Side == bourse.Buy && taker.Price > 0 { // its own price, or its cap
		x.release(taker, m.value(taker.Price, taker.left()))
	}

	tr := bourse.Trade{
		Market: m.ID, TakerSide: taker.Side, Number: m.trades, Price: maker.Price, Lots: lots, Total: toAmount(value),
	}
	ofMaker.fills++
	tr.Maker = bourse.Fill{
		Order: maker.ID, Account: maker.Account, Ordinal: ofMaker.fills, Filled: maker.Filled,
		Fee: toAmount(makerFee),
	}
	ofTaker.fills++
	tr.Taker = bourse.Fill{
		Order: taker.ID, Account: taker.Account, Ordinal: ofTaker.fills, Filled: taker.Filled,
		Fee: toAmount(takerFee),
	}
	*x.ev.AddTrade() = tr
	x.countVolume(m, value, base, payer{ofMaker, makerFee}, payer{ofTaker, takerFee})
	buyer, seller := taker, maker
	if taker.Side == bourse.Sell {
		buyer, seller = maker, taker
	}
	x.count(flowOf{buyer.Account, m.Quote, bourse.FlowTrade}, value)
	x.count(flowOf{seller.Account, m.Base, bourse.FlowTrade}, base)
	if maker.left() == 0 {
		x.end(m, maker, bourse.Filled)
	}
	for _, o := range m.open { // by id, the order of acceptance
		if o.where == waiting && o.satisfiedAt(m.last) {
			o.where = queued
			m.queue = append(m.queue, o)
		}
	}
}

// drain works the triggered stops, first in, first out.
func (x *Oracle) drain(m *market) {
	for len(m.queue) > 0 && x.steps > 0 && x.tradable(m) {
		x.steps--
		o := m.queue[0]
		m.queue = m.queue[1:]
		o.where, o.Triggered = taking, true
		x.act(m, o)
		x.tell(bourse.EventOrderTriggered, o)
		x.work(m, o, x.worst(m, o), x.accounts[o.Account-1].frozen)
	}
}

// Depth returns the levels of a side of a market, best first, without the number of the
// level change.
func (x *Oracle) Depth(id bourse.MarketID, side bourse.Side) []bourse.Level {
	var levels []bourse.Level
	for _, o := range x.markets[id-1].rested(side) {
		if n := len(levels); n > 0 && levels[n-1].Price == o.Price {
			levels[n-1].Lots += o.left()
		} else {
			levels = append(levels, bourse.Level{Market: id, Side: side, Price: o.Price, Lots: o.left()})
		}
	}
	return levels
}

// OpenOrders returns all open orders, by id.
func (x *Oracle) OpenOrders() []bourse.Order {
	var list []bourse.Order
	for _, m := range x.markets {
		for _, o := range m.open {
			list = append(list, o.Order)
		}
	}
	slices.SortFunc(list, func(a, b bourse.Order) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Unfinished reports whether work is left for a Continue.
func (x *Oracle) Unfinished() bool {
	for _, m := range x.markets {
		if len(m.queue) > 0 && x.tradable(m) || m.State == bourse.MarketDelisted && len(m.open) > 0 {
			return true
		}
	}
	return len(x.partials) > 0 || x.nextDue() >= 0 || x.pass != 0 || x.due()
}
