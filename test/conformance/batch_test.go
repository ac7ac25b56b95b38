package conformance

import (
	"fmt"
	"testing"
)

var batchChecks = []check{batchForm, batchResults, batchParts, batchOrder, batchWalks}

func TestBatch(t *testing.T) { examine(t, batchChecks) }

// batch posts requests together.
func (a *account) batch(requests ...fields) *answer {
	a.x.Helper()
	return a.post("/open_orders/batch", fields{"requests": requests})
}

func placing(order fields) fields { return fields{"place": order} }

func canceling(obid string) fields { return fields{"cancel": fields{"obid": number(obid)}} }

func batchForm(x *exam) {
	x.covers("SPOT-BAT-1")
	m := x.market()
	a := x.trader(m)
	x.fails(a.post("/open_orders/batch", fields{}), "Missing data: requests")
	x.fails(a.batch(), "Missing data: requests")
	order := placing(m.limit("SELL", "10", "1"))
	for _, bad := range []any{7, "x", order, []any{order, 7}, []any{[]any{order}}} {
		x.failsNaming(a.post("/open_orders/batch", fields{"requests": bad}), "requests")
	}
	var many []fields
	for range 51 {
		many = append(many, order)
	}
	x.failsNaming(a.batch(many...), "requests")
	x.same("open orders", a.open())
	x.succeeds(a.batch(many[:50]...))
	if open := a.open(); len(open) != 50 {
		x.Errorf("%d open orders, want 50", len(open))
	}
}

func batchResults(x *exam) {
	x.covers("SPOT-BAT-2")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	x.golden(a.batch(canceling(id), placing(m.limit("SELL", "11", "1"))).value, "open_orders_batch")
	order := m.limit("SELL", "12", "1")
	x.answers(a.batch(placing(order.with("resp_type", "NONE")), placing(order.with("resp_type", "ACK")), canceling(id),
		placing(order.with("amount", "100001"))), `{"success":true,"results":[{"success":true},`+
		`{"success":true,"obid":"#id","status":"OPEN"},`+
		`{"success":false,"error":"Order not found","code":"ORDER_NOT_FOUND"},`+
		`{"success":false,"error":"#text","code":"INSUF_FUNDS"}]}`)
	x.same("asks", levels(x.book(m).get("asks")), "11.0000:1.0000", "12.0000:2.0000")
}

func batchParts(x *exam) {
	x.covers("SPOT-BAT-3")
	m := x.market()
	a, b := x.traders(m)
	other := b.sell(m, "10", "1")
	order := m.limit("SELL", "11", "1")
	got := a.batch(placing(order.with("price", "1.00001")), fields{}, placing(order), fields{"place": order, "cancel": fields{"obid": 1}},
		fields{"cancel": fields{}}, canceling(other), placing(order.with("pair", nil)), fields{"place": 7}).value.get("results")
	var outcomes []string
	for _, r := range got.items {
		outcomes = append(outcomes, fmt.Sprint(r.get("success").kind == 't', ":", r.get("code").text))
	}
	x.same("results", outcomes, "false:VALIDATION_ERROR", "false:VALIDATION_ERROR", "true:", "false:VALIDATION_ERROR",
		"false:MISSING_DATA", "false:ORDER_NOT_FOUND", "false:MISSING_DATA", "false:VALIDATION_ERROR")
	x.same("open orders", a.open(), got.items[2].get("obid").text)
	x.same("open orders of another", b.open(), other)
}

func batchOrder(x *exam) {
	x.covers("SPOT-BAT-4")
	m := x.market()
	a := x.account("3 " + m.base)
	first := a.sell(m, "10", "3")
	order := m.limit("SELL", "11", "3")
	got := a.batch(placing(order), canceling(first), placing(order.with("amount", "2").with("client_id", "n")),
		placing(order.with("amount", "2")), placing(order.with("amount", "1")), fields{"cancel": fields{"client_id": "n"}})
	x.answers(got, `{"success":true,"results":[{"success":false,"error":"#text","code":"INSUF_FUNDS"},{"success":true},`+
		`{"success":true,"obid":"#id","status":"OPEN","filled":"0"},{"success":false,"error":"#text","code":"INSUF_FUNDS"},`+
		`{"success":true,"obid":"#id","status":"OPEN","filled":"0"},`+
		`{"success":false,"error":"Order not found","code":"ORDER_NOT_FOUND"}]}`)
	x.same("asks", levels(x.book(m).get("asks")), "11.0000:3.0000")
}

func batchWalks(x *exam) {
	x.covers("SPOT-BAT-5")
	m := x.market()
	a, b := x.traders(m)
	b.sell(m, "10", "3")
	got := a.batch(placing(m.byAmount("BUY", "1")), placing(m.byAmount("BUY", "1")),
		placing(m.limit("BUY", "10", "1").with("time_in_force", "FOK")), placing(m.limit("BUY", "9", "1")))
	x.answers(got, `{"success":true,"results":[{"success":true,"obid":"#id","status":"FILLED","filled":"1"},`+
		`{"success":false,"error":"#text","code":"VALIDATION_ERROR"},{"success":false,"error":"#text","code":"VALIDATION_ERROR"},`+
		`{"success":true,"obid":"#id","status":"OPEN","filled":"0"}]}`)
}
