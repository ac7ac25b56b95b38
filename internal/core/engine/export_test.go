package engine

import "github.com/bourse-exchange/bourse"

// UseUp moves a market's numbers and the order ids near their end.
func (e *Engine) UseUp(id bourse.MarketID, lastOrder bourse.OrderID, trades, levels uint64) {
	m := e.market(id)
	e.lastOrder, m.trades, m.levelSeq = lastOrder, trades, levels
	if trades > 0 {
		m.last = 100
	}
	for a := bourse.AccountID(1); a <= e.lastAccount; a++ {
		e.account(a).orders = uint64(lastOrder)
	}
}
