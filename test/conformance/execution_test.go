package conformance

import "testing"

var executionChecks = []check{
	priceThenTime, restingPrice, restRests, restOfIOC, fillOrKill, marketNeverRests, marketGTC, buyByTotal, totalLeftOver,
	sellByTotal, filledInBase, leastOrder, leastMarketOrder, smallRest, keepsItsPlace, marketFOK,
}

func TestExecution(t *testing.T) { examine(t, executionChecks) }

func priceThenTime(x *exam) {
	x.covers("SPOT-ORD-1")
	m := x.market()
	a, b := x.traders(m)
	worse, first, second, best := a.sell(m, "11", "1"), a.sell(m, "10", "1"), a.sell(m, "10", "1"), a.sell(m, "9", "1")
	for _, next := range []string{best, first, second, worse} {
		b.buy(m, "11", "1")
		a.stands(next, "FILLED", "1")
	}
	low, high, early := a.buy(m, "8", "1"), a.buy(m, "9", "1"), a.buy(m, "9", "1")
	for _, next := range []string{high, early, low} {
		b.sell(m, "8", "1")
		a.stands(next, "FILLED", "1")
	}
}

func restingPrice(x *exam) {
	x.covers("SPOT-ORD-2")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	b.buy(m, "15", "1")
	a.buy(m, "9", "1")
	b.sell(m, "5", "1")
	x.same("prices", b.list("/trades_history").column("price"), "9", "10")
}

func restRests(x *exam) {
	x.covers("SPOT-ORD-3")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	x.becomes(b.try(m.limit("BUY", "11", "3.5")), "OPEN", "1")
	book := x.book(m)
	x.same("bids", levels(book.get("bids")), "11.0000:2.5000")
	x.same("asks", levels(book.get("asks")))
}

func restOfIOC(x *exam) {
	x.covers("SPOT-ORD-4")
	m := x.market()
	a, b := x.traders(m)
	ioc := m.limit("BUY", "10", "3").with("time_in_force", "IOC")
	x.becomes(b.try(ioc), "KILLED", "0")
	a.sell(m, "10", "1")
	a.sell(m, "10.5", "1")
	x.becomes(b.try(ioc), "KILLED", "1")
	x.same("bids", levels(x.book(m).get("bids")))
	a.sell(m, "10", "3")
	x.becomes(b.try(ioc), "FILLED", "3")
}

func fillOrKill(x *exam) {
	x.covers("SPOT-ORD-5")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	a.sell(m, "11", "1")
	fok := m.limit("BUY", "11", "2").with("time_in_force", "FOK")
	x.becomes(b.try(fok.with("amount", "2.0001")), "KILLED", "0")
	x.becomes(b.try(fok.with("price", "10.9999")), "KILLED", "0")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:1.0000", "11.0000:1.0000")
	x.becomes(b.try(fok), "FILLED", "2")
	x.same("asks", levels(x.book(m).get("asks")))
}

func marketNeverRests(x *exam) {
	x.covers("SPOT-ORD-6")
	m := x.market()
	a, b := x.traders(m)
	for _, order := range []fields{m.byAmount("BUY", "3"), m.byTotal("BUY", "30"), m.byAmount("SELL", "3"), m.byTotal("SELL", "30")} {
		x.becomes(b.try(order), "KILLED", "0")
	}
	a.sell(m, "10", "1")
	x.becomes(b.try(m.byAmount("BUY", "3")), "KILLED", "1")
	a.buy(m, "10", "1")
	x.becomes(b.try(m.byTotal("SELL", "30")), "KILLED", "1")
	book := x.book(m)
	x.same("bids", levels(book.get("bids")))
	x.same("asks", levels(book.get("asks")))
}

func marketGTC(x *exam) {
	x.covers("SPOT-ORD-7")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	id := b.place(m.byAmount("BUY", "3").with("time_in_force", "GTC"))
	b.stands(id, "KILLED", "1")
	x.equal("time_in_force", b.history(id).get("time_in_force").text, "GTC")
	x.same("bids", levels(x.book(m).get("bids")))
}

func buyByTotal(x *exam) {
	x.covers("SPOT-ORD-8")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "7", "1")
	a.sell(m, "9", "5")
	// 7 buys the first; 13 more buy 1.4444 at 9, and 0.0004 cannot buy a step.
	x.becomes(b.try(m.byTotal("BUY", "20")), "FILLED", "2.4444")
	x.same("totals", b.list("/trades_history").column("total"), "12.9996", "7")
	a.sell(m, "8", "1")
	x.becomes(b.try(m.byTotal("BUY", "8.0008")), "FILLED", "1")
	x.becomes(b.try(m.byTotal("BUY", "9.0009")), "FILLED", "1.0001")
}

