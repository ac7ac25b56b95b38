package conformance

import (
	"strings"
	"testing"
)

var namesChecks = []check{nameForm, nameRepeated, nameAtOnce, nameForOthers, firstOutcome, rejectionRepeated, namesOfAccounts}

func TestClientIDs(t *testing.T) { examine(t, namesChecks) }

func nameForm(x *exam) {
	x.covers("SPOT-CID-1")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1")
	for _, good := range []string{"a", "0", "A-z.0_9:-", strings.Repeat("x", 36)} {
		x.becomes(a.try(order.with("client_id", good)), "OPEN", "0")
	}
	for _, bad := range []any{"", strings.Repeat("x", 37), "a b", "a/b", "é", "a\n", "a\x00", 7, true} {
		x.failsNaming(a.try(order.with("client_id", bad)), "client_id")
	}
	if n := len(a.open()); n != 4 {
		x.Errorf("%d orders, want 4", n)
	}
}

func nameRepeated(x *exam) {
	x.covers("SPOT-CID-2")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	id := a.place(order)
	for _, resp := range []string{"RESULT", "ACK", "RESULT"} {
		x.equal("obid", order.ask(a, resp).value.get("obid").text, id)
	}
	x.answers(order.ask(a, "NONE"), `{"success":true}`)
	x.same("open orders", a.open(), id)
	a.cancel(id)
	x.equal("obid", a.try(order).value.get("obid").text, id)
	x.same("open orders", a.open())
}

// nameAtOnce sends the same request several times concurrently.
func nameAtOnce(x *exam) {
	x.covers("SPOT-CID-2")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	var flows []<-chan *answer
	for range 8 {
		flows = append(flows, a.later(order, order))
	}
	id := a.place(order)
	for _, answers := range flows {
		for res := range answers {
			x.answers(res, `{"success":true,"obid":`+id+`,"status":"OPEN","filled":"0"}`)
		}
	}
	x.same("open orders", a.open(), id)
}

func nameForOthers(x *exam) {
	x.covers("SPOT-CID-3")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	id := a.place(order)
	for name, other := range map[string]string{"side": "BUY", "price": "10.5", "amount": "2", "time_in_force": "IOC", "stp": "cancel_newest"} {
		x.rejects(a.try(order.with(name, other)), "DUPLICATE_CLIENT_ID")
	}
	x.same("open orders", a.open(), id)
}

func firstOutcome(x *exam) {
	x.covers("SPOT-CID-4")
	m := x.market()
	a, b := x.traders(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	id := a.place(order)
	b.buy(m, "10", "1")
	a.stands(id, "FILLED", "1")
	x.answers(a.try(order), `{"success":true,"obid":`+id+`,"status":"OPEN","filled":"0"}`)
	b.sell(m, "10", "1")
	ioc := m.limit("BUY", "10", "3").with("time_in_force", "IOC").with("client_id", "m")
	first := a.try(ioc)
	x.becomes(first, "KILLED", "1")
	x.match(a.try(ioc).value, first.value.String())
}

func rejectionRepeated(x *exam) {
	x.covers("SPOT-CID-5")
	m := x.market()
	a := x.account()
	order := m.limit("BUY", "10", "1").with("client_id", "n")
	x.rejects(a.try(order), "INSUF_FUNDS")
	x.operate("credit", a.id, "USDT", "100")
	x.rejects(a.try(order), "INSUF_FUNDS")
	x.becomes(a.try(order.with("client_id", "m")), "OPEN", "0")
}

func namesOfAccounts(x *exam) {
	x.covers("SPOT-CID-6")
	m := x.market()
	a, b := x.traders(m)
	order := m.limit("SELL", "10", "1").with("client_id", "n")
	first, second := a.place(order), b.place(order.with("price", "11"))
	x.same("open orders", a.open(), first)
	x.same("open orders", b.open(), second)
	if first == second {
		x.Errorf("two accounts have order %s", first)
	}
}
