package conformance

import (
	"slices"
	"strconv"
	"testing"
)

var amendChecks = []check{
	amendAnswers, amendKeepsTheOrder, lessKeepsThePlace, moreLosesThePlace, amendOfNothing, amendIsRefused, amendHolds,
	lessWhereCanceled, amendedStop, amendedAgain, amendmentsAreListed, amendmentsArePaged, amendedMessages,
}

func TestAmend(t *testing.T) { examine(t, amendChecks) }

// amend asks for new terms of an order.
func (a *account) amend(obid string, terms fields) *answer {
	a.x.Helper()
	return a.post("/open_orders/amend", terms.with("obid", number(obid)))
}

// moved amends an order, which must be taken, and checks how the order stands after it.
func (a *account) moved(obid string, terms fields, status, filled string) {
	a.x.Helper()
	a.x.answers(a.amend(obid, terms), `{"success":true,"obid":`+obid+`,"status":"`+status+`","filled":"`+filled+`"}`)
}

// terms checks the price and the amount of an order in the history.
func (a *account) terms(obid, price, amount string) {
	a.x.Helper()
	row := a.history(obid)
	a.x.equal("price of order "+obid, row.get("price").text, price)
	a.x.equal("amount of order "+obid, row.get("amount").text, amount)
}

func amendAnswers(x *exam) {
	x.covers("SPOT-AMD-1")
	m := x.market()
	a, b := x.traders(m)
	x.fails(a.post("/open_orders/amend", fields{"amount": "1"}), "Missing data: obid")
	x.failsNaming(a.post("/open_orders/amend", fields{"obid": 1, "client_id": "n", "amount": "1"}), "obid", "client_id")
	x.fails(a.post("/open_orders/amend", fields{"obid": 1}), "Missing data: amount")

	id := a.place(m.limit("SELL", "10", "2").with("client_id", "n"))
	b.buy(m, "10", "0.5")
	x.golden(a.amend(id, fields{"amount": "1.5"}).value, "open_orders_amend", "obid", id)
	x.succeeds(a.post("/open_orders/amend", fields{"client_id": "n", "price": "11", "amount": "1"}))
	a.terms(id, "11", "1")
	for name, bad := range map[string]any{"price": "1.00001", "amount": "0"} {
		x.failsNaming(a.amend(id, fields{name: bad}), name)
	}
	x.failsNaming(a.amend(id, fields{"price": 11}), "price")
	a.terms(id, "11", "1")
}

func amendKeepsTheOrder(x *exam) {
	x.covers("SPOT-AMD-2")
	m := x.market()
	a, b := x.traders(m)
	id := a.place(m.limit("SELL", "10", "3").with("client_id", "n"))
	b.buy(m, "10", "1")
	before := a.history(id)
	a.moved(id, fields{"price": "12", "amount": "2"}, "OPEN", "1")
	after := a.history(id)
	for _, field := range []string{"obid", "client_id", "time", "filled", "status"} {
		x.equal(field, after.get(field).text, before.get(field).text)
	}
	a.terms(id, "12", "2")
	row := a.list("/open_orders").items[0]
	x.equal("price", row.get("price").text, "12")
	x.equal("amount", row.get("amount").text, "2")
	x.same("asks", levels(x.book(m).get("asks")), "12.0000:1.0000")
	b.buy(m, "12", "1")
	a.stands(id, "FILLED", "2")
	a.terms(id, "12", "2")
}

func lessKeepsThePlace(x *exam) {
	x.covers("SPOT-AMD-3")
	m := x.market()
	a, b := x.traders(m)
	first, second := a.sell(m, "10", "3"), a.sell(m, "10", "1")
	a.moved(first, fields{"amount": "2"}, "OPEN", "0")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:3.0000")
	b.buy(m, "10", "1")
	a.moved(first, fields{"amount": "1.5", "price": "10"}, "OPEN", "1")
	b.buy(m, "10", "0.5")
	a.stands(first, "FILLED", "1.5")
	a.stands(second, "OPEN", "0")
}

func moreLosesThePlace(x *exam) {
	x.covers("SPOT-AMD-4")
	m := x.market()
	a, b := x.traders(m)
	first, second := a.sell(m, "10", "1"), a.sell(m, "10", "1")
	a.moved(first, fields{"amount": "1.5"}, "OPEN", "0")
	b.buy(m, "10", "1")
	a.stands(second, "FILLED", "1")
	a.stands(first, "OPEN", "0")

	third := a.sell(m, "11", "1")
	a.moved(first, fields{"price": "11"}, "OPEN", "0")
	b.buy(m, "11", "1")
	a.stands(third, "FILLED", "1")
	a.stands(first, "OPEN", "0")

	bid := b.buy(m, "9", "1")
	a.moved(first, fields{"price": "8.5"}, "OPEN", "1")
	b.stands(bid, "FILLED", "1")
	x.equal("price", x.trades(m).items[0].get("price").text, "9")
	x.same("asks", levels(x.book(m).get("asks")), "8.5000:0.5000")
	last := b.buy(m, "8", "0.5")
	a.moved(first, fields{"price": "8"}, "FILLED", "1.5")
	b.stands(last, "FILLED", "0.5")
}

