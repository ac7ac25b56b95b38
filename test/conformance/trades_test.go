package conformance

import "testing"

var tradesChecks = []check{tradesNeed, tradeRows, takerSide, oneRowForEach}

func TestTrades(t *testing.T) { examine(t, tradesChecks) }

func tradesNeed(x *exam) {
	x.covers("SPOT-TRD-1")
	x.fails(x.post("/trades", fields{"offset": 0}), "Missing data: pair")
	x.fails(x.post("/trades", fields{"pair": "BTC/USDT"}), "Missing data: offset")
}

func tradeRows(x *exam) {
	x.covers("SPOT-TRD-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10.5", "1.5")
	got := x.post("/trades", fields{"pair": m.pair, "offset": 0}).value
	rows := got.get("trades")
	rows.items = rows.items[:min(1, len(rows.items))]
	x.golden(got, "trades")
}

func takerSide(x *exam) {
	x.covers("SPOT-TRD-3")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	b.buy(m, "9", "1")
	a.sell(m, "9", "1")
	x.same("sides", x.trades(m).column("side")[:2], "SELL", "BUY")
}

func oneRowForEach(x *exam) {
	x.covers("SPOT-TRD-4")
	m := x.market()
	a, b := x.traders(m)
	before := len(x.trades(m).items)
	a.sell(m, "10", "1")
	a.sell(m, "10", "2")
	a.sell(m, "11", "4")
	b.buy(m, "11", "5")
	rows := x.trades(m)
	x.same("amounts", rows.column("amount")[:3], "2", "2", "1")
	x.same("prices", rows.column("price")[:3], "11", "10", "10")
	if n := len(rows.items); n != min(50, before+3) {
		x.Errorf("%d rows after %d", n, before)
	}
}
