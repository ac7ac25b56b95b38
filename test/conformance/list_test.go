package conformance

import (
	"slices"
	"strconv"
	"testing"
)

var listChecks = []check{offsetIsNeeded, pages, pastTheEnd, newestFirst}

func TestLists(t *testing.T) { examine(t, listChecks) }

func offsetIsNeeded(x *exam) {
	x.covers("SPOT-LST-1")
	a := x.account()
	x.fails(x.post("/trades", fields{"pair": "BTC/USDT"}), "Missing data: offset")
	for _, path := range []string{"/open_orders", "/orders_history", "/trades_history"} {
		x.fails(a.post(path, fields{}), "Missing data: offset")
	}
}

// collect reads pages until one is not full, and checks that all others have 50 rows.
func (x *exam) collect(page func(offset int) *value) []*value {
	x.Helper()
	var rows []*value
	for {
		got := page(len(rows)).items
		rows = append(rows, got...)
		switch {
		case len(got) > 50:
			x.Fatalf("a page of %d rows", len(got))
		case len(got) < 50:
			return rows
		}
	}
}

func pages(x *exam) {
	x.covers("SPOT-LST-2")
	m := x.market()
	a, b := x.traders(m)
	var ids []string
	for i := range 52 {
		ids = append(ids, a.sell(m, strconv.Itoa(10+i%3), "1"))
	}
	slices.Reverse(ids)
	for _, path := range []string{"/open_orders", "/orders_history"} {
		for _, filter := range []any{nil, m.pair} {
			rows := x.collect(func(offset int) *value {
				return a.post(path, fields{"offset": offset}.with("filter_pair", filter)).value.get("orders")
			})
			x.same(path, (&value{items: rows}).column("obid"), ids...)
		}
	}
	if rows := x.everyMarket(fields{"quote": "USDT"}); len(rows) < 60 {
		x.Errorf("%d markets", len(rows))
	}
	b.buy(m, "20", "52")
	b.sell(m, "20", "1")
	a.buy(m, "20", "1")
	for _, filter := range []any{nil, m.pair} {
		rows := x.collect(func(offset int) *value {
			return b.post("/trades_history", fields{"offset": offset}.with("filter_pair", filter)).value.get("trades")
		})
		prices := (&value{items: rows}).column("price")
		if len(prices) != 53 || prices[0] != "20" || prices[1] != "12" || prices[52] != "10" {
			x.Errorf("own trades: %v", prices)
		}
	}
	first := x.post("/trades", fields{"pair": m.pair, "offset": 0}).value.get("trades").items
	second := x.post("/trades", fields{"pair": m.pair, "offset": 49}).value.get("trades").items
	if len(first) != 50 || len(second) == 0 || first[49].String() != second[0].String() {
		x.Errorf("pages of trades have %d and %d rows and do not join", len(first), len(second))
	}
}

func pastTheEnd(x *exam) {
	x.covers("SPOT-LST-3")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	a.sell(m, "10", "1")
	x.answers(x.post("/trades", fields{"pair": m.pair, "offset": 1000000}), `{"success":true,"trades":[]}`)
	x.answers(a.post("/trades_history", fields{"offset": 2}), `{"success":true,"trades":[]}`)
	x.answers(a.post("/open_orders", fields{"offset": 1}), `{"success":true,"orders":[]}`)
	x.answers(a.post("/orders_history", fields{"offset": 2147483647}), `{"success":true,"orders":[]}`)
	x.answers(x.post("/markets", fields{"offset": 500}), `{"success":true,"markets":[]}`)
}

func newestFirst(x *exam) {
	x.covers("SPOT-LST-4")
	m := x.market()
	a, b := x.traders(m)
	first, second, third := a.sell(m, "12", "1"), a.sell(m, "10", "1"), a.sell(m, "11", "1")
	x.same("open orders", a.open(), third, second, first)
	b.buy(m, "12", "3")
	x.same("orders history", a.list("/orders_history").column("obid"), third, second, first)
	x.same("trades history", a.list("/trades_history").column("price"), "12", "11", "10")
	x.same("trades", x.trades(m).column("price")[:3], "12", "11", "10")
}
