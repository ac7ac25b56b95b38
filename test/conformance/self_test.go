package conformance

import "testing"

var selfChecks = []check{selfNone, selfNewest, selfOldest, selfBoth, selfFOK, selfReleases, selfDecrements, selfPrevented,
	selfDecrementsMarket, selfMessages}

func TestTradingWithOneself(t *testing.T) { examine(t, selfChecks) }

func selfNone(x *exam) {
	x.covers("SPOT-SELF-1")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	x.becomes(a.try(m.limit("BUY", "10", "1")), "FILLED", "1")
	x.becomes(a.try(m.limit("BUY", "10", "1").with("stp", "none")), "OPEN", "0")
	a.stands(id, "FILLED", "1")
	x.same("roles", a.list("/trades_history").column("role"), "TAKER", "MAKER")
	x.same("sides", a.list("/trades_history").column("side"), "BUY", "SELL")
}

// surrounded puts an own order between two others: 10, own 11, 12.
func (x *exam) surrounded(m *market) (a *account, own string) {
	x.Helper()
	a, b := x.traders(m)
	b.sell(m, "10", "1")
	own = a.sell(m, "11", "1")
	b.sell(m, "12", "1")
	return a, own
}

func selfNewest(x *exam) {
	x.covers("SPOT-SELF-2")
	m := x.market()
	a, own := x.surrounded(m)
	x.becomes(a.try(m.limit("BUY", "12", "3").with("stp", "cancel_newest")), "KILLED", "1")
	a.stands(own, "OPEN", "0")
	x.same("asks", levels(x.book(m).get("asks")), "11.0000:1.0000", "12.0000:1.0000")
}

func selfOldest(x *exam) {
	x.covers("SPOT-SELF-3")
	m := x.market()
	a, own := x.surrounded(m)
	x.becomes(a.try(m.limit("BUY", "12", "3").with("stp", "cancel_oldest")), "OPEN", "2")
	a.stands(own, "KILLED", "0")
	book := x.book(m)
	x.same("asks", levels(book.get("asks")))
	x.same("bids", levels(book.get("bids")), "12.0000:1.0000")
}

func selfBoth(x *exam) {
	x.covers("SPOT-SELF-4")
	m := x.market()
	a, own := x.surrounded(m)
	x.becomes(a.try(m.limit("BUY", "12", "3").with("stp", "cancel_both")), "KILLED", "1")
	a.stands(own, "KILLED", "0")
	x.same("asks", levels(x.book(m).get("asks")), "12.0000:1.0000")
}

func selfFOK(x *exam) {
	x.covers("SPOT-SELF-5")
	m := x.market()
	a, own := x.surrounded(m)
	fok := m.limit("BUY", "12", "3").with("time_in_force", "FOK")
	for _, mode := range []string{"cancel_newest", "cancel_oldest", "cancel_both", "decrement"} {
		x.becomes(a.try(fok.with("stp", mode)), "KILLED", "0")
		a.stands(own, "OPEN", "0")
	}
	x.becomes(a.try(fok.with("amount", "1").with("stp", "cancel_newest")), "FILLED", "1")
	x.becomes(a.try(fok.with("amount", "1").with("stp", "cancel_oldest")), "FILLED", "1")
	a.stands(own, "KILLED", "0")
}

func selfReleases(x *exam) {
	x.covers("SPOT-SELF-6")
	m := x.market()
	a := x.account("5 "+m.base, "50 USDT")
	a.sell(m, "10", "5")
	x.becomes(a.try(m.limit("BUY", "10", "5").with("stp", "cancel_both")), "KILLED", "0")
	x.becomes(a.try(m.limit("SELL", "10", "5")), "OPEN", "0")
	x.becomes(a.try(m.limit("BUY", "5", "10")), "OPEN", "0")
}

