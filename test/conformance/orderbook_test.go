package conformance

import (
	"fmt"
	"strconv"
	"testing"
)

var orderbookChecks = []check{
	bookNeedsPair, bookRows, bestFirst, levelsAdd, allLevels, stopsAreHidden, bookSequence, neverCrossed,
	bestLevels,
}

func TestOrderbook(t *testing.T) { examine(t, orderbookChecks) }

func bookNeedsPair(x *exam) {
	x.covers("SPOT-BOOK-1")
	x.fails(x.post("/orderbook", fields{}), "Missing data: pair")
}

func bookRows(x *exam) {
	x.covers("SPOT-BOOK-2")
	m := x.market()
	a := x.trader(m)
	x.match(x.post("/orderbook", fields{"pair": m.pair}).value, `{"success":true,"bids":[],"asks":[],"seq":"#int"}`)
	a.sell(m, "10", "2")
	a.sell(m, "11.25", "0.1234")
	a.buy(m, "9", "1.5")
	x.golden(x.post("/orderbook", fields{"pair": m.pair}).value, "orderbook")
}

func bestFirst(x *exam) {
	x.covers("SPOT-BOOK-3")
	m := x.market()
	a := x.trader(m)
	for _, price := range []string{"8", "9.5", "7", "9"} {
		a.buy(m, price, "1")
	}
	for _, price := range []string{"12", "10.5", "99", "11", "100"} {
		a.sell(m, price, "1")
	}
	book := x.book(m)
	x.same("bids", book.get("bids").column("price"), "9.5000", "9.0000", "8.0000", "7.0000")
	x.same("asks", book.get("asks").column("price"), "10.5000", "11.0000", "12.0000", "99.0000", "100.0000")
}

func levelsAdd(x *exam) {
	x.covers("SPOT-BOOK-4")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "2")
	a.sell(m, "10", "0.5")
	id := b.sell(m, "10", "1")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:3.5000")
	b.buy(m, "10", "0.7")
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:2.8000")
	b.cancel(id)
	x.same("asks", levels(x.book(m).get("asks")), "10.0000:1.8000")
}

func allLevels(x *exam) {
	x.covers("SPOT-BOOK-5")
	m := x.market()
	a := x.trader(m)
	var want []string
	for i := range 120 {
		a.sell(m, strconv.Itoa(100+i), "1")
		want = append(want, fmt.Sprintf("%d.0000:1.0000", 100+i))
	}
	x.same("asks", levels(x.book(m).get("asks")), want...)
}

func stopsAreHidden(x *exam) {
	x.covers("SPOT-BOOK-6")
	m := x.market()
	a := x.trader(m)
	a.place(m.stop("BUY", "900", "901", "1"))
	a.buy(m, "9", "1")
	book := x.book(m)
	x.same("bids", levels(book.get("bids")), "9.0000:1.0000")
	x.same("asks", levels(book.get("asks")))
}

func bookSequence(x *exam) {
	x.covers("SPOT-BOOK-7")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	for range 3 {
		id := a.sell(m, "10", "2")
		a.buy(m, "10", "0.5")
		a.cancel(id)
		a.place(m.stop("BUY", "900", "901", "1"))
		got := s.fence()
		if len(got) != 3 {
			x.Fatalf("%d messages, want 3", len(got))
		}
		x.equal("seq of the book", x.book(m).get("seq").text, got[2].get("seq").text)
	}
}

func neverCrossed(x *exam) {
	x.covers("SPOT-BOOK-8")
	m := x.market()
	a, b := x.traders(m)
	for _, step := range []struct{ sell, buy, bid, ask string }{
		{"11", "9", "9.0000:1.0000", "11.0000:2.0000"},
		{"8", "12", "", "11.0000:2.0000"},
		{"10", "10", "", "10.0000:1.0000"},
		{"9.5", "9.4999", "9.4999:1.0000", "9.5000:2.0000"},
		{"20", "3", "9.4999:1.0000", "9.5000:2.0000"},
	} {
		a.sell(m, step.sell, "2")
		b.buy(m, step.buy, "1")
		book := x.book(m)
		x.uncrossed(book)
		x.equal("best bid", top(levels(book.get("bids"))), step.bid)
		x.equal("best ask", top(levels(book.get("asks"))), step.ask)
	}
}

// top returns the best level; empty if there is none.
func top(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func bestLevels(x *exam) {
	x.covers("SPOT-BOOK-9")
	m := x.market()
	a := x.trader(m)
	for _, price := range []string{"8", "9.5", "7", "9"} {
		a.buy(m, price, "1")
	}
	a.sell(m, "11", "1")
	a.sell(m, "10.5", "2")
	for depth, want := range map[int][2][]string{
		1:     {{"9.5000:1.0000"}, {"10.5000:2.0000"}},
		3:     {{"9.5000:1.0000", "9.0000:1.0000", "8.0000:1.0000"}, {"10.5000:2.0000", "11.0000:1.0000"}},
		10000: {{"9.5000:1.0000", "9.0000:1.0000", "8.0000:1.0000", "7.0000:1.0000"}, {"10.5000:2.0000", "11.0000:1.0000"}},
	} {
		book := x.post("/orderbook", fields{"pair": m.pair, "depth": depth})
		x.succeeds(book)
		x.same("bids", levels(book.value.get("bids")), want[0]...)
		x.same("asks", levels(book.value.get("asks")), want[1]...)
		x.equal("seq", book.value.get("seq").text, x.book(m).get("seq").text)
	}
	for _, bad := range []any{0, -1, 10001, 1.5, "1", true} {
		x.failsNaming(x.post("/orderbook", fields{"pair": m.pair, "depth": bad}), "depth")
	}
}
