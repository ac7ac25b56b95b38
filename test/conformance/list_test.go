package conformance

import (
	"slices"
	"strconv"
	"testing"
)

var listChecks = []check{offsetIsNeeded, pages, pastTheEnd, newestFirst, farBack, afterARow, afterOneOfTwo, inATime, walked}

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

// farBack checks a page after the offset at which filtered lists used to end.
func farBack(x *exam) {
	x.covers("SPOT-LST-5")
	m := x.market()
	a, b := x.traders(m)
	id := a.sell(m, "10", "1")
	b.buy(m, "10", "1")
	for _, offset := range []int{10001, 1000000} {
		body := fields{"offset": offset, "filter_pair": m.pair}
		x.answers(a.post("/orders_history", body), `{"success":true,"orders":[]}`)
		x.answers(a.post("/trades_history", body), `{"success":true,"trades":[]}`)
	}
	x.same("orders", a.post("/orders_history", fields{"offset": 0, "filter_pair": m.pair}).value.get("orders").column("obid"), id)
}

// past returns a column of a list of the past.
func (a *account) past(path, rows, column string, body fields) []string {
	a.x.Helper()
	answer := a.post(path, fields{"offset": 0}.and(body))
	a.x.succeeds(answer)
	return answer.value.get(rows).column(column)
}

func afterARow(x *exam) {
	x.covers("SPOT-LST-6")
	a, m, n, ids := x.twoMarkets()
	orders := func(body fields) []string { return a.past("/orders_history", "orders", "obid", body) }
	x.same("orders", orders(fields{"after": number(ids[3])}), ids[2], ids[1], ids[0])
	x.same("orders", orders(fields{"after": ids[2]}), ids[1], ids[0])
	x.same("orders", orders(fields{"after": ids[0]}))
	a.cancel(ids[2])
	x.same("orders", orders(fields{"after": "9000000000000000000", "filter_pair": m.pair}), ids[2], ids[0])
	x.same("orders", orders(fields{"after": ids[3], "filter_pair": n.pair}), ids[1])
	x.same("orders", orders(fields{"after": ids[2], "filter_pair": m.pair}), ids[0])
	x.failsNaming(a.post("/orders_history", fields{"offset": 0, "after": "x"}), "after")

	b := x.trader(m)
	for range 3 {
		a.sell(m, "12", "1")
	}
	b.buy(m, "12", "4")
	trades := func(body fields) []string { return b.past("/trades_history", "trades", "trade_id", body) }
	all := trades(fields{"filter_pair": m.pair})
	if len(all) != 4 {
		x.Fatalf("%d trades, want 4", len(all))
	}
	x.same("trades", trades(fields{"filter_pair": m.pair, "after": number(all[0])}), all[1:]...)
	x.same("trades", trades(fields{"filter_pair": m.pair, "after": all[2]}), all[3])
	x.same("trades", trades(fields{"filter_pair": m.pair, "after": all[3]}))
	x.same("trades", trades(fields{"filter_pair": n.pair, "after": all[0]}))
	x.failsNaming(b.post("/trades_history", fields{"offset": 0, "after": all[0]}), "after", "filter_pair")
	x.failsNaming(b.post("/trades_history", fields{"offset": 0, "after_obid": all[0]}), "after_obid", "after")
}

// afterOneOfTwo walks past a trade of an account with itself, whose two rows have one
// trade_id.
func afterOneOfTwo(x *exam) {
	x.covers("SPOT-LST-6")
	m := x.market()
	a := x.trader(m)
	resting := []string{a.sell(m, "10", "1"), a.sell(m, "11", "1")}
	taking := a.buy(m, "11", "2")
	trades := func(column string, body fields) []string {
		return a.past("/trades_history", "trades", column, fields{"filter_pair": m.pair}.and(body))
	}
	x.same("rows", trades("obid", nil), taking, resting[1], taking, resting[0])
	ids := trades("trade_id", nil)
	x.same("trades", ids, ids[0], ids[0], ids[2], ids[2])

	after := func(trade, obid string) []string {
		return trades("obid", fields{"after": number(trade), "after_obid": number(obid)})
	}
	x.same("rows", after(ids[0], taking), resting[1], taking, resting[0])
	x.same("rows", after(ids[0], resting[1]), taking, resting[0])
	x.same("rows", after(ids[2], taking), resting[0])
	x.same("rows", after(ids[2], resting[0]))
	body := fields{"offset": 0, "filter_pair": m.pair, "after": ids[0]}
	x.failsNaming(a.post("/trades_history", body), "after_obid")
	x.failsNaming(a.post("/trades_history", body.with("after_obid", resting[0])), "after_obid")
}

func inATime(x *exam) {
	x.covers("SPOT-LST-7")
	m := x.market()
	a, b := x.traders(m)
	first, second := a.sell(m, "10", "1"), a.sell(m, "11", "1")
	b.buy(m, "11", "2")
	began := seconds(a.history(first).get("time").text)
	ended := seconds(x.trades(m).items[0].get("time").text)

	for _, filter := range []any{nil, m.pair} {
		orders := func(from, to any) []string {
			return a.past("/orders_history", "orders", "obid", fields{"from": from, "to": to, "filter_pair": filter})
		}
		trades := func(from, to any) []string {
			return b.past("/trades_history", "trades", "price", fields{"from": from, "to": to, "filter_pair": filter})
		}
		x.same("orders", orders(began, ended), second, first)
		x.same("orders", orders(began, nil), second, first)
		x.same("orders", orders(nil, ended), second, first)
		x.same("orders", orders(ended+1, nil))
		x.same("orders", orders(0, began-1))
		x.same("orders", orders(ended, began-1))
		x.same("trades", trades(began, ended), "11", "10")
		x.same("trades", trades(began, nil), "11", "10")
		x.same("trades", trades(ended+1, nil))
		x.same("trades", trades(nil, began-1))
	}
	x.failsNaming(a.post("/orders_history", fields{"offset": 0, "from": "1"}), "from")
	x.failsNaming(a.post("/trades_history", fields{"offset": 0, "to": -1}), "to")
}

// walked adds an order before each page of a walk.
func walked(x *exam) {
	x.covers("SPOT-LST-8")
	m := x.market()
	a := x.trader(m)
	var ids []string
	for range 4 {
		ids = append(ids, a.sell(m, "10", "1"))
	}
	slices.Reverse(ids)
	for _, filter := range []any{nil, m.pair} {
		x.same("orders", a.past("/orders_history", "orders", "obid", fields{"after": ids[0], "offset": 1, "filter_pair": filter}), ids[2:]...)
		last := ids[0]
		for _, want := range ids[1:] {
			a.cancel(a.sell(m, "10", "1"))
			row := a.past("/orders_history", "orders", "obid", fields{"after": last, "filter_pair": filter})
			if len(row) == 0 {
				x.Fatalf("nothing follows %s", last)
			}
			x.equal("next order", row[0], want)
			last = row[0]
		}
	}
}
