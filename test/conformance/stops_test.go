package conformance

import "testing"

var stopsChecks = []check{stopCondition, onlyTrades, satisfiedAlready, asIfNew, stopsInOrder, cascade, frozenStop}

func TestStops(t *testing.T) { examine(t, stopsChecks) }

// waiting checks that exactly these orders of an account wait.
func (a *account) waiting(what string, ids ...string) {
	a.x.Helper()
	var got []string
	for _, row := range a.list("/open_orders").items {
		if !row.has("filled") {
			got = append(got, row.get("obid").text)
		}
	}
	a.x.same(what, got, ids...)
}

func stopCondition(x *exam) {
	x.covers("SPOT-STP-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	buy, sell := a.place(m.stop("BUY", "11", "5", "1")), a.place(m.stop("SELL", "9", "50", "1"))
	x.trade(m, b, b, "10.9999", "1")
	x.trade(m, b, b, "9.0001", "1")
	a.waiting("after trades in between", sell, buy)
	x.trade(m, b, b, "11", "1")
	a.waiting("after a trade at the buy stop", sell)
	x.trade(m, b, b, "9", "1")
	a.waiting("after a trade at the sell stop")
	over, under := a.place(m.stop("BUY", "11", "5", "1")), a.place(m.stop("SELL", "8", "50", "1"))
	x.trade(m, b, b, "12", "1")
	a.waiting("after a trade above", under)
	x.trade(m, b, b, "7", "1")
	a.waiting("after a trade below")
	a.stands(over, "OPEN", "0")
}

func onlyTrades(x *exam) {
	x.covers("SPOT-STP-2")
	a := x.trader(untouched)
	buy, sell := a.place(untouched.stop("BUY", "60", "50", "1")), a.place(untouched.stop("SELL", "60", "70", "1"))
	a.waiting("at the initial price", sell, buy)
	m := x.market()
	b, c := x.traders(m)
	x.trade(m, b, b, "10", "1")
	id := c.place(m.stop("BUY", "11", "5", "1"))
	b.sell(m, "11", "1")
	b.sell(m, "12", "1")
	c.waiting("while orders rest", id)
}

func satisfiedAlready(x *exam) {
	x.covers("SPOT-STP-3")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	x.becomes(a.try(m.stop("BUY", "10", "9", "1")), "OPEN", "0")
	a.waiting("a BUY at the last price")
	a.place(m.stop("SELL", "12", "20", "1"))
	a.waiting("a SELL above the last price")
	x.same("bids", levels(x.book(m).get("bids")), "9.0000:1.0000")
	b.sell(m, "11", "1")
	x.becomes(a.try(m.stop("BUY", "9", "11", "1")), "FILLED", "1")
}

func asIfNew(x *exam) {
	x.covers("SPOT-STP-4")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	b.sell(m, "12", "1")
	gtc := a.place(m.stop("BUY", "11", "12", "3"))
	ioc := a.place(m.stop("BUY", "11", "13", "5").with("time_in_force", "IOC"))
	fok := a.place(m.stop("BUY", "11", "13", "5").with("time_in_force", "FOK"))
	x.trade(m, b, b, "11", "1")
	a.stands(gtc, "OPEN", "1")
	a.stands(ioc, "KILLED", "0")
	a.stands(fok, "KILLED", "0")
	row := a.history(gtc)
	x.equal("type", row.get("type").text, "STOP_LIMIT")
	x.equal("stop", row.get("stop").text, "11")
	x.same("bids", levels(x.book(m).get("bids")), "12.0000:2.0000")
}

func stopsInOrder(x *exam) {
	x.covers("SPOT-STP-5")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	first := a.place(m.stop("BUY", "12", "20", "2"))
	second := a.place(m.stop("BUY", "11", "20", "2"))
	third := a.place(m.stop("BUY", "12", "20", "2"))
	b.sell(m, "13", "2")
	b.sell(m, "14", "3")
	taker := b.buy(m, "13", "3") // takes all at 13; the remaining 1 rests
	b.stands(taker, "OPEN", "2")
	a.stands(first, "FILLED", "2")
	a.stands(second, "OPEN", "1")
	a.stands(third, "OPEN", "0")
}

func cascade(x *exam) {
	x.covers("SPOT-STP-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	b.sell(m, "11", "1")
	b.sell(m, "12", "1")
	b.sell(m, "13", "1")
	second := a.place(m.stop("BUY", "12", "13", "1"))
	first := a.place(m.stop("BUY", "11", "12", "1"))
	own := a.place(m.stop("SELL", "0.001", "30", "1"))
	x.becomes(b.try(m.limit("BUY", "11", "1")), "FILLED", "1")
	a.stands(first, "FILLED", "1")
	a.stands(second, "FILLED", "1")
	a.waiting("the other side", own)
	x.equal("price", x.ticker(m).get("price").text, "13")
	// A triggered order may trade with its trigger, which RESULT reports too.
	x.trade(m, b, b, "15", "1")
	a.place(m.stop("SELL", "14", "13.5", "1"))
	b.sell(m, "14", "1")
	x.becomes(b.try(m.limit("BUY", "14", "1.5")), "FILLED", "1.5")
}

func frozenStop(x *exam) {
	x.covers("SPOT-STP-7")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	stop, rests := a.place(m.stop("BUY", "11", "5", "1")), a.buy(m, "4", "1")
	x.operate("account", "freeze", a.id)
	x.trade(m, b, b, "11", "1")
	a.stands(stop, "KILLED", "0")
	a.stands(rests, "OPEN", "0")
}
