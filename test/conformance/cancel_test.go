package conformance

import "testing"

var cancelChecks = []check{cancelAnswers, cancelTakesAway, cancelOfNothing, cancelInHalt, cancelOnly, cancelByName}

func TestCancel(t *testing.T) { examine(t, cancelChecks) }

func cancelAnswers(x *exam) {
	x.covers("SPOT-CAN-1")
	m := x.market()
	a := x.trader(m)
	x.fails(a.post("/open_orders/cancel", fields{}), "Missing data: obid")
	x.failsNaming(a.post("/open_orders/cancel", fields{"obid": 1, "client_id": "n"}), "obid", "client_id")
	x.golden(a.cancel(a.sell(m, "10", "1")).value, "open_orders_cancel")
}

func cancelTakesAway(x *exam) {
	x.covers("SPOT-CAN-2")
	m := x.market()
	a, b := x.traders(m)
	id, kept := a.sell(m, "10", "3"), a.sell(m, "10", "1")
	b.buy(m, "10", "1")
	a.cancel(id)
	a.stands(id, "CANCELED", "1")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:1.0000")
	x.same("open orders", a.open(), kept)
	stop := a.place(m.stop("BUY", "900", "900", "1"))
	a.cancel(stop)
	x.equal("status", a.history(stop).get("status").text, "CANCELED")
}

func cancelOfNothing(x *exam) {
	x.covers("SPOT-CAN-3")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "1")
	x.fails(b.cancel(id), "Order not found")
	x.fails(a.cancel("9000000000000000000"), "Order not found")
	x.fails(a.cancel("0"), "Order not found")
	x.same("open orders", a.open(), id)
	b.buy(m, "10", "1")
	x.fails(a.cancel(id), "Order not found")
	again := a.sell(m, "10", "1")
	a.cancel(again)
	x.fails(a.cancel(again), "Order not found")
}

func cancelInHalt(x *exam) {
	x.covers("SPOT-CAN-4")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	x.fails(a.cancel(id), "Market halted")
	x.same("open orders", a.open(), id)
	x.operate("market", "resume", m.pair)
	x.succeeds(a.cancel(id))
}

func cancelByName(x *exam) {
	x.covers("SPOT-CAN-7")
	m := x.market()
	a, b := x.traders(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	id, other := a.place(order), b.place(order)
	kept := a.place(order.with("client_id", "m"))
	cancel := func(name string) *answer { return a.post("/open_orders/cancel", fields{"client_id": name}) }
	x.fails(cancel("o"), "Order not found")
	x.succeeds(cancel("n"))
	a.stands(id, "CANCELED", "0")
	x.same("open orders", a.open(), kept)
	x.same("open orders of another", b.open(), other)
	x.fails(cancel("n"), "Order not found")
	x.failsNaming(cancel("o p"), "client_id")
}

func cancelOnly(x *exam) {
	x.covers("SPOT-CAN-5")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	x.undo("market", "resume", m.pair)
	x.operate("market", "cancel-only", m.pair)
	x.succeeds(a.cancel(id))
	a.stands(id, "CANCELED", "0")
}
