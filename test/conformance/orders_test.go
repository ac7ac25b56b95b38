package conformance

import "testing"

var ordersChecks = []check{
	openRows, openFilled, openFilter, openSort, openFilterOrSort, openOrDone, historyRows, historyHasOpen, tradesOfAnOrder,
	marketOrderRows, filledAddsUp, canceledStopRow, historyFilter, rejectedIsNowhere, rolesAndFees, ownTradeRows, bothSides, fillsFilter,
}

func TestOrderLists(t *testing.T) { examine(t, ordersChecks) }

func openRows(x *exam) {
	x.covers("SPOT-OPN-1")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "2")
	a.buy(m, "10", "0.5")
	a.place(m.stop("BUY", "9000", "9000", "1"))
	x.golden(a.post("/open_orders", fields{"offset": 0}).value, "open_orders", "pair", m.pair)
}

func openFilled(x *exam) {
	x.covers("SPOT-OPN-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	id := b.place(m.stop("BUY", "11", "10.5", "3"))
	x.equal("fields", b.list("/open_orders").items[0].names(), "obid pair time side price amount time_in_force type quote_prec stop")
	x.trade(m, a, a, "11", "1")
	row := b.list("/open_orders").items[0]
	x.equal("obid", row.get("obid").text, id)
	x.equal("fields", row.names(), "obid pair time side price amount time_in_force type quote_prec filled stop")
	x.equal("filled", row.get("filled").text, "0")
	a.sell(m, "10.5", "1")
	x.equal("filled", b.list("/open_orders").items[0].get("filled").text, "1")
}

// twoMarkets returns orders in two alternating markets, oldest first.
func (x *exam) twoMarkets() (a *account, m, n *market, ids []string) {
	x.Helper()
	m = x.market()
	n = &market{pair: "ETH/BTC", base: "ETH", quote: "BTC"}
	a = x.account("100 "+m.base, "100 BTC")
	for range 2 {
		ids = append(ids, a.sell(m, "10", "1"), a.buy(n, "0.00001", "100"))
	}
	return a, m, n, ids
}

func openFilter(x *exam) {
	x.covers("SPOT-OPN-3")
	a, m, n, ids := x.twoMarkets()
	x.same("orders", a.post("/open_orders", fields{"offset": 0, "filter_pair": m.pair}).value.get("orders").column("obid"), ids[2], ids[0])
	x.same("orders", a.post("/open_orders", fields{"offset": 1, "filter_pair": n.pair}).value.get("orders").column("obid"), ids[1])
	x.answers(a.post("/open_orders", fields{"offset": 0, "filter_pair": "LTC/USDT"}), `{"success":true,"orders":[]}`)
}

func openSort(x *exam) {
	x.covers("SPOT-OPN-4")
	a, m, n, ids := x.twoMarkets()
	x.same("orders", a.open(), ids[3], ids[2], ids[1], ids[0])
	x.same("orders", a.post("/open_orders", fields{"offset": 0, "sort_pair": m.pair}).value.get("orders").column("obid"), ids[2], ids[0], ids[3], ids[1])
	x.same("orders", a.post("/open_orders", fields{"offset": 1, "sort_pair": n.pair}).value.get("orders").column("obid"), ids[1], ids[2], ids[0])
}

func openFilterOrSort(x *exam) {
	x.covers("SPOT-OPN-5")
	a := x.account()
	x.failsNaming(a.post("/open_orders", fields{"offset": 0, "filter_pair": "BTC/USDT", "sort_pair": "BTC/USDT"}), "filter_pair", "sort_pair")
}

func openOrDone(x *exam) {
	x.covers("SPOT-OPN-6")
	m := x.market()
	a, b := x.traders(m)
	sold, kept := a.sell(m, "10", "1"), a.sell(m, "11", "1")
	canceled, waits := a.sell(m, "12", "1"), a.place(m.stop("SELL", "0.01", "0.01", "100"))
	b.buy(m, "10", "1")
	a.cancel(canceled)
	a.try(m.limit("SELL", "10", "1").with("time_in_force", "IOC"))
	x.same("open orders", a.open(), waits, kept)
	a.stands(sold, "FILLED", "1")
}

// storied returns an account with every kind of history.
func (x *exam) storied(m *market) *account {
	x.Helper()
	a := x.trader(m)
	a.place(m.limit("SELL", "10", "2").with("client_id", "first"))
	a.try(m.byTotal("BUY", "5"))
	a.place(m.stop("BUY", "9000", "9000", "1"))
	return a
}

func historyRows(x *exam) {
	x.covers("SPOT-HIS-1")
	m := x.market()
	a := x.storied(m)
	x.golden(a.post("/orders_history", fields{"offset": 0}).value, "orders_history", "pair", m.pair, "base", m.base)
}

func historyHasOpen(x *exam) {
	x.covers("SPOT-HIS-2")
	m := x.market()
	a, b := x.traders(m)
	first, second, third := a.sell(m, "12", "1"), a.sell(m, "10", "1"), a.sell(m, "11", "1")
	b.buy(m, "10", "1")
	a.cancel(third)
	rows := a.list("/orders_history")
	x.same("orders", rows.column("obid"), third, second, first)
	x.same("states", rows.column("status"), "CANCELED", "FILLED", "OPEN")
}

func tradesOfAnOrder(x *exam) {
	x.covers("SPOT-HIS-3")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "12", "3")
	a.sell(m, "10", "1")
	a.sell(m, "11", "2")
	id := b.buy(m, "12", "7")
	b.sell(m, "12", "1")
	trades := b.history(id).get("trades")
	x.same("prices", trades.column("price"), "10", "11", "12", "12")
	x.same("amounts", trades.column("amount"), "1", "2", "3", "1")
	if got := a.history(a.sell(m, "100", "1")).get("trades"); got.kind != '[' || len(got.items) != 0 {
		x.Errorf("trades of an order without: %s", got)
	}
}

