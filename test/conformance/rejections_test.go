package conformance

import "testing"

var rejectionsChecks = []check{tooPoor, tooSmall, closedMarket, postOnlyTakes, frozenAccount, uncountable, rejectionChangesNothing}

func TestRejections(t *testing.T) { examine(t, rejectionsChecks) }

func tooPoor(x *exam) {
	x.covers("SPOT-REJ-1")
	m := x.market()
	a, b := x.account("9.99 USDT", "0.9999 "+m.base), x.trader(m)
	for _, order := range []fields{m.limit("BUY", "10", "1"), m.limit("SELL", "10", "1"), m.stop("BUY", "900", "10", "1"), m.byTotal("BUY", "10")} {
		x.rejects(a.try(order), "INSUF_FUNDS")
	}
	b.sell(m, "10", "1")
	x.rejects(a.try(m.byAmount("BUY", "1")), "INSUF_FUNDS")
}

func tooSmall(x *exam) {
	x.covers("SPOT-REJ-2")
	m := x.market()
	a := x.trader(m)
	for _, order := range []fields{m.limit("BUY", "1", "0.9999"), m.stop("BUY", "900", "0.5", "1"), m.byTotal("BUY", "0.5"), m.byTotal("SELL", "0.9999")} {
		x.rejects(a.try(order), "INSUF_TRADE_AMOUNT")
	}
}

func closedMarket(x *exam) {
	x.covers("SPOT-REJ-3")
	m := x.market()
	a := x.trader(m)
	x.undo("market", "resume", m.pair)
	for _, state := range []string{"halt", "cancel-only"} {
		x.operate("market", state, m.pair)
		for _, order := range []fields{m.limit("BUY", "10", "1"), m.byAmount("SELL", "1"), m.stop("BUY", "900", "10", "1")} {
			x.rejects(a.try(order), "MARKET_CLOSED")
		}
	}
	x.operate("market", "resume", m.pair)
	x.becomes(a.try(m.limit("BUY", "10", "1")), "OPEN", "0")
}

func postOnlyTakes(x *exam) {
	x.covers("SPOT-REJ-4")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	x.rejects(b.try(m.limit("BUY", "10", "1").with("post_only", true)), "WOULD_TAKE")
	b.buy(m, "9", "1")
	x.rejects(b.try(m.limit("SELL", "8", "1").with("post_only", true)), "WOULD_TAKE")
}

func frozenAccount(x *exam) {
	x.covers("SPOT-REJ-5")
	m := x.market()
	a := x.trader(m)
	first, second := a.sell(m, "10", "1"), a.sell(m, "10", "1")
	x.operate("account", "freeze", a.id)
	x.rejects(a.try(m.limit("SELL", "10", "1")), "ACCOUNT_FROZEN")
	x.succeeds(a.cancel(first))
	x.same("open orders", a.open(), second)
	x.operate("account", "unfreeze", a.id)
	x.becomes(a.try(m.limit("SELL", "10", "1")), "OPEN", "0")
}

func uncountable(x *exam) {
	x.covers("SPOT-REJ-6")
	m := x.market()
	a := x.trader(m)
	const most = "400000000000000"
	x.rejects(a.try(m.limit("BUY", most, most)), "OVERFLOW")
	x.rejects(a.try(m.limit("SELL", most, most)), "OVERFLOW")
}

func rejectionChangesNothing(x *exam) {
	x.covers("SPOT-REJ-7")
	m := x.market()
	a := x.account("10 USDT")
	before := x.book(m)
	res := a.try(m.limit("BUY", "10", "1.0001"))
	x.rejects(res, "INSUF_FUNDS")
	x.equal("fields", res.value.names(), "success error code")
	x.equal("book", x.book(m).String(), before.String())
	x.becomes(a.try(m.limit("BUY", "10", "1")), "OPEN", "0")
	x.same("states", a.list("/orders_history").column("status"), "OPEN")
}
