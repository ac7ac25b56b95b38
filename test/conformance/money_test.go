package conformance

import "testing"

var moneyChecks = []check{
	buyHoldsQuote, sellHoldsBase, stopHolds, exactlyEnough, feesOfFills, betterPrice, endReleases, fillsAreAvailable,
	marketSellHolds, marketBuyHolds, buyByTotalHolds, sellByTotalHolds, ownRates, feesRoundUp,
}

func TestMoney(t *testing.T) { examine(t, moneyChecks) }

func buyHoldsQuote(x *exam) {
	x.covers("SPOT-HOLD-1")
	m := x.market()
	a := x.account("50 USDT")
	x.becomes(a.try(m.limit("BUY", "10", "3")), "OPEN", "0")
	x.rejects(a.try(m.limit("BUY", "10", "2.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "10", "2")), "OPEN", "0")
	x.rejects(a.try(m.limit("BUY", "1", "1")), "INSUF_FUNDS")
}

func sellHoldsBase(x *exam) {
	x.covers("SPOT-HOLD-2")
	m := x.market()
	a := x.account("5 " + m.base)
	x.becomes(a.try(m.limit("SELL", "10", "3")), "OPEN", "0")
	x.rejects(a.try(m.limit("SELL", "1000", "2.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("SELL", "1000", "2")), "OPEN", "0")
}

func stopHolds(x *exam) {
	x.covers("SPOT-HOLD-3")
	m := x.market()
	a := x.account("5 "+m.base, "50 USDT")
	x.becomes(a.try(m.stop("BUY", "9000", "10", "5")), "OPEN", "0")
	x.rejects(a.try(m.limit("BUY", "1", "1")), "INSUF_FUNDS")
	x.becomes(a.try(m.stop("SELL", "0.001", "10", "5")), "OPEN", "0")
	x.rejects(a.try(m.limit("SELL", "20", "0.1")), "INSUF_FUNDS")
}

func exactlyEnough(x *exam) {
	x.covers("SPOT-HOLD-4")
	m := x.market()
	a := x.account("12.34560000 USDT", "1.0001 "+m.base)
	x.rejects(a.try(m.limit("BUY", "1.2346", "10")), "INSUF_FUNDS")
	x.rejects(a.try(m.limit("BUY", "12.3457", "1")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "12.3456", "1")), "OPEN", "0")
	x.rejects(a.try(m.limit("SELL", "20", "1.0002")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("SELL", "20", "1.0001")), "OPEN", "0")
	short := x.account("12.345599999999 USDT")
	x.rejects(short.try(m.limit("BUY", "12.3456", "1")), "INSUF_FUNDS")
}

func feesOfFills(x *exam) {
	x.covers("SPOT-HOLD-5")
	m := x.market()
	seller, buyer := x.account("2 "+m.base), x.account("20 USDT")
	x.trade(m, seller, buyer, "10", "2")
	x.same("fees", seller.list("/trades_history").column("fee"), "0.02")
	x.same("fees", buyer.list("/trades_history").column("fee"), "0.002")
	x.rejects(buyer.try(m.limit("SELL", "20", "1.9981")), "INSUF_FUNDS")
	x.becomes(buyer.try(m.limit("SELL", "20", "1.998")), "OPEN", "0")
	x.rejects(seller.try(m.limit("BUY", "9.9901", "2")), "INSUF_FUNDS")
	x.becomes(seller.try(m.limit("BUY", "9.99", "2")), "OPEN", "0")
	odd, other := x.traders(m)
	x.trade(m, odd, other, "12.3457", "1.1111")
	x.same("fees", odd.list("/trades_history").column("fee"), "0.01371730727")
}

func betterPrice(x *exam) {
	x.covers("SPOT-HOLD-6")
	m := x.market()
	seller, buyer := x.account("2 "+m.base), x.account("40 USDT")
	seller.sell(m, "10", "2")
	x.becomes(buyer.try(m.limit("BUY", "15", "2.6666")), "OPEN", "2")
	// 40 − 2 × 10 − 0.6666 × 15 are left.
	x.rejects(buyer.try(m.limit("BUY", "1.0002", "10")), "INSUF_FUNDS")
	x.becomes(buyer.try(m.limit("BUY", "1.0001", "10")), "OPEN", "0")
}

func endReleases(x *exam) {
	x.covers("SPOT-HOLD-7")
	m := x.market()
	a, b := x.account("50 USDT", "5 "+m.base), x.trader(m)
	all := m.limit("BUY", "10", "5")
	x.succeeds(a.cancel(a.place(all)))
	x.becomes(a.try(all.with("time_in_force", "IOC")), "KILLED", "0")
	x.becomes(a.try(all.with("time_in_force", "FOK")), "KILLED", "0")
	x.becomes(a.try(m.byTotal("BUY", "50")), "KILLED", "0")
	x.succeeds(a.cancel(a.place(m.stop("BUY", "9000", "10", "5"))))
	b.sell(m, "10", "1")
	x.becomes(a.try(all.with("time_in_force", "IOC")), "KILLED", "1")
	x.rejects(a.try(m.limit("BUY", "10", "4.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.limit("BUY", "10", "4")), "OPEN", "0")
}

func fillsAreAvailable(x *exam) {
	x.covers("SPOT-HOLD-8")
	m := x.market()
	a, b := x.account("10 "+m.base), x.trader(m)
	b.buy(m, "10", "10")
	x.becomes(a.try(m.limit("SELL", "10", "10")), "FILLED", "10")
	b.sell(m, "10", "9.99")
	x.becomes(a.try(m.limit("BUY", "10", "9.99")), "FILLED", "9.99")
	b.buy(m, "10", "9.98")
	x.becomes(a.try(m.limit("SELL", "10", "9.98")), "FILLED", "9.98")
}

func marketSellHolds(x *exam) {
	x.covers("SPOT-HOLD-9")
	m := x.market()
	a, b := x.account("5 "+m.base), x.trader(m)
	b.buy(m, "10", "1")
	x.rejects(a.try(m.byAmount("SELL", "5.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.byAmount("SELL", "5")), "KILLED", "1")
}

func marketBuyHolds(x *exam) {
	x.covers("SPOT-HOLD-10")
	m := x.market()
	a, b := x.account("32 USDT"), x.trader(m)
	b.sell(m, "10", "1")
	b.sell(m, "11", "2")
	b.sell(m, "20", "1")
	x.rejects(a.try(m.byAmount("BUY", "3.0001")), "INSUF_FUNDS")
	x.becomes(a.try(m.byAmount("BUY", "3")), "FILLED", "3")
	rich := x.account("20 USDT")
	x.becomes(rich.try(m.byAmount("BUY", "1000")), "KILLED", "1")
}

func buyByTotalHolds(x *exam) {
	x.covers("SPOT-HOLD-11")
	m := x.market()
	a, b := x.account("50 USDT"), x.trader(m)
	b.sell(m, "10", "1")
	x.rejects(a.try(m.byTotal("BUY", "50.00000001")), "INSUF_FUNDS")
	x.becomes(a.try(m.byTotal("BUY", "50")), "KILLED", "1")
}

func sellByTotalHolds(x *exam) {
	x.covers("SPOT-HOLD-12")
	m := x.market()
	b := x.trader(m)
	b.buy(m, "3", "100")
	// 10 ÷ 3 = 3.3333…, which takes 3.3334.
	short, enough := x.account("3.3333 "+m.base), x.account("3.3334 "+m.base)
	x.rejects(short.try(m.byTotal("SELL", "10")), "INSUF_FUNDS")
	x.becomes(enough.try(m.byTotal("SELL", "10")), "FILLED", "3.3334")
}

func ownRates(x *exam) {
	x.covers("SPOT-HOLD-13")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	x.operate("account", "fees", a.id, "--maker", "0.0005", "--taker", "0.002")
	x.answers(a.post("/user_fees", fields{}), `{"success":true,"level":0,"maker_fee":"0.05","taker_fee":"0.2"}`)
	x.trade(m, a, b, "10", "1")
	x.trade(m, b, a, "10", "1")
	x.same("own fees", a.list("/trades_history").column("fee"), "0.002", "0.005", "0.01")
	x.same("the market's fees", b.list("/trades_history").column("fee"), "0.01", "0.001", "0.001")
}

func feesRoundUp(x *exam) {
	x.covers("SPOT-HOLD-14")
	m := x.market()
	a, b := x.traders(m)
	x.operate("account", "fees", a.id, "--maker", "0.000123", "--taker", "0.000001")
	// 0.0101 × 100.0001 × 0.000123 = 0.00012423012423, and the ledger keeps
	// twelve decimals of the test markets' assets.
	x.trade(m, a, b, "0.0101", "100.0001")
	x.same("fees", a.list("/trades_history").column("fee"), "0.000124230125")
}
