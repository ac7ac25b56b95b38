package conformance

import (
	"strconv"
	"testing"
)

var tradesChecks = []check{tradesNeed, tradeRows, takerSide, oneRowForEach, tradesAreNumbered, oneTradeEverywhere}

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

func tradesAreNumbered(x *exam) {
	x.covers("SPOT-TRD-5")
	m := x.market()
	a, b := x.traders(m)
	for i := range 3 {
		a.sell(m, strconv.Itoa(10+i), "1")
	}
	b.buy(m, "12", "3")
	x.trade(m, a, b, "10", "1")
	ids := x.trades(m).column("trade_id")
	last := seconds(ids[0])
	for i, id := range ids[:4] {
		x.equal("trade_id", id, strconv.FormatInt(last-int64(i), 10))
	}
}

// oneTradeEverywhere finds a trade by its trade_id in all places that list it.
func oneTradeEverywhere(x *exam) {
	x.covers("SPOT-TRD-6")
	m := x.market()
	a, b := x.traders(m)
	public, seller, buyer := x.connect(), a.private(), b.private()
	public.sub(m.pair + "@marketTrade")
	sold, bought := x.trade(m, a, b, "10.5", "1.5")

	id := x.trades(m).column("trade_id")[0]
	x.equal("trade_id of marketTrade", first(public.fence()).get("trade_id").text, id)
	for _, own := range []struct {
		*account
		*socket
		order string
	}{{a, seller, sold}, {b, buyer, bought}} {
		told := first(of(own.fence(), "myTrades"))
		x.equal("trade of myTrades", told.get("trade_id").text+" "+told.get("obid").text, id+" "+own.order)
		row := own.list("/trades_history").items[0]
		x.equal("own trade", row.get("trade_id").text+" "+row.get("obid").text, id+" "+own.order)
		row = own.history(own.order).get("trades").items[0]
		x.equal("trade of the order", row.get("trade_id").text+" "+row.get("obid").text, id+" "+own.order)
	}
}
