package conformance

import "testing"

var selfChecks = []check{selfNone, selfNewest, selfOldest, selfBoth, selfFOK, selfReleases}

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
	for _, mode := range []string{"cancel_newest", "cancel_oldest", "cancel_both"} {
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
