package conformance

import (
	"math/big"
	"strings"
	"testing"
)

var numberChecks = []check{
	decimalsAreTexts, decimalForms, decimalNonsense, decimalLength, trailingZeros, tooManyDecimals, totalDecimals,
	greaterThanZero, tooLarge, plainDecimals, fullDecimals, exactTotals,
}

func TestNumbers(t *testing.T) { examine(t, numberChecks) }

func decimalsAreTexts(x *exam) {
	x.covers("SPOT-NUM-1")
	m := x.market()
	a := x.trader(m)
	order := m.limit("SELL", "10", "1")
	x.failsNaming(a.try(order.with("price", 10)), "price")
	x.failsNaming(a.try(order.with("amount", number("1.5"))), "amount")
	x.failsNaming(a.try(m.byTotal("BUY", "").with("total", 5)), "total")
	x.failsNaming(a.try(m.stop("SELL", "", "10", "1").with("stop", 5)), "stop")
	a.place(order)
	row := a.list("/open_orders").items[0]
	for _, name := range []string{"price", "amount", "filled"} {
		if row.get(name).kind != '"' {
			x.Errorf("%s is %s", name, row.get(name))
		}
	}
}

func decimalForms(x *exam) {
	x.covers("SPOT-NUM-2")
	m := x.market()
	a := x.trader(m)
	for sent, shown := range map[string]string{"5": "5", "5.5": "5.5", ".5": "0.5", "5.": "5", "005": "5", "00.5": "0.5", "0.1234": "0.1234"} {
		id := a.place(m.limit("SELL", sent, "20"))
		x.equal("price", a.history(id).get("price").text, shown)
		id = a.place(m.limit("SELL", "20", sent))
		x.equal("amount", a.history(id).get("amount").text, shown)
	}
}

func decimalNonsense(x *exam) {
	x.covers("SPOT-NUM-3")
	m := x.market()
	a := x.trader(m)
	for _, bad := range []string{
		"-5", "+5", "5e1", "5E1", "1,000", "1_000", " 5", "5 ", "5 5", "5.5.5", ".", "", "abc", "0x5", "NaN", "Infinity", "٥", "5\n",
	} {
		x.failsNaming(a.try(m.limit("SELL", bad, "1")), "price")
		x.failsNaming(a.try(m.limit("SELL", "10", bad)), "amount")
		x.failsNaming(a.try(m.byTotal("BUY", bad)), "total")
		x.failsNaming(a.try(m.stop("BUY", bad, "10", "1")), "stop")
	}
	x.same("open orders", a.open())
}

func decimalLength(x *exam) {
	x.covers("SPOT-NUM-4")
	m := x.market()
	a := x.trader(m)
	x.becomes(a.try(m.limit("SELL", strings.Repeat("0", 38)+"10", "1")), "OPEN", "0")
	x.failsNaming(a.try(m.limit("SELL", strings.Repeat("0", 39)+"10", "1")), "price")
	x.becomes(a.try(m.limit("SELL", "10."+strings.Repeat("0", 37), "1")), "OPEN", "0")
	x.failsNaming(a.try(m.limit("SELL", "10", "1."+strings.Repeat("0", 39))), "amount")
}

func trailingZeros(x *exam) {
	x.covers("SPOT-NUM-5")
	m := x.market()
	a := x.trader(m)
	id := a.place(m.limit("SELL", "10.50000000", "1.123400000"))
	row := a.history(id)
	x.equal("price", row.get("price").text, "10.5")
	x.equal("amount", row.get("amount").text, "1.1234")
}

func tooManyDecimals(x *exam) {
	x.covers("SPOT-NUM-6")
	m := x.market()
	a := x.trader(m)
	x.failsNaming(a.try(m.limit("SELL", "10.00001", "1")), "price")
	x.failsNaming(a.try(m.limit("SELL", "10", "1.00001")), "amount")
	x.failsNaming(a.try(m.stop("BUY", "10.99999", "11", "1")), "stop")
	x.failsNaming(a.try(m.byAmount("SELL", "1.00001")), "amount")
	x.becomes(a.try(m.limit("SELL", "10.0001", "1.0001")), "OPEN", "0")
}

func totalDecimals(x *exam) {
	x.covers("SPOT-NUM-7")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "5")
	id := b.place(m.byTotal("BUY", "10.00000001"))
	x.equal("total", b.history(id).get("total").text, "10.00000001")
	x.failsNaming(b.try(m.byTotal("BUY", "1.00000000000000000001")), "total")
}

func greaterThanZero(x *exam) {
	x.covers("SPOT-NUM-8")
	m := x.market()
	a := x.trader(m)
	for _, zero := range []string{"0", "0.0", "000", ".0"} {
		x.failsNaming(a.try(m.limit("SELL", zero, "1")), "price")
		x.failsNaming(a.try(m.limit("SELL", "10", zero)), "amount")
		x.failsNaming(a.try(m.byTotal("BUY", zero)), "total")
		x.failsNaming(a.try(m.stop("BUY", zero, "10", "1")), "stop")
	}
}

func tooLarge(x *exam) {
	x.covers("SPOT-NUM-9")
	m := x.market()
	a := x.trader(m)
	huge := strings.Repeat("9", 40)
	x.failsNaming(a.try(m.limit("SELL", huge, "1")), "price")
	x.failsNaming(a.try(m.limit("SELL", "10", huge)), "amount")
	x.failsNaming(a.try(m.stop("BUY", huge, "10", "1")), "stop")
	x.failsNaming(a.try(m.byTotal("BUY", huge)), "total")
}

func plainDecimals(x *exam) {
	x.covers("SPOT-NUM-10")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "100", "0.01")
	x.trade(m, a, b, "0.0200", "100.00")
	row := x.trades(m)
	x.same("prices", row.column("price")[:2], "0.02", "100")
	x.same("amounts", row.column("amount")[:2], "100", "0.01")
	x.same("totals", row.column("total")[:2], "2", "1")
	x.same("fees", b.list("/trades_history").column("fee"), "0.1", "0.00001")
	x.same("fees", a.list("/trades_history").column("fee"), "0.002", "0.001")
}

func fullDecimals(x *exam) {
	x.covers("SPOT-NUM-11")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	a.sell(m, "10", "2")
	a.sell(m, "10.25", ".5")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:2.0000", "10.2500:0.5000")
	x.same("messages", levels(&value{items: s.fence()}), "10.0000:2.0000", "10.2500:0.5000")
}

func exactTotals(x *exam) {
	x.covers("SPOT-NUM-12")
	m := x.market()
	a, b := x.traders(m)
	s := b.private()
	public := x.connect()
	public.sub(m.pair + "@marketTrade")
	_, id := x.trade(m, a, b, "12.3457", "0.9999")
	want := product("12.3457", "0.9999")
	x.equal("total of trades", x.trades(m).items[0].get("total").text, want)
	x.equal("total of the buyer", b.list("/trades_history").items[0].get("total").text, want)
	x.equal("total of the order", b.history(id).get("trades").items[0].get("total").text, want)
	x.same("total of myTrades", (&value{items: of(s.fence(), "myTrades")}).column("total"), want)
	x.same("total of marketTrade", (&value{items: public.fence()}).column("total"), want)
}

// product multiplies decimals exactly.
func product(a, b string) string {
	p, _ := new(big.Rat).SetString(a)
	q, _ := new(big.Rat).SetString(b)
	s := new(big.Rat).Mul(p, q).FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
