package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// placeBehindStop admits an order that waits for its stop and then trades without a price. It
// holds what its side spends from now on: a SELL its amount, a BUY by total its total, and a
// BUY by amount the amount at its cap.
func (e *Engine) placeBehindStop(
	acct *account, m *market, cmd *bourse.Command, named uint32, ev *bourse.Events,
) bourse.Reason {
	list := m.book.List(cmd.Account)
	limit, held, reason := m.admitBehindStop(list, &cmd.NewOrder)
	switch {
	case reason != 0:
		return reason
	case e.tiers.trades && !e.mayGive(cmd.Account, m.Held(cmd.NewOrder.Side), held):
		return bourse.TradeLimit
	case !m.held[cmd.NewOrder.Side].Hold(ev, cmd.Account, held):
		return bourse.InsufficientFunds
	}

	capped := *cmd
	capped.NewOrder.Price = limit
	s, o := e.accept(acct, m, &capped, named, ev)
	e.wait(m, &taker{slot: s, order: o, list: list})
	return 0
}

// admitBehindStop makes the checks of orders without a price that have a stop, and returns
// the cap, zero for none, and the hold.
func (m *market) admitBehindStop(list *book.List, p *bourse.NewOrder) (bourse.Price, bourse.Amount, bourse.Reason) {
	var limit bourse.Price
	capped := needsCap(p)
	switch {
	case p.Stop > m.MaxPrice, m.Band != 0 && !m.InBand(p.Stop, m.price()):
		return 0, bourse.Amount{}, bourse.PriceOutOfRange
	case capped && m.Collar == 0:
		return 0, bourse.Amount{}, bourse.NoCollar
	case capped:
		limit = m.capOf(p)
	}

	spent, fits := m.Total(limit, p.Lots)
	base, baseFits := m.BaseAmount(p.Lots)
	value, valueFits := m.Total(min(p.Stop, m.price()), p.Lots)
	if p.Lots == 0 {
		spent, value = p.Total, p.Total
	}
	switch {
	case !fits || !baseFits || !valueFits:
		return 0, bourse.Amount{}, bourse.Overflow
	case value.Less(m.MinOrder):
		return 0, bourse.Amount{}, bourse.BelowMinOrder
	case list.Open >= MaxOpenOrders:
		return 0, bourse.Amount{}, bourse.TooManyOrders
	}
	return limit, bySide(p.Side, spent, base), 0
}

// needsCap reports whether the cost of an order behind a stop has no bound but a cap: that of
// a BUY by amount that names no price.
func needsCap(p *bourse.NewOrder) bool {
	return p.Type.HasStop() && !p.Type.HasPrice() && p.Side == bourse.Buy && p.Lots > 0
}

// capOf returns the worst price of a BUY behind a stop: the collar around the price that
// triggers it, which is its stop, or the last price if that has reached the stop already.
// The market must have a collar.
func (m *market) capOf(p *bourse.NewOrder) bourse.Price {
	around := p.Stop
	if m.last != 0 && p.Type.Fires(p.Side, p.Stop, m.last) {
		around = m.last
	}
	return min(m.bound(around, p.Side), bourse.MaxPrice) // no order rests beyond MaxPrice
}
