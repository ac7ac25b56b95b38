package conformance

import (
	"strconv"
	"testing"
)

var ocoChecks = []check{
	ocoForm, ocoAnswer, ocoWhole, ocoHolds, ocoTrades, ocoTriggers, ocoWaitsForTurn, ocoEnds, ocoCancel, ocoRead, ocoRows,
	ocoAgain, ocoAmended,
}

func TestOCO(t *testing.T) { examine(t, ocoChecks) }

// oco returns the request for a list.
func oco(orders ...fields) fields { return fields{"type": "OCO", "orders": orders} }

// after returns the id that follows an id.
func after(id string) string {
	n, _ := strconv.ParseUint(id, 10, 64)
	return strconv.FormatUint(n+1, 10)
}

// count checks the length of a list.
func (x *exam) count(what string, got []string, want int) {
	x.Helper()
	x.equal("number of "+what, strconv.Itoa(len(got)), strconv.Itoa(want))
}

// untouched checks that a stop was killed while it waited: it has no filled.
func (a *account) untouched(obid string) {
	a.x.Helper()
	a.stands(obid, "KILLED", "")
}

// exit returns the request for a list that sells at a price, or at the market below a stop.
func (m *market) exit(price, stop, amount string) fields {
	return oco(m.limit("SELL", price, amount), m.behind("STOP_MARKET", "SELL", stop, amount, ""))
}

// placeList posts a list that must be accepted, and returns the ids of its orders. The first one is
// that of the list.
func (a *account) placeList(request fields) (first, second string) {
	a.x.Helper()
	res := a.post("/order_lists/new", request)
	rows := res.value.get("orders").items
	if len(rows) != 2 {
		a.x.broken("list %v: %s", request, res.value)
	}
	first, second = rows[0].get("obid").text, rows[1].get("obid").text
	a.x.equal("list_id", res.value.get("list_id").text, first)
	return first, second
}

func ocoForm(x *exam) {
	x.covers("SPOT-OCO-1")
	m, n := x.market(), x.market()
	a := x.trader(m)
	limit, stop := m.limit("SELL", "12", "1"), m.stop("SELL", "5", "4", "1")
	try := func(request fields) *answer { return a.post("/order_lists/new", request) }
	for _, name := range []string{"type", "orders"} {
		x.fails(try(oco(limit, stop).with(name, nil)), "Missing data: "+name)
	}
	x.failsNaming(try(oco(limit, stop).with("type", "OTO")), "type", "OCO")
	for _, bad := range []any{"x", 7, fields{}, []any{}, []any{limit}, []any{limit, stop, stop}, []any{limit, 7}} {
		x.failsNaming(try(fields{"type": "OCO", "orders": bad}), "orders")
	}
	for _, pair := range [][2]fields{
		{limit, n.stop("SELL", "5", "4", "1")}, {limit, m.stop("BUY", "15", "16", "1")}, {limit, limit},
		{limit.with("client_id", "n"), stop.with("client_id", "n")},
	} {
		x.failsNaming(try(oco(pair[0], pair[1])), "orders")
	}
	for _, bad := range []fields{
		limit.with("time_in_force", "IOC"), m.byAmount("SELL", "1"), limit.with("price", "1.00001"), stop.with("stop", nil),
		limit.with("pair", "NOT/THERE"), limit.with("side", "sell"),
	} {
		x.failsNaming(try(oco(bad, stop)), "orders[0]")
		x.failsNaming(try(oco(stop, bad)), "orders[1]")
	}
	x.same("open orders", a.open())
}

