package conformance

import (
	"strconv"
	"testing"
)

var replaceChecks = []check{
	replaceForm, replaceMoves, replaceStops, replaceGoesOn, replaceRejected, replaceAgain, replaceMessages,
}

func TestReplace(t *testing.T) { examine(t, replaceChecks) }

// replace asks for an order in place of another one.
func (a *account) replace(obid string, order fields, mode any) *answer {
	a.x.Helper()
	return a.post("/open_orders/replace", fields{"cancel": fields{"obid": number(obid)}, "order": order, "mode": mode})
}

func replaceForm(x *exam) {
	x.covers("SPOT-RPL-1")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	whole := fields{"cancel": fields{"obid": number(id)}, "order": m.limit("SELL", "11", "1"), "mode": "stop_on_failure"}
	for _, name := range []string{"cancel", "order", "mode"} {
		x.fails(a.post("/open_orders/replace", whole.with(name, nil)), "Missing data: "+name)
	}
	for name, bad := range map[string]any{"cancel": 7, "order": "x", "mode": "both"} {
		x.failsNaming(a.post("/open_orders/replace", whole.with(name, bad)), name)
	}
	x.fails(a.post("/open_orders/replace", whole.with("cancel", fields{})), "Missing data: obid")
	x.failsNaming(a.post("/open_orders/replace", whole.with("cancel", fields{"obid": 1, "client_id": "n"})), "obid", "client_id")
	x.failsNaming(a.post("/open_orders/replace", whole.with("order", m.limit("SELL", "1.00001", "1"))), "price")
	x.fails(a.post("/open_orders/replace", whole.with("order", m.limit("SELL", "11", "1").with("pair", nil))), "Missing data: pair")
	x.same("open orders", a.open(), id)
}

func replaceMoves(x *exam) {
	x.covers("SPOT-RPL-2")
	m := x.market()
	a := x.account("10 " + m.base)
	id := a.place(m.limit("SELL", "10", "10").with("client_id", "n"))
	x.golden(a.replace(id, m.limit("SELL", "11", "10"), "stop_on_failure").value, "open_orders_replace")
	a.stands(id, "CANCELED", "0")
	second := a.open()[0]
	got := a.replace(second, m.limit("SELL", "12", "9").with("resp_type", "ACK"), "stop_on_failure")
	x.answers(got, `{"success":true,"cancel":{"success":true},"order":{"success":true,"obid":"#id","status":"OPEN"}}`)
	third := got.value.get("order").get("obid").text
	got = a.replace(third, m.limit("SELL", "13", "8").with("resp_type", "NONE").with("client_id", "m"), "allow_failure")
	x.answers(got, `{"success":true,"cancel":{"success":true},"order":{"success":true}}`)
	got = a.post("/open_orders/replace", fields{
		"cancel": fields{"client_id": "m"}, "order": m.limit("SELL", "14", "7"), "mode": "stop_on_failure",
	})
	last := got.value.get("order").get("obid").text
	x.same("open orders", a.open(), last)
	x.same("asks", levels(x.book(m).get("asks")), "14.0000:7.0000")
}

func replaceStops(x *exam) {
	x.covers("SPOT-RPL-3")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "1")
	order := m.limit("SELL", "11", "1")
	x.fails(b.replace(id, order, "stop_on_failure"), "Order not found")
	x.fails(b.replace(id, order.with("client_id", "n"), "stop_on_failure"), "Order not found")
	x.same("open orders", b.open())
	x.same("open orders", a.open(), id)
	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	x.fails(a.replace(id, order, "stop_on_failure"), "Market halted")
	x.operate("market", "resume", m.pair)
	x.same("open orders", a.open(), id)
}

func replaceGoesOn(x *exam) {
	x.covers("SPOT-RPL-4")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "1")
	for _, order := range []fields{m.limit("SELL", "11", "1"), m.limit("SELL", "11", "1").with("client_id", "n")} {
		x.answers(b.replace(id, order, "allow_failure"), `{"success":true,`+
			`"cancel":{"success":false,"error":"Order not found","code":"ORDER_NOT_FOUND"},`+
			`"order":{"success":true,"obid":"#id","status":"OPEN","filled":"0"}}`)
	}
	if placed := b.open(); len(placed) != 2 {
		x.Errorf("open orders are %v, want two", placed)
	}
	x.same("open orders", a.open(), id)
}

func replaceRejected(x *exam) {
	x.covers("SPOT-RPL-5")
	m := x.market()
	a := x.account("10 " + m.base)
	id := a.sell(m, "10", "10")
	got := a.replace(id, m.limit("SELL", "10", "10.0001"), "stop_on_failure")
	x.answers(got, `{"success":true,"cancel":{"success":true},"order":{"success":false,"error":"#text","code":"INSUF_FUNDS"}}`)
	a.stands(id, "CANCELED", "0")
	x.same("open orders", a.open())
	x.becomes(a.try(m.limit("SELL", "10", "10")), "OPEN", "0")
}

func replaceAgain(x *exam) {
	x.covers("SPOT-RPL-6")
	m := x.market()
	a := x.trader(m)
	first, other := a.sell(m, "10", "1"), a.sell(m, "12", "1")
	order := m.limit("SELL", "11", "1").with("client_id", "n")
	got := a.replace(first, order, "stop_on_failure")
	second := got.value.get("order").get("obid").text
	want := `{"success":true,"cancel":{"success":true},"order":{"success":true,"obid":` + second + `,"status":"OPEN","filled":"0"}}`
	x.answers(got, want)
	x.answers(a.replace(first, order, "stop_on_failure"), want)
	for _, change := range []fields{order.with("price", "13"), order.with("amount", "0.5")} {
		x.rejects(a.replace(first, change, "allow_failure"), "DUPLICATE_CLIENT_ID")
	}
	x.rejects(a.replace(other, order, "allow_failure"), "DUPLICATE_CLIENT_ID")
	x.rejects(a.try(order), "DUPLICATE_CLIENT_ID")
	alone := m.limit("SELL", "13", "1").with("client_id", "o")
	third := a.place(alone)
	x.rejects(a.replace(other, alone, "stop_on_failure"), "DUPLICATE_CLIENT_ID")

	byName := fields{"cancel": fields{"client_id": "o"}, "order": order.with("client_id", "p"), "mode": "stop_on_failure"}
	got = a.post("/open_orders/replace", byName)
	fourth := got.value.get("order").get("obid").text
	x.answers(a.post("/open_orders/replace", byName), got.value.String())
	a.stands(third, "CANCELED", "0")
	x.same("open orders", a.open(), fourth, second, other)
}

func replaceMessages(x *exam) {
	x.covers("SPOT-RPL-7")
	m := x.market()
	a, b := x.traders(m)
	first := a.sell(m, "10", "1")
	b.buy(m, "9", "0.4")
	s := a.private()
	second := a.replace(first, m.limit("SELL", "9", "1"), "stop_on_failure").value.get("order").get("obid").text
	a.replace(second, m.limit("SELL", "9", "1000000"), "stop_on_failure")

	got := of(s.fence(), "myOrders")
	var events []string
	seq := 0
	for i, message := range got {
		events = append(events, message.get("event").text+" "+message.get("obid").text+" "+message.get("status").text)
		n, _ := strconv.Atoi(message.get("seq").text)
		if i > 0 && n != seq+1 {
			x.Errorf("message %s follows number %d", message, seq)
		}
		seq = n
	}
	x.same("messages", events, "orderUpdate "+first+" CANCELED", "orderAccepted "+second+" ", "orderUpdate "+second+" ",
		"orderUpdate "+second+" CANCELED", "orderRejected  ")
}
