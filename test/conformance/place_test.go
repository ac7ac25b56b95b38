package conformance

import "testing"

var placeChecks = []check{
	orderNeeds, limitNeeds, marketNeeds, behindStopNeeds, noneSaysNothing, ackSaysOpen, resultSaysAll, rejectionText, refusedAtOnce,
	resultAtRest, idsRise,
}

func TestNewOrder(t *testing.T) { examine(t, placeChecks) }

func orderNeeds(x *exam) {
	x.covers("SPOT-NEW-1")
	a := x.account()
	for _, name := range []string{"pair", "side", "type", "time_in_force"} {
		x.fails(a.try(untouched.limit("BUY", "10", "1").with(name, nil)), "Missing data: "+name)
	}
}

func limitNeeds(x *exam) {
	x.covers("SPOT-NEW-2")
	a := x.account()
	for _, name := range []string{"price", "amount"} {
		x.fails(a.try(untouched.limit("BUY", "10", "1").with(name, nil)), "Missing data: "+name)
		x.fails(a.try(untouched.limit("BUY", "10", "1").with(name, nil).with("total", "10")), "Missing data: "+name)
		x.fails(a.try(untouched.stop("BUY", "9", "10", "1").with(name, nil)), "Missing data: "+name)
		x.fails(a.try(untouched.takeProfit("BUY", "9", "10", "1").with(name, nil)), "Missing data: "+name)
	}
	x.fails(a.try(untouched.stop("BUY", "9", "10", "1").with("stop", nil)), "Missing data: stop")
	x.fails(a.try(untouched.takeProfit("BUY", "9", "10", "1").with("stop", nil)), "Missing data: stop")
}

func behindStopNeeds(x *exam) {
	x.covers("SPOT-NEW-11")
	m := x.market()
	a := x.trader(m)
	for _, kind := range []string{"STOP_MARKET", "TAKE_PROFIT_MARKET"} {
		sell := m.behind(kind, "SELL", "200", "1", "")
		x.fails(a.try(sell.with("stop", nil)), "Missing data: stop")
		x.fails(a.try(sell.with("amount", nil)), "Missing data: amount")
		x.failsNaming(a.try(sell.with("total", "10")), "amount", "total")
		x.failsNaming(a.try(m.behind(kind, "SELL", "200", "", "10")), "total")
		x.fails(a.try(m.behind(kind, "BUY", "200", "", "10").with("total", nil)), "Missing data: amount")
	}
	x.becomes(a.try(m.behind("STOP_MARKET", "SELL", "0.01", "100", "")), "OPEN", "0")
	x.becomes(a.try(m.behind("STOP_MARKET", "BUY", "9000", "", "10")), "OPEN", "0")
	x.becomes(a.try(m.behind("TAKE_PROFIT_MARKET", "SELL", "9000", "1", "").with("price", "7")), "OPEN", "0")
	x.becomes(a.try(m.behind("TAKE_PROFIT_MARKET", "BUY", "0.01", "", "10")), "OPEN", "0")
}

func marketNeeds(x *exam) {
	x.covers("SPOT-NEW-3")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "5")
	x.fails(b.try(m.byAmount("BUY", "").with("amount", nil)), "Missing data: amount")
	x.failsNaming(b.try(m.byAmount("BUY", "1").with("total", "10")), "amount", "total")
	x.becomes(b.try(m.byAmount("BUY", "1")), "FILLED", "1")
	x.becomes(b.try(m.byTotal("BUY", "10")), "FILLED", "1")
}

func noneSaysNothing(x *exam) {
	x.covers("SPOT-NEW-4")
	m := x.market()
	a := x.account("100 " + m.base)
	order := m.limit("SELL", "10", "1")
	x.golden(a.try(order.with("resp_type", "NONE")).value, "open_orders_new.none")
	x.answers(a.try(order.with("resp_type", nil)), `{"success":true}`)
	x.answers(a.try(order.with("amount", "1000").with("resp_type", "NONE")), `{"success":true}`)
	if n := len(a.open()); n != 2 {
		x.Errorf("%d open orders, want 2", n)
	}
}