func selfDecrements(x *exam) {
	x.covers("SPOT-SELF-7")
	m := x.market()
	a, own := x.surrounded(m)
	x.becomes(a.try(m.limit("BUY", "12", "4").with("stp", "decrement")), "OPEN", "2")
	a.stands(own, "KILLED", "0")
	x.same("bids", levels(x.book(m).get("bids")), "12.0000:1.0000")

	x.becomes(a.try(m.limit("SELL", "12", "0.4").with("stp", "decrement")), "KILLED", "0")
	x.same("bids of the rest", levels(x.book(m).get("bids")), "12.0000:0.6000")
	x.becomes(a.try(m.limit("SELL", "12", "0.6").with("stp", "decrement")), "KILLED", "0")
	x.same("bids of equals", levels(x.book(m).get("bids")))
	x.same("open orders", a.list("/open_orders").column("obid"))

	// It keeps its place.
	b := x.trader(m)
	place := a.sell(m, "10", "3")
	b.sell(m, "10", "1")
	x.becomes(a.try(m.limit("BUY", "10", "1").with("stp", "decrement")), "KILLED", "0")
	b.buy(m, "10", "2")
	a.stands(place, "FILLED", "2")
}

func selfPrevented(x *exam) {
	x.covers("SPOT-SELF-8")
	m := x.market()
	a := x.account("5 "+m.base, "100 USDT")
	id := a.sell(m, "10", "5")
	x.equal("prevented of none", a.list("/open_orders").items[0].get("prevented").text, "")
	x.becomes(a.try(m.limit("BUY", "10", "2").with("stp", "decrement")), "KILLED", "0")
	for _, row := range []*value{a.list("/open_orders").items[0], a.history(id), a.post("/order", fields{"obid": number(id)}).value.get("order")} {
		x.equal("amount", row.get("amount").text, "5")
		x.equal("prevented", row.get("prevented").text, "2")
	}
	x.same("prevented of both", a.list("/orders_history").column("prevented"), "2", "2")
	x.becomes(a.try(m.limit("SELL", "20", "2")), "OPEN", "0")
	x.rejects(a.try(m.limit("SELL", "20", "0.1")), "INSUF_FUNDS")

	x.becomes(a.try(m.limit("BUY", "10", "1").with("stp", "cancel_newest")), "KILLED", "0")
	x.equal("prevented of the newest", a.list("/orders_history").items[0].get("prevented").text, "1")
	x.failed(a.amend(id, fields{"amount": "2"}))
	x.succeeds(a.amend(id, fields{"amount": "2.5"}))
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:0.5000", "20.0000:2.0000")
}

func selfDecrementsMarket(x *exam) {
	x.covers("SPOT-SELF-9")
	m := x.market()
	b := x.trader(m)
	byAmount := x.account("2 "+m.base, "11 USDT")
	byAmount.sell(m, "10", "2")
	b.sell(m, "11", "1")
	x.becomes(byAmount.try(m.byAmount("BUY", "3").with("stp", "decrement")), "FILLED", "1")

	byTotal := x.account("2 "+m.base, "31 USDT")
	byTotal.sell(m, "10", "2")
	b.sell(m, "11", "1")
	x.becomes(byTotal.try(m.byTotal("BUY", "31").with("stp", "decrement")), "FILLED", "1")
	x.equal("prevented", byTotal.list("/orders_history").items[0].get("prevented").text, "2")
}

func selfMessages(x *exam) {
	x.covers("SPOT-MYO-13")
	m := x.market()
	a, _ := x.surrounded(m)
	s := a.private()
	id := a.place(m.limit("BUY", "12", "4").with("stp", "decrement"))
	got := of(s.fence(), "myOrders")
	begin := `{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"` + m.pair + `","obid":` + id + `,"side":"BUY","time":"#unix",` +
		`"time_us":"#micros","price":"12",`
	if len(got) != 4 { // the acceptance, the end of the own order, what was prevented, what traded
		x.Fatalf("%d messages, want 4: %v", len(got), got)
	}
	x.match(got[2], begin+`"filled":"2","left":"1","prevented":"1","seq":"#id"}`)
	x.match(got[3], begin+`"filled":"2","left":"1","prevented":"1","seq":"#id"}`)

	a.place(m.limit("SELL", "12", "0.5").with("stp", "decrement"))
	got = of(s.fence(), "myOrders")
	x.match(got[1], begin+`"filled":"2","left":"0.5","prevented":"1.5","seq":"#id"}`)
}