func totalLeftOver(x *exam) {
	x.covers("SPOT-ORD-9")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	x.becomes(b.try(m.byTotal("BUY", "10.001")), "KILLED", "1")
	a.sell(m, "10", "1")
	x.becomes(b.try(m.byTotal("BUY", "10.0009")), "FILLED", "1")
}

func sellByTotal(x *exam) {
	x.covers("SPOT-ORD-10")
	m := x.market()
	a, b := x.traders(m)
	a.buy(m, "7", "1")
	a.buy(m, "3", "50")
	x.becomes(b.try(m.byTotal("SELL", "17")), "FILLED", "4.3334")
	x.same("totals", b.list("/trades_history").column("total"), "10.0002", "7")
	x.becomes(b.try(m.byTotal("SELL", "3")), "FILLED", "1")
}

func filledInBase(x *exam) {
	x.covers("SPOT-ORD-11")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "20", "5")
	res := b.try(m.byTotal("BUY", "50"))
	x.becomes(res, "FILLED", "2.5")
	b.stands(res.value.get("obid").text, "FILLED", "2.5")
}

func leastOrder(x *exam) {
	x.covers("SPOT-ORD-12")
	m := x.market()
	a, b := x.traders(m)
	x.rejects(a.try(m.limit("SELL", "2", "0.4999")), "INSUF_TRADE_AMOUNT")
	x.rejects(a.try(m.limit("SELL", "0.9999", "1")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.limit("SELL", "2", "0.5")), "OPEN", "0")
	x.rejects(a.try(m.stop("SELL", "0.001", "2", "0.4999")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.stop("SELL", "0.001", "2", "0.5")), "OPEN", "0")
	x.rejects(b.try(m.byTotal("BUY", "0.9999")), "INSUF_TRADE_AMOUNT")
	x.becomes(b.try(m.byTotal("BUY", "1")), "FILLED", "0.5")
	x.rejects(a.try(m.limit("SELL", "1000", "0.4999")), "INSUF_TRADE_AMOUNT")
	x.rejects(a.try(m.stop("SELL", "0.001", "1000", "0.4999")), "INSUF_TRADE_AMOUNT")
	x.becomes(a.try(m.limit("SELL", "1000", "0.5")), "OPEN", "0")
}

func leastMarketOrder(x *exam) {
	x.covers("SPOT-ORD-13")
	m := x.market()
	a, b := x.traders(m)
	x.becomes(b.try(m.byAmount("BUY", "0.0001")), "KILLED", "0")
	a.sell(m, "10", "1")
	a.sell(m, "20", "1")
	x.rejects(b.try(m.byAmount("BUY", "0.0999")), "INSUF_TRADE_AMOUNT")
	x.becomes(b.try(m.byAmount("BUY", "0.1")), "FILLED", "0.1")
	x.becomes(b.try(m.byAmount("SELL", "0.0001")), "KILLED", "0")
	x.trade(m, a, a, "10", "1")
	x.becomes(b.try(m.byAmount("BUY", "0.9")), "FILLED", "0.9")
	x.rejects(b.try(m.byAmount("BUY", "0.0999")), "INSUF_TRADE_AMOUNT")
	x.becomes(b.try(m.byAmount("BUY", "0.1")), "FILLED", "0.1")
}

func smallRest(x *exam) {
	x.covers("SPOT-ORD-14")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "1")
	b.buy(m, "10", "0.9999")
	a.stands(id, "OPEN", "0.9999")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:0.0001")
	x.becomes(b.try(m.limit("BUY", "10", "0.1")), "OPEN", "0.0001")
}

func keepsItsPlace(x *exam) {
	x.covers("SPOT-ORD-15")
	m := x.market()
	a, b := x.traders(m)
	first, second := a.sell(m, "10", "2"), a.sell(m, "10", "2")
	b.buy(m, "10", "1")
	a.stands(first, "OPEN", "1")
	b.buy(m, "10", "1.5")
	a.stands(first, "FILLED", "2")
	a.stands(second, "OPEN", "0.5")
}

func marketFOK(x *exam) {
	x.covers("SPOT-ORD-16")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	fok := m.byAmount("BUY", "2").with("time_in_force", "FOK")
	x.becomes(b.try(fok), "KILLED", "0")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:1.0000")
	a.sell(m, "12", "1")
	x.becomes(b.try(fok), "FILLED", "2")
	a.sell(m, "10", "1")
	x.becomes(b.try(m.byTotal("BUY", "10.001").with("time_in_force", "FOK")), "KILLED", "0")
	x.becomes(b.try(m.byTotal("BUY", "10").with("time_in_force", "FOK")), "FILLED", "1")
	a.buy(m, "10", "1")
	x.becomes(b.try(m.byTotal("SELL", "10.001").with("time_in_force", "FOK")), "KILLED", "0")
	x.becomes(b.try(m.byTotal("SELL", "10").with("time_in_force", "FOK")), "FILLED", "1")
}
