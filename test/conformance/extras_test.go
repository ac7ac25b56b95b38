package conformance

import "testing"

var extrasChecks = []check{
	orderByID, orderByName, orderOfNobody, cancelAll, config, userFees, exchangeTime, postOnlyRests, postOnlyForm, namesAreShown,
	rejectedByName,
}

func TestExtras(t *testing.T) { examine(t, extrasChecks) }

func orderByID(x *exam) {
	x.covers("SPOT-EXT-1")
	m := x.market()
	a, b := x.traders(m)
	told := a.place(m.limit("SELL", "10", "2").with("client_id", "first"))
	b.buy(m, "10", "0.5")
	x.golden(a.post("/order", fields{"obid": number(told)}).value, "order", "pair", m.pair, "base", m.base)
	a.cancel(told)
	id := a.sell(m, "10", "2")
	for range 2 {
		x.answers(a.post("/order", fields{"obid": number(id)}), `{"success":true,"order":`+a.history(id).String()+`}`)
		x.equal("obid", a.post("/order", fields{"obid": id}).value.get("order").get("obid").text, id)
		b.buy(m, "10", "1")
	}
	a.stands(id, "FILLED", "2")
	x.equal("status", a.post("/order", fields{"obid": id}).value.get("order").get("status").text, "FILLED")
	x.fails(a.post("/order", fields{}), "Missing data: obid")
}

func orderByName(x *exam) {
	x.covers("SPOT-EXT-2")
	m := x.market()
	a, b := x.traders(m)
	order := m.limit("SELL", "10", "2").with("client_id", "n")
	id := a.place(order)
	b.place(order)
	x.answers(a.post("/order", fields{"client_id": "n"}), `{"success":true,"order":`+a.history(id).String()+`}`)
	a.cancel(id)
	row := a.post("/order", fields{"client_id": "n"}).value.get("order")
	x.equal("obid", row.get("obid").text, id)
	x.equal("status", row.get("status").text, "CANCELED")
}

func rejectedByName(x *exam) {
	x.covers("SPOT-EXT-11")
	m := x.market()
	a, b := x.traders(m)
	named := func() *value { return a.post("/order", fields{"client_id": "n"}).value }
	poor := m.limit("SELL", "10", "100001").with("client_id", "n")
	x.rejects(a.try(poor), "INSUF_FUNDS")
	x.golden(named(), "order.rejected", "pair", m.pair, "base", m.base)
	x.rejects(a.try(poor), "INSUF_FUNDS")
	x.rejects(a.try(poor.with("amount", "1")), "DUPLICATE_CLIENT_ID")
	x.golden(named(), "order.rejected", "pair", m.pair, "base", m.base)
	x.fails(b.post("/order", fields{"client_id": "n"}), "Order not found")

	x.rejects(a.try(m.stop("SELL", "5", "4", "100001").with("client_id", "m")), "INSUF_FUNDS")
	x.equal("fields", a.post("/order", fields{"client_id": "m"}).value.get("order").names(),
		"pair time side time_in_force type quote_prec trades status reason base quote price amount stop client_id")
	x.same("orders", a.list("/orders_history").column("obid"))
}

func orderOfNobody(x *exam) {
	x.covers("SPOT-EXT-3")
	m := x.market()
	a, b := x.traders(m)
	id := a.place(m.limit("SELL", "10", "1").with("client_id", "n"))
	x.fails(b.post("/order", fields{"obid": number(id)}), "Order not found")
	x.fails(b.post("/order", fields{"client_id": "n"}), "Order not found")
	x.fails(a.post("/order", fields{"obid": number("9000000000000000000")}), "Order not found")
	a.cancel(id)
	x.fails(b.post("/order", fields{"obid": number(id)}), "Order not found")
}

func cancelAll(x *exam) {
	x.covers("SPOT-EXT-4")
	a, m, n, ids := x.twoMarkets()
	b := x.trader(m)
	other := b.sell(m, "10", "1")
	waits := a.place(m.stop("SELL", "0.001", "5", "1"))
	x.answers(a.post("/open_orders/cancel_all", fields{"filter_pair": n.pair}),
		`{"success":true,"obids":[`+ids[1]+`,`+ids[3]+`]}`)
	x.same("open orders", a.open(), waits, ids[2], ids[0])
	x.golden(a.post("/open_orders/cancel_all", fields{}).value, "open_orders_cancel_all",
		"first", ids[0], "second", ids[2], "third", waits)
	x.same("open orders", a.open())
	x.answers(a.post("/open_orders/cancel_all", fields{}), `{"success":true,"obids":[]}`)
	x.same("open orders of another", b.open(), other)
	for _, state := range a.list("/orders_history").column("status") {
		x.equal("status", state, "CANCELED")
	}
}

func config(x *exam) {
	x.covers("SPOT-EXT-5")
	x.golden(x.post("/config", fields{}).value, "config")
}

func userFees(x *exam) {
	x.covers("SPOT-EXT-6")
	a := x.account()
	x.golden(a.post("/user_fees", fields{}).value, "user_fees")
}

func exchangeTime(x *exam) {
	x.covers("SPOT-EXT-7")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	traded := x.trades(m).items[0].get("time").text
	now := x.post("/time", fields{})
	x.golden(now.value, "time")
	if now := now.value.get("time").text; now < traded || seconds(now) > seconds(traded)+60 {
		x.Errorf("time is %s just after a trade at %s", now, traded)
	}
}

func postOnlyRests(x *exam) {
	x.covers("SPOT-EXT-8")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	post := m.limit("BUY", "9.9999", "1").with("post_only", true)
	x.becomes(b.try(post), "OPEN", "0")
	x.rejects(b.try(post.with("price", "10")), "WOULD_TAKE")
	x.becomes(b.try(post.with("price", "10").with("post_only", false)), "FILLED", "1")
}

func postOnlyForm(x *exam) {
	x.covers("SPOT-EXT-9")
	m := x.market()
	a := x.trader(m)
	post := m.limit("BUY", "9", "1").with("post_only", true)
	x.failsNaming(a.try(post.with("time_in_force", "IOC")), "post_only")
	x.failsNaming(a.try(post.with("time_in_force", "FOK")), "post_only")
	x.failsNaming(a.try(m.stop("BUY", "900", "9", "1").with("post_only", true)), "post_only")
	x.failsNaming(a.try(m.byAmount("BUY", "1").with("post_only", true)), "post_only")
	x.failsNaming(a.try(post.with("post_only", "true")), "post_only")
	x.becomes(a.try(m.byAmount("BUY", "1").with("post_only", false)), "KILLED", "0")
}

func namesAreShown(x *exam) {
	x.covers("SPOT-EXT-10")
	m := x.market()
	a := x.trader(m)
	s := a.private()
	id := a.place(m.limit("SELL", "10", "1").with("client_id", "shown"))
	x.equal("client_id", a.list("/open_orders").items[0].get("client_id").text, "shown")
	a.buy(m, "10", "0.5")
	a.cancel(id)
	x.equal("client_id", a.history(id).get("client_id").text, "shown")
	var names []string
	for _, message := range of(s.fence(), "myOrders") {
		if message.get("obid").text == id {
			names = append(names, message.get("event").text+":"+message.get("client_id").text)
		}
	}
	x.same("messages", names, "orderAccepted:shown", "orderUpdate:shown", "orderUpdate:shown")
}