func ocoAnswer(x *exam) {
	x.covers("SPOT-OCO-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	request := oco(m.limit("SELL", "12", "2").with("client_id", "up"), m.stop("SELL", "5", "4", "2").with("resp_type", "NONE"))
	x.golden(a.post("/order_lists/new", request).value, "order_lists_new")
	open := a.open()
	x.equal("id of the second order", open[0], after(open[1]))
	b.buy(m, "9", "0.5")
	acts := a.post("/order_lists/new", oco(m.stop("SELL", "5", "4", "2"), m.limit("SELL", "9", "2")))
	x.answers(acts, `{"success":true,"list_id":"#id","type":"OCO","orders":[{"obid":"#id","status":"KILLED","filled":"0"},`+
		`{"obid":"#id","status":"OPEN","filled":"0.5"}]}`)
}

func ocoWhole(x *exam) {
	x.covers("SPOT-OCO-3")
	m := x.market()
	a, b := x.account("2 "+m.base), x.trader(m)
	x.trade(m, b, b, "10", "1")
	b.buy(m, "8", "1")
	s := a.private()
	try := func(first, second fields) *answer { return a.post("/order_lists/new", oco(first, second)) }
	good := m.stop("SELL", "5", "4", "2")
	x.rejects(try(good, m.limit("SELL", "12", "2.0001")), "INSUF_FUNDS")
	x.rejects(try(m.limit("SELL", "12", "2.0001"), good), "INSUF_FUNDS")
	x.rejects(try(good, m.limit("SELL", "12", "0.0001")), "INSUF_TRADE_AMOUNT")
	x.rejects(try(good, m.limit("SELL", "8", "1").with("post_only", true)), "WOULD_TAKE")
	x.rejects(try(m.limit("SELL", "12", "1"), m.behind("STOP_MARKET", "SELL", "0.0001", "1", "")), "INSUF_TRADE_AMOUNT")
	x.same("open orders", a.open())
	x.same("orders", a.list("/orders_history").column("obid"))
	var reasons []string
	for _, message := range of(s.fence(), "myOrders") {
		reasons = append(reasons, message.get("event").text+" "+message.get("reason").text)
	}
	x.same("messages", reasons,
		"orderRejected INSUF_FUNDS", "orderRejected INSUF_FUNDS", "orderRejected INSUF_FUNDS", "orderRejected INSUF_FUNDS",
		"orderRejected INSUF_TRADE_AMOUNT", "orderRejected INSUF_TRADE_AMOUNT", "orderRejected WOULD_TAKE", "orderRejected WOULD_TAKE",
		"orderRejected INSUF_TRADE_AMOUNT", "orderRejected INSUF_TRADE_AMOUNT")
	first, _ := a.placeList(oco(good, m.limit("SELL", "12", "2")))
	x.count("open orders", a.open(), 2)
	x.succeeds(a.post("/order_lists/cancel", fields{"list_id": number(first)}))
}

func ocoHolds(x *exam) {
	x.covers("SPOT-OCO-4")
	m := x.market()
	b := x.trader(m)
	x.trade(m, b, b, "10", "1")
	a := x.account("100 USDT")
	buys := oco(m.limit("BUY", "8", "5"), m.stop("BUY", "12", "20", "5"))
	poor := x.account("99.9999 USDT")
	x.rejects(poor.post("/order_lists/new", buys), "INSUF_FUNDS")
	first, _ := a.placeList(buys)
	x.rejects(a.try(m.limit("BUY", "0.01", "100")), "INSUF_FUNDS")

	b.sell(m, "8", "1") // 40 are needed and 8 of them spent
	x.rejects(a.try(m.limit("BUY", "1", "60.0001")), "INSUF_FUNDS")
	rest := a.place(m.limit("BUY", "1", "60"))
	a.stands(first, "OPEN", "1")
	a.cancel(first)
	a.cancel(rest)
	x.becomes(a.try(m.limit("BUY", "1", "92")), "OPEN", "0")

	c := x.account("3 " + m.base)
	c.placeList(m.exit("30", "0.5", "3"))
	x.rejects(c.try(m.limit("SELL", "30", "1")), "INSUF_FUNDS")
}

func ocoTrades(x *exam) {
	x.covers("SPOT-OCO-5")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	limit, stop := a.placeList(m.exit("12", "5", "2"))
	s := a.private()
	b.buy(m, "12", "0.5")
	a.untouched(stop)
	a.stands(limit, "OPEN", "0.5")
	var told []string
	for _, message := range of(s.fence(), "myOrders") {
		told = append(told, message.get("obid").text+message.get("status").text)
	}
	x.same("messages", told, stop+"KILLED", limit)
	x.same("open orders", a.open(), limit)
	x.same("asks", levels(x.book(m).get("asks")), "12.0000:1.5000")
	x.trade(m, b, b, "5", "1")
	x.same("open orders", a.open(), limit)

	b.buy(m, "9", "1")
	stop, limit = a.placeList(oco(m.stop("SELL", "4", "3", "1"), m.limit("SELL", "9", "1")))
	a.untouched(stop)
	a.stands(limit, "FILLED", "1")
}

func ocoTriggers(x *exam) {
	x.covers("SPOT-OCO-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	limit, stop := a.placeList(m.exit("12", "5", "2"))
	x.same("asks", levels(x.book(m).get("asks")), "12.0000:2.0000")
	b.buy(m, "4.5", "1")
	b.buy(m, "5", "1")
	b.sell(m, "5", "1")
	a.stands(limit, "KILLED", "0")
	a.stands(stop, "KILLED", "1") // nobody buys more
	x.same("asks", levels(x.book(m).get("asks")))

	x.trade(m, b, b, "10", "1")
	below, above := a.placeList(oco(m.stop("SELL", "5", "4", "2"), m.takeProfit("SELL", "15", "14", "2")))
	x.trade(m, b, b, "15", "1")
	a.untouched(below)
	a.stands(above, "OPEN", "0")
	x.same("asks", levels(x.book(m).get("asks")), "14.0000:2.0000")

	limit, stop = a.placeList(oco(m.limit("SELL", "20", "1"), m.stop("SELL", "15", "18", "1")))
	a.stands(limit, "KILLED", "0")
	x.same("open orders", a.open(), stop, above)
}

func ocoWaitsForTurn(x *exam) {
	x.covers("SPOT-OCO-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	limit, stop := a.placeList(oco(m.limit("SELL", "11", "2"), m.stop("SELL", "9", "3", "2")))
	b.sell(m, "9", "1")
	// The first trade reaches the stop; the order is filled whole all the same.
	x.becomes(b.try(m.limit("BUY", "11", "3").with("time_in_force", "FOK")), "FILLED", "3")
	a.untouched(stop)
	a.stands(limit, "FILLED", "2")
	x.same("prices", a.list("/trades_history").column("price"), "11")
}

func ocoEnds(x *exam) {
	x.covers("SPOT-OCO-7")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	first, second := a.placeList(m.exit("12", "5", "2"))
	x.succeeds(a.cancel(second))
	a.stands(first, "CANCELED", "0")
	x.equal("status", a.history(second).get("status").text, "CANCELED")
	first, second = a.placeList(m.exit("12", "5", "2"))
	x.succeeds(a.cancel(first))
	x.equal("status", a.history(second).get("status").text, "CANCELED")

	first, second = a.placeList(m.exit("12", "5", "2"))
	x.answers(a.post("/open_orders/cancel_all", fields{}), `{"success":true,"obids":[`+first+`,`+second+`]}`)

	first, second = a.placeList(m.exit("12", "5", "2"))
	a.place(m.limit("BUY", "12", "1").with("stp", "cancel_oldest"))
	a.stands(first, "KILLED", "0")
	x.equal("status", a.history(second).get("status").text, "KILLED")
	x.same("asks", levels(x.book(m).get("asks")))
	res := a.post("/order_lists/new", oco(m.limit("SELL", "12", "1").with("stp", "cancel_newest"), m.stop("SELL", "5", "4", "1")))
	for _, row := range res.value.get("orders").items {
		x.equal("status", row.get("status").text, "KILLED")
	}
	x.count("open orders", a.open(), 1)
}

func ocoCancel(x *exam) {
	x.covers("SPOT-OCO-8")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	cancel := func(a *account, id string) *answer {
		return a.post("/order_lists/cancel", fields{"list_id": number(id)})
	}
	first, second := a.placeList(m.exit("12", "5", "2"))
	plain := a.sell(m, "15", "1")
	for _, id := range []string{second, plain, "9000000000000000000", "9223372036854775807"} {
		x.fails(cancel(a, id), "List not found")
	}
	x.fails(cancel(b, first), "List not found")
	x.equal("code", cancel(b, first).value.get("code").text, "LIST_NOT_FOUND")
	x.fails(a.post("/order_lists/cancel", fields{}), "Missing data: list_id")
	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	x.fails(cancel(a, first), "Market halted")
	x.operate("market", "resume", m.pair)
	x.same("open orders", a.open(), plain, second, first)

	x.golden(a.post("/order_lists/cancel", fields{"list_id": first}).value, "order_lists_cancel")
	x.fails(cancel(a, first), "List not found")
	a.stands(first, "CANCELED", "0")
	x.same("open orders", a.open(), plain)

	first, second = a.placeList(m.exit("12", "5", "2"))
	b.buy(m, "12", "1")
	x.succeeds(cancel(a, first))
	a.stands(first, "CANCELED", "1")
	x.equal("status", a.history(second).get("status").text, "KILLED")
}

func ocoRead(x *exam) {
	x.covers("SPOT-OCO-9")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	read := func(a *account, id string) *answer { return a.post("/order_lists", fields{"list_id": number(id)}) }
	request := oco(m.stop("SELL", "5", "4", "2"), m.limit("SELL", "12", "2").with("client_id", "up"))
	first, second := a.placeList(request)
	plain := a.sell(m, "15", "1")
	x.golden(read(a, first).value, "order_lists", "pair", m.pair, "base", m.base)
	x.fails(a.post("/order_lists", fields{}), "Missing data: list_id")
	x.fails(read(b, first), "List not found")
	x.equal("code", read(b, first).value.get("code").text, "LIST_NOT_FOUND")
	for _, id := range []string{second, plain, "9000000000000000000", "9223372036854775807"} {
		x.fails(read(a, id), "List not found")
	}

	b.buy(m, "12", "1")
	rows := func(status string) {
		x.answers(read(a, first), `{"success":true,"list_id":`+first+`,"type":"OCO","status":"`+status+
			`","orders":[`+a.history(first).String()+`,`+a.history(second).String()+`]}`)
	}
	rows("OPEN")
	a.stands(second, "OPEN", "1")
	b.buy(m, "12", "1")
	rows("DONE")
	a.stands(second, "FILLED", "2")
}

func ocoRows(x *exam) {
	x.covers("SPOT-OCO-10", "SPOT-MYO-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	s := a.private()
	first, second := a.placeList(m.exit("12", "5", "2"))
	plain := a.sell(m, "15", "1")
	x.same("list_id of open orders", a.list("/open_orders").column("list_id"), "", first, first)
	x.equal("list_id of an order", a.post("/order", fields{"obid": number(second)}).value.get("order").get("list_id").text, first)
	got := of(s.fence(), "myOrders")
	if len(got) != 3 {
		x.Fatalf("%d messages, want 3", len(got))
	}
	x.match(got[1], `{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"`+m.pair+`","obid":`+second+
		`,"side":"SELL","type":"STOP_MARKET","time":"#unix","time_us":"#micros","time_in_force":"GTC","base":"`+m.base+
		`","quote":"USDT","amount":"2","stop":"5","quote_prec":4,"list_id":`+first+`,"seq":"#id"}`)
	x.equal("list_id", got[0].get("list_id").text, first)
	x.equal("obid", got[2].get("obid").text, plain)
	x.equal("list_id", got[2].get("list_id").text, "")

	b.buy(m, "12", "1")
	for _, message := range of(s.fence(), "myOrders") {
		x.equal("list_id", message.get("list_id").text, first)
	}
	a.cancel(first)
	got = of(s.fence(), "myOrders")
	x.match(got[0], `{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"`+m.pair+`","obid":`+first+
		`,"side":"SELL","time":"#unix","time_us":"#micros","price":"12","status":"CANCELED","filled":"1","left":"1","list_id":`+
		first+`,"seq":"#id"}`)
	x.same("list_id of orders", a.list("/orders_history").column("list_id"), "", first, first)
}

func ocoAgain(x *exam) {
	x.covers("SPOT-OCO-11")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	up, down := m.limit("SELL", "12", "2").with("client_id", "up"), m.stop("SELL", "5", "4", "2")
	try := func(first, second fields) *answer { return a.post("/order_lists/new", oco(first, second)) }
	placed := try(up, down).value.String()
	x.answers(try(up, down), placed)
	b.buy(m, "12", "1")
	x.answers(try(up, down), placed)
	x.rejects(try(up, down.with("stop", "6")), "DUPLICATE_CLIENT_ID")
	x.rejects(try(down, up), "DUPLICATE_CLIENT_ID")
	x.rejects(a.try(up), "DUPLICATE_CLIENT_ID")
	x.count("open orders", a.open(), 1)

	single := m.limit("SELL", "13", "1").with("client_id", "single")
	id := a.place(single)
	x.rejects(try(single, down), "DUPLICATE_CLIENT_ID")
	poor := down.with("amount", "100001").with("client_id", "poor")
	x.rejects(try(up.with("client_id", nil), poor), "INSUF_FUNDS")
	x.rejects(try(up.with("client_id", nil), poor), "INSUF_FUNDS")
	x.rejects(try(up.with("client_id", nil), poor.with("amount", "1")), "DUPLICATE_CLIENT_ID")
	x.succeeds(a.post("/open_orders/cancel", fields{"client_id": "up"}))
	x.same("open orders", a.open(), id)
}

func ocoAmended(x *exam) {
	x.covers("SPOT-OCO-12")
	m := x.market()
	a, b := x.account("3 "+m.base), x.trader(m)
	x.trade(m, b, b, "10", "1")
	limit, stop := a.placeList(oco(m.limit("SELL", "12", "1"), m.stop("SELL", "5", "4", "2")))
	x.rejects(a.amend(limit, fields{"amount": "3.0001"}), "INSUF_FUNDS")
	x.succeeds(a.amend(limit, fields{"amount": "3"}))
	x.rejects(a.try(m.limit("SELL", "15", "1")), "INSUF_FUNDS")
	x.succeeds(a.amend(limit, fields{"amount": "0.5"}))
	rest := a.place(m.limit("SELL", "15", "1")) // the stop holds 2 of 3
	x.rejects(a.try(m.limit("SELL", "15", "1")), "INSUF_FUNDS")
	x.succeeds(a.amend(stop, fields{"amount": "1", "price": "4.5"}))
	x.becomes(a.try(m.limit("SELL", "15", "1").with("time_in_force", "IOC")), "KILLED", "0")

	b.buy(m, "9", "1")
	x.answers(a.amend(limit, fields{"price": "9"}), `{"success":true,"obid":`+limit+`,"status":"FILLED","filled":"0.5"}`)
	a.untouched(stop)
	x.same("open orders", a.open(), rest)

	limit, stop = a.placeList(oco(m.limit("SELL", "12", "1"), m.stop("SELL", "5", "4", "1")))
	x.succeeds(a.replace(stop, m.limit("SELL", "13", "1"), "stop_on_failure"))
	a.stands(limit, "CANCELED", "0")
	x.same("asks", levels(x.book(m).get("asks")), "13.0000:1.0000", "15.0000:1.0000")
}