func amendOfNothing(x *exam) {
	x.covers("SPOT-AMD-5")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "2")
	b.buy(m, "10", "1")
	for _, amount := range []string{"0.5", "1"} {
		x.rejects(a.amend(id, fields{"amount": amount}), "NOTHING_LEFT")
		x.rejects(a.amend(id, fields{"amount": amount, "price": "11"}), "NOTHING_LEFT")
	}
	a.terms(id, "10", "2")
	x.fails(b.amend(id, fields{"amount": "1.5"}), "Order not found")
	x.fails(a.amend("9000000000000000000", fields{"amount": "1"}), "Order not found")
	x.fails(a.post("/open_orders/amend", fields{"client_id": "n", "amount": "1"}), "Order not found")

	for _, unpriced := range []string{
		a.place(m.behind("STOP_MARKET", "SELL", "5", "2", "")), a.place(m.behind("TAKE_PROFIT_MARKET", "BUY", "5", "", "20")),
	} {
		for _, terms := range []fields{{"amount": "1"}, {"amount": "2"}, {"price": "5"}, {"price": "6", "amount": "3"}} {
			x.rejects(a.amend(unpriced, terms), "NOT_AMENDABLE")
		}
		a.cancel(unpriced)
	}

	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	x.fails(a.amend(id, fields{"amount": "1.5"}), "Market halted")
	x.operate("market", "resume", m.pair)
	a.cancel(id)
	x.fails(a.amend(id, fields{"amount": "1.5"}), "Order not found")
}

func amendIsRefused(x *exam) {
	x.covers("SPOT-AMD-6")
	m := x.market()
	a, b := x.account("10 "+m.base), x.trader(m)
	b.buy(m, "9", "1")
	first := a.place(m.limit("SELL", "10", "5").with("post_only", true))
	second := a.sell(m, "10", "1")
	book := x.book(m).get("asks").String()
	for reason, terms := range map[string]fields{
		"INSUF_FUNDS":        {"amount": "9.0001"},
		"WOULD_TAKE":         {"price": "9"},
		"INSUF_TRADE_AMOUNT": {"amount": "0.0999"},
		"OVERFLOW":           {"price": "400000000000000", "amount": "400000000000000"},
	} {
		x.rejects(a.amend(first, terms), reason)
	}
	a.terms(first, "10", "5")
	x.equal("asks", x.book(m).get("asks").String(), book)
	b.buy(m, "10", "5")
	a.stands(first, "FILLED", "5")
	a.stands(second, "OPEN", "0")
}

