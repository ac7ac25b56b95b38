package enginetest

import (
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// prevent keeps an order that wants lots from a trade with one of its own account, as its mode
// says, and reports whether it ends the order.
func (x *Oracle) prevent(m *market, taker, maker *order, want bourse.Lots) bool {
	price, rest, trade := maker.Price, maker.left(), min(want, maker.left())
	makerEnds, takerEnds := false, false
	switch taker.SelfTrade {
	case bourse.CancelNewest:
		takerEnds = true
	case bourse.CancelOldest:
		makerEnds = true
	case bourse.CancelBoth:
		makerEnds, takerEnds = true, true
	case bourse.Decrement:
		makerEnds, takerEnds = rest == trade, want == trade
	case bourse.SelfTradeNone:
	}

	switch {
	case makerEnds:
		maker.Prevented += rest
		x.end(m, maker, bourse.Killed)
	case taker.SelfTrade == bourse.Decrement:
		x.decrement(m, maker, price, trade)
		x.tell(bourse.EventOrderPrevented, maker)
	}
	switch {
	case takerEnds:
		taker.Prevented += want
	case taker.SelfTrade == bourse.Decrement:
		x.decrement(m, taker, price, trade)
	}
	return takerEnds
}

// lose takes lots off an order that would have traded them at a price.
func (m *market) lose(o *order, price bourse.Price, lots bourse.Lots) {
	o.Prevented += lots
	if o.Lots == 0 {
		o.lost.Add(&o.lost, m.value(price, lots))
		o.lastPrice = price
	}
}

// decrement takes lots off an open order that has more, and releases their hold.
func (x *Oracle) decrement(m *market, o *order, price bourse.Price, lots bourse.Lots) {
	m.lose(o, price, lots)

	keep := new(big.Int).Set(&o.held)
	switch {
	case o.Side == bourse.Sell && o.Lots > 0:
		keep = m.base(o.left())
	case o.Side == bourse.Buy && o.Price > 0:
		keep = m.value(o.Price, o.left())
	case o.Side == bourse.Buy && o.Lots == 0:
		keep.Sub(keep, m.value(price, lots))
	}
	if o.list != nil {
		x.amendListed(o, keep)
	} else {
		x.release(o, keep)
	}
}