func marketOrderRows(x *exam) {
	x.covers("SPOT-HIS-4")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "5")
	byAmount := b.history(b.place(m.byAmount("BUY", "1").with("price", "99")))
	x.equal("fields", byAmount.names(), "obid pair time side time_in_force type quote_prec trades status base quote amount filled")
	x.equal("amount", byAmount.get("amount").text, "1")
	byTotal := b.history(b.place(m.byTotal("BUY", "10.5").with("price", "99")))
	x.equal("fields", byTotal.names(), "obid pair time side time_in_force type quote_prec trades status base quote total filled")
	x.equal("total", byTotal.get("total").text, "10.5")
}

func filledAddsUp(x *exam) {
	x.covers("SPOT-HIS-9")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1.5")
	a.sell(m, "11", "2.25")
	b.buy(m, "11", "3")
	x.fillsAddUp(a)
	x.fillsAddUp(b)
	x.same("states", a.list("/orders_history").column("status"), "OPEN", "FILLED")
}

func canceledStopRow(x *exam) {
	x.covers("SPOT-HIS-5")
	m := x.market()
	a := x.trader(m)
	id := a.place(m.stop("BUY", "9000", "9000", "1"))
	a.cancel(id)
	row := a.history(id)
	x.equal("status", row.get("status").text, "CANCELED")
	x.equal("fields", row.names(), "obid pair time side time_in_force type quote_prec trades status base quote price amount stop")
}

func historyFilter(x *exam) {
	x.covers("SPOT-HIS-6")
	a, m, n, ids := x.twoMarkets()
	a.cancel(ids[0])
	x.same("orders", a.post("/orders_history", fields{"offset": 0, "filter_pair": m.pair}).value.get("orders").column("obid"), ids[2], ids[0])
	x.same("orders", a.post("/orders_history", fields{"offset": 1, "filter_pair": n.pair}).value.get("orders").column("obid"), ids[1])
}

func rejectedIsNowhere(x *exam) {
	x.covers("SPOT-HIS-7")
	m := x.market()
	a := x.account("5 USDT")
	kept := a.buy(m, "1", "5")
	x.rejects(a.try(m.limit("BUY", "10", "1")), "INSUF_FUNDS")
	a.try(m.limit("BUY", "10", "1").with("resp_type", nil))
	x.same("orders history", a.list("/orders_history").column("obid"), kept)
	x.same("open orders", a.open(), kept)
}

func rolesAndFees(x *exam) {
	x.covers("SPOT-HIS-8")
	m := x.market()
	a, b := x.traders(m)
	sold, bought := x.trade(m, a, b, "20", "1")
	maker, taker := a.history(sold).get("trades").items[0], b.history(bought).get("trades").items[0]
	x.equal("role", maker.get("role").text, "MAKER")
	x.equal("fee", maker.get("fee").text, "0.02")
	x.equal("role", taker.get("role").text, "TAKER")
	x.equal("fee", taker.get("fee").text, "0.001")
}

func ownTradeRows(x *exam) {
	x.covers("SPOT-FIL-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10.5", "1.5")
	x.golden(b.post("/trades_history", fields{"offset": 0}).value, "trades_history", "pair", m.pair)
}

func bothSides(x *exam) {
	x.covers("SPOT-FIL-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	maker, taker := a.list("/trades_history"), b.list("/trades_history")
	x.same("maker", append(maker.column("role"), maker.column("side")...), "MAKER", "SELL")
	x.same("taker", append(taker.column("role"), taker.column("side")...), "TAKER", "BUY")
	for _, name := range []string{"time", "pair", "price", "amount", "total"} {
		x.same(name, maker.column(name), taker.column(name)...)
	}
}

func fillsFilter(x *exam) {
	x.covers("SPOT-FIL-3")
	m, n := x.market(), x.market()
	a := x.account("10 "+m.base, "10 "+n.base, "1000 USDT")
	for _, in := range []*market{m, n, m} {
		x.trade(in, a, a, "10", "1")
	}
	x.same("own trades", a.list("/trades_history").column("pair"), m.pair, m.pair, n.pair, n.pair, m.pair, m.pair)
	x.same("own trades", a.post("/trades_history", fields{"offset": 0, "filter_pair": n.pair}).value.get("trades").column("pair"), n.pair, n.pair)
}
