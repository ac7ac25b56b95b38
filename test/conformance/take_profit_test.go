package conformance

import "testing"

var takeProfitChecks = []check{
	takeProfitCondition, behindStopExecutes, capBounds, behindStopHolds, capHolds, leastBehindStop, noCollar, openBehindStop,
	historyBehindStop,
}

func TestTakeProfits(t *testing.T) { examine(t, takeProfitChecks) }

func takeProfitCondition(x *exam) {
	x.covers("SPOT-STP-8")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	sell, buy := a.place(m.takeProfit("SELL", "11", "50", "1")), a.place(m.takeProfit("BUY", "9", "5", "1"))
	x.trade(m, b, b, "10.9999", "1")
	x.trade(m, b, b, "9.0001", "1")
	a.waiting("after trades in between", buy, sell)
	x.trade(m, b, b, "11", "1")
	a.waiting("after a trade at the stop of the SELL", buy)
	x.trade(m, b, b, "9", "1")
	a.waiting("after a trade at the stop of the BUY")
	x.same("open orders", a.open(), buy, sell)

	a.cancel(buy)
	a.cancel(sell)
	x.trade(m, b, b, "10", "1")
	above, below := a.place(m.behind("TAKE_PROFIT_MARKET", "SELL", "11", "1", "")), a.place(m.behind("TAKE_PROFIT_MARKET", "BUY", "9", "", "5"))
	x.trade(m, b, b, "12", "1")
	a.waiting("after a trade above", below)
	a.stands(above, "KILLED", "0") // nobody buys
	x.trade(m, b, b, "7", "1")
	a.waiting("after a trade below")

	x.trade(m, b, b, "10", "1")
	x.becomes(a.try(m.takeProfit("BUY", "10", "4", "1")), "OPEN", "0")
	x.becomes(a.try(m.takeProfit("SELL", "10", "40", "1")), "OPEN", "0")
	a.waiting("those that the last price satisfies")
}

func behindStopExecutes(x *exam) {
	x.covers("SPOT-STP-9")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	partly := a.place(m.behind("STOP_MARKET", "BUY", "11", "", "36"))
	whole := a.place(m.behind("STOP_MARKET", "BUY", "12", "", "100").with("time_in_force", "FOK"))
	b.sell(m, "11", "1")
	b.sell(m, "12", "1")
	b.sell(m, "13", "1")
	b.buy(m, "11", "1")
	a.stands(partly, "KILLED", "2")
	a.stands(whole, "KILLED", "0")

	b.buy(m, "8", "1")
	b.buy(m, "7", "1")
	sells := a.place(m.behind("STOP_MARKET", "SELL", "9", "3", ""))
	x.trade(m, b, b, "9", "1")
	a.stands(sells, "KILLED", "2")
	x.same("prices", a.list("/trades_history").column("price"), "7", "8", "13", "12")
	book := x.book(m)
	x.same("bids", levels(book.get("bids")))
	x.same("asks", levels(book.get("asks")))
}

func capBounds(x *exam) {
	x.covers("SPOT-STP-10")
	m := x.market()
	x.define(m, fields{"collar": "0.1"})
	b := x.trader(m)
	x.trade(m, b, b, "10", "1")
	a := x.account("33 USDT")
	id := a.place(m.behind("STOP_MARKET", "BUY", "10.001", "2.5", "")) // its cap is 11.0011
	x.define(m, fields{"collar": "0.5"})
	b.sell(m, "10.5", "1")
	b.sell(m, "11", "1")
	b.sell(m, "11.0012", "1")
	b.sell(m, "10.001", "1")
	b.buy(m, "10.001", "1")
	a.stands(id, "KILLED", "2")
	x.same("prices", a.list("/trades_history").column("price"), "11", "10.5")
	// 33 − 10.5 − 11 are left.
	x.rejects(a.try(m.limit("BUY", "1.1501", "10")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "1.15", "10")), "OPEN", "0")
}

func behindStopHolds(x *exam) {
	x.covers("SPOT-HOLD-16")
	m := x.market()
	a := x.account("5 "+m.base, "50 USDT")
	x.rejects(a.try(m.behind("STOP_MARKET", "BUY", "9000", "", "50.00000001")), "INSUF_FUNDS")
	x.becomes(a.try(m.behind("STOP_MARKET", "BUY", "9000", "", "30")), "OPEN", "0")
	x.becomes(a.try(m.behind("TAKE_PROFIT_MARKET", "BUY", "0.001", "", "20")), "OPEN", "0")
	x.rejects(a.try(m.limit("BUY", "1", "1")), "INSUF_FUNDS")
	x.rejects(a.try(m.behind("TAKE_PROFIT_MARKET", "SELL", "9000", "5.0001", "")), "INSUF_FUNDS")
	x.becomes(a.try(m.behind("TAKE_PROFIT_MARKET", "SELL", "9000", "3", "")), "OPEN", "0")
	x.becomes(a.try(m.behind("STOP_MARKET", "SELL", "1", "2", "")), "OPEN", "0")
	x.rejects(a.try(m.limit("SELL", "20", "0.1")), "INSUF_FUNDS")
}