func ackSaysOpen(x *exam) {
	x.covers("SPOT-NEW-5")
	m := x.market()
	a, b := x.traders(m)
	ack := func(order fields) *answer { return order.ask(b, "ACK") }
	a.sell(m, "10", "5")
	open := `{"success":true,"obid":"#id","status":"OPEN"}`
	x.golden(ack(m.limit("BUY", "9", "1")).value, "open_orders_new.ack")
	x.answers(ack(m.limit("BUY", "10", "1")), open)
	x.answers(ack(m.limit("BUY", "10", "9").with("time_in_force", "FOK")), open)
	x.answers(ack(m.byAmount("BUY", "1")), open)
	x.answers(ack(m.stop("BUY", "900", "900", "1")), open)
	x.same("states", b.list("/orders_history").column("status"), "OPEN", "FILLED", "KILLED", "FILLED", "OPEN")
}

// ask posts the order with another resp_type.
func (f fields) ask(a *account, resp string) *answer {
	a.x.Helper()
	return a.try(f.with("resp_type", resp))
}

func resultSaysAll(x *exam) {
	x.covers("SPOT-NEW-6")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "5.5")
	x.golden(b.try(m.limit("BUY", "10", "0.5")).value, "open_orders_new.result")
	x.becomes(b.try(m.limit("BUY", "10", "1.5")), "FILLED", "1.5")
	x.becomes(b.try(m.limit("BUY", "10", "9").with("time_in_force", "IOC")), "KILLED", "3.5")
	x.becomes(b.try(m.limit("BUY", "10", "1").with("time_in_force", "FOK")), "KILLED", "0")
	last := b.place(m.limit("BUY", "10", "1"))
	res := a.try(m.limit("SELL", "10", "1"))
	x.becomes(res, "FILLED", "1")
	a.stands(res.value.get("obid").text, "FILLED", "1")
	b.stands(last, "FILLED", "1")
}

func rejectionText(x *exam) {
	x.covers("SPOT-NEW-7")
	m := x.market()
	a := x.account("1 " + m.base)
	for _, resp := range []string{"ACK", "RESULT"} {
		x.rejects(m.limit("SELL", "10", "2").ask(a, resp), "INSUF_FUNDS")
		x.rejects(m.limit("SELL", "0.5", "1").ask(a, resp), "INSUF_TRADE_AMOUNT")
	}
}

func refusedAtOnce(x *exam) {
	x.covers("SPOT-NEW-8")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1")
	for _, resp := range []any{nil, "NONE", "ACK", "RESULT"} {
		for name, bad := range map[string]any{
			"price": "10.00001", "amount": "-1", "side": "buy", "type": nil, "pair": "NO/SUCH", "time_in_force": 1,
			"client_id": "no spaces", "post_only": "true",
		} {
			x.failsNaming(a.try(order.with("resp_type", resp).with(name, bad)), name)
		}
	}
	x.failsNaming(a.try(order.with("resp_type", "FULL")), "resp_type")
	x.same("open orders", a.open())
}

func resultAtRest(x *exam) {
	x.covers("SPOT-NEW-9")
	m := x.market()
	a, b := x.traders(m)
	x.becomes(a.try(m.limit("SELL", "10", "1")), "OPEN", "0")
	x.becomes(b.try(m.limit("BUY", "10", "3")), "OPEN", "1")
	x.becomes(b.try(m.stop("BUY", "900", "900", "1")), "OPEN", "0")
}

func idsRise(x *exam) {
	x.covers("SPOT-NEW-10")
	m := x.market()
	a, b := x.account("100 "+m.base, "100 BTC"), x.trader(m)
	other := &market{pair: "ETH/BTC"}
	ids := []string{
		a.sell(m, "10", "1"), b.sell(m, "10", "1"), a.buy(other, "0.00001", "100"), a.sell(m, "10", "1"), b.sell(m, "10", "1"),
	}
	for i := range len(ids) - 1 {
		if decimal(ids[i]).Cmp(decimal(ids[i+1])) >= 0 {
			x.Errorf("ids %v", ids)
		}
	}
}