func amendHolds(x *exam) {
	x.covers("SPOT-AMD-7")
	m := x.market()
	a, b := x.account("50 USDT"), x.trader(m)
	id := a.buy(m, "10", "3")
	a.moved(id, fields{"price": "5"}, "OPEN", "0")
	x.rejects(a.try(m.limit("BUY", "5", "7.0001")), "INSUF_FUNDS")
	other := a.buy(m, "5", "7")
	x.rejects(a.amend(id, fields{"amount": "3.0001"}), "INSUF_FUNDS")
	a.cancel(other)
	a.moved(id, fields{"amount": "10"}, "OPEN", "0")
	b.sell(m, "5", "4")
	a.moved(id, fields{"amount": "5"}, "OPEN", "4")
	x.rejects(a.try(m.limit("BUY", "5", "5.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "5", "5")), "OPEN", "0")
}

func lessWhereCanceled(x *exam) {
	x.covers("SPOT-AMD-8")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "5")
	x.undo("market", "resume", m.pair)
	x.operate("market", "cancel-only", m.pair)
	x.rejects(a.amend(id, fields{"amount": "6"}), "MARKET_CLOSED")
	x.rejects(a.amend(id, fields{"amount": "4", "price": "11"}), "MARKET_CLOSED")
	a.moved(id, fields{"amount": "4"}, "OPEN", "0")
	x.operate("market", "resume", m.pair)

	x.operate("account", "freeze", a.id)
	x.rejects(a.amend(id, fields{"amount": "6"}), "ACCOUNT_FROZEN")
	x.rejects(a.amend(id, fields{"price": "11"}), "ACCOUNT_FROZEN")
	a.moved(id, fields{"amount": "3"}, "OPEN", "0")
	x.operate("account", "unfreeze", a.id)
	a.terms(id, "10", "3")
}

func amendedStop(x *exam) {
	x.covers("SPOT-AMD-9")
	m := x.market()
	a, b := x.traders(m)
	id := a.place(m.stop("SELL", "5", "6", "2"))
	a.moved(id, fields{"price": "4", "amount": "3"}, "OPEN", "0")
	a.terms(id, "4", "3")
	x.equal("stop", a.history(id).get("stop").text, "5")
	x.trade(m, b, b, "5", "1")
	x.same("asks", levels(x.book(m).get("asks")), "4.0000:3.0000")
	a.moved(id, fields{"price": "4.5"}, "OPEN", "0")
	b.buy(m, "4.5", "3")
	a.stands(id, "FILLED", "3")

	id = a.place(m.takeProfit("SELL", "12", "11", "2"))
	a.moved(id, fields{"price": "13", "amount": "1"}, "OPEN", "0")
	x.trade(m, b, b, "12", "1")
	x.same("asks", levels(x.book(m).get("asks")), "13.0000:1.0000")
	a.moved(id, fields{"amount": "2"}, "OPEN", "0")
	x.same("asks", levels(x.book(m).get("asks")), "13.0000:2.0000")
}

func amendedAgain(x *exam) {
	x.covers("SPOT-AMD-10")
	m := x.market()
	a, b := x.traders(m)
	first, second := a.sell(m, "10", "2"), a.sell(m, "10", "2")
	s := a.private()
	for range 2 {
		a.moved(first, fields{"price": "10"}, "OPEN", "0")
		a.moved(first, fields{"price": "10", "amount": "2"}, "OPEN", "0")
	}
	if got := s.fence(); len(got) != 0 {
		x.Errorf("%d messages; the first is %s", len(got), got[0])
	}
	b.buy(m, "10", "1")
	for range 2 {
		a.moved(first, fields{"amount": "1.5"}, "OPEN", "1")
	}
	b.buy(m, "10", "0.5")
	a.stands(first, "FILLED", "1.5")
	a.stands(second, "OPEN", "0")
}

func amendmentsAreListed(x *exam) {
	x.covers("SPOT-AMD-11")
	m := x.market()
	a := x.trader(m)
	id, other := a.sell(m, "10", "3"), a.sell(m, "11", "1")
	a.amend(id, fields{"amount": "2"})
	a.amend(id, fields{"amount": "2"})
	a.amend(id, fields{"price": "12", "amount": "2.5"})
	x.rejects(a.amend(id, fields{"amount": "100001"}), "INSUF_FUNDS")
	order := func(id string) *value { return a.post("/order", fields{"obid": id}).value.get("order") }
	want := `[{"time":"#time","price":"12","amount":"2.5","old_price":"10","old_amount":"2","amendment_id":"#id"},` +
		`{"time":"#time","price":"10","amount":"2","old_price":"10","old_amount":"3","amendment_id":"#id"}]`
	x.match(order(id).get("amendments"), want)
	a.cancel(id)
	x.match(order(id).get("amendments"), want)
	if order(other).has("amendments") || a.history(id).has("amendments") {
		x.Errorf("amendments of an order that was not amended, or in a list")
	}
}

func amendmentsArePaged(x *exam) {
	x.covers("SPOT-AMD-12")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	var want []string
	for i := range 51 {
		price := strconv.Itoa(11 + i)
		a.amend(id, fields{"price": price})
		want = slices.Insert(want, 0, price)
	}
	list := func(more fields) *value {
		return a.post("/order", more.with("obid", id)).value.get("order").get("amendments")
	}
	newest := list(fields{})
	x.same("the prices of the first page", newest.column("price"), want[:50]...)
	x.same("those of the second", list(fields{"after_amendment": number(newest.items[49].get("amendment_id").text)}).column("price"), want[50])
	x.same("those behind an early one", list(fields{"after_amendment": newest.items[8].get("amendment_id").text}).column("price"), want[9:]...)
	x.same("those behind the first of all", list(fields{"after_amendment": 1}).column("price"))
	for _, bad := range []any{"x", 0.5, -1, []any{}} {
		x.failsNaming(a.post("/order", fields{"obid": id, "after_amendment": bad}), "after_amendment")
	}
}

func amendedMessages(x *exam) {
	x.covers("SPOT-MYO-12")
	m := x.market()
	a, b := x.traders(m)
	id := a.place(m.limit("SELL", "10", "2").with("client_id", "a:1"))
	b.buy(m, "10", "0.5")
	s := a.private()
	a.amend(id, fields{"amount": "1.5"})
	x.golden(first(s.fence()), "stream_orderUpdate.amended", "pair", m.pair, "obid", id)

	b.buy(m, "9", "0.4")
	a.amend(id, fields{"price": "9", "amount": "2"})
	got := of(s.fence(), "myOrders")
	if len(got) != 2 {
		x.Fatalf("%d messages, want 2: %v", len(got), got)
	}
	begin := `{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"` + m.pair + `","obid":` + id + `,"side":"SELL","time":"#unix",` +
		`"time_us":"#micros","price":"9",`
	x.match(got[0], begin+`"amount":"2","amended":true,"filled":"0.5","left":"1.5","client_id":"a:1","seq":"#id"}`)
	x.match(got[1], begin+`"filled":"0.9","left":"1.1","client_id":"a:1","seq":"#id"}`)

	stop := a.place(m.stop("SELL", "1", "1", "2"))
	a.amend(stop, fields{"amount": "3"})
	got = of(s.fence(), "myOrders")
	x.equal("fields", got[len(got)-1].names(), "class stream event pair obid side time time_us price amount amended left seq")
}