func capHolds(x *exam) {
	x.covers("SPOT-HOLD-17")
	m := x.market()
	x.define(m, fields{"collar": "0.1"})
	b := x.trader(m)
	x.trade(m, b, b, "10", "1")

	a := x.account("135.8023 USDT")
	x.rejects(a.try(m.behind("STOP_MARKET", "BUY", "12.3457", "10.0001", "")), "INSUF_FUNDS")
	id := a.place(m.behind("STOP_MARKET", "BUY", "12.3457", "10", ""))
	x.equal("cap", a.list("/open_orders").items[0].get("cap").text, "13.5802")
	x.succeeds(a.cancel(id))
	a.place(m.behind("TAKE_PROFIT_MARKET", "BUY", "8", "10", ""))
	x.equal("cap", a.list("/open_orders").items[0].get("cap").text, "8.8")
	x.rejects(a.try(m.limit("BUY", "4.7803", "10")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "4.7802", "10")), "OPEN", "0")

	satisfied := x.account("110 USDT")
	id = satisfied.place(m.behind("STOP_MARKET", "BUY", "5", "10", ""))
	x.equal("cap", satisfied.history(id).get("cap").text, "11")
	id = satisfied.place(m.behind("TAKE_PROFIT_MARKET", "BUY", "50", "10", ""))
	x.equal("cap", satisfied.history(id).get("cap").text, "11")
}

func leastBehindStop(x *exam) {
	x.covers("SPOT-ORD-17")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	x.rejects(a.try(m.behind("STOP_MARKET", "SELL", "2", "0.4999", "")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.behind("STOP_MARKET", "SELL", "2", "0.5", "")), "OPEN", "0")
	x.rejects(a.try(m.behind("TAKE_PROFIT_MARKET", "SELL", "1000", "0.0999", "")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.behind("TAKE_PROFIT_MARKET", "SELL", "1000", "0.1", "")), "OPEN", "0")
	x.rejects(a.try(m.behind("STOP_MARKET", "BUY", "1000", "", "0.9999")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.behind("STOP_MARKET", "BUY", "1000", "", "1")), "OPEN", "0")
}

func noCollar(x *exam) {
	x.covers("SPOT-REJ-8")
	m := x.market()
	a := x.trader(m)
	for _, kind := range []string{"STOP_MARKET", "TAKE_PROFIT_MARKET"} {
		x.rejects(a.try(m.behind(kind, "BUY", "10", "1", "")), "NO_COLLAR")
	}
	x.define(m, fields{"collar": "0.1"})
	x.becomes(a.try(m.behind("STOP_MARKET", "BUY", "9000", "1", "")), "OPEN", "0")
}

func openBehindStop(x *exam) {
	x.covers("SPOT-OPN-7")
	m := x.market()
	x.define(m, fields{"collar": "0.1"})
	a := x.trader(m)
	a.place(m.behind("TAKE_PROFIT_MARKET", "SELL", "9000", "2", ""))
	a.place(m.behind("STOP_MARKET", "BUY", "9000", "", "3.5"))
	a.place(m.behind("STOP_MARKET", "BUY", "9000", "1", "").with("client_id", "capped"))
	x.golden(a.post("/open_orders", fields{"offset": 0}).value, "open_orders.behind_stop", "pair", m.pair)
}

func historyBehindStop(x *exam) {
	x.covers("SPOT-HIS-10", "SPOT-MYO-1", "SPOT-MYO-11")
	m := x.market()
	x.define(m, fields{"collar": "0.1"})
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	s := a.private()
	id := a.place(m.behind("STOP_MARKET", "BUY", "11", "2", "").with("price", "99"))
	x.match(first(s.fence()), `{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"`+m.pair+`","obid":`+id+
		`,"side":"BUY","type":"STOP_MARKET","time":"#unix","time_us":"#micros","time_in_force":"GTC","base":"`+m.base+
		`","quote":"USDT","amount":"2","stop":"11","cap":"12.1","quote_prec":4,"seq":"#id"}`)
	b.sell(m, "11", "2")
	b.buy(m, "11", "1")
	got := of(s.fence(), "myOrders")
	if len(got) != 2 {
		x.Fatalf("%d messages, want 2", len(got))
	}
	begin := `{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"` + m.pair + `","obid":` + id +
		`,"side":"BUY","time":"#unix","time_us":"#micros",`
	x.match(got[0], begin+`"triggered":true,"filled":"0","left":"2","seq":"#id"}`)
	x.match(got[1], begin+`"status":"KILLED","filled":"1","left":"1","seq":"#id"}`)

	a.place(m.behind("TAKE_PROFIT_MARKET", "SELL", "9000", "2", ""))
	a.place(m.behind("TAKE_PROFIT_MARKET", "BUY", "0.001", "", "3.5").with("time_in_force", "FOK"))
	x.golden(a.post("/orders_history", fields{"offset": 0}).value, "orders_history.behind_stop", "pair", m.pair, "base", m.base)
}
