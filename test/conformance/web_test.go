package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var webChecks = []check{marketsOfPages, termsOfMarkets, candlesOfPages, statusOfPages}

func TestWeb(t *testing.T) { examine(t, webChecks) }

// web sends a request below /web.
func (x *exam) web(path string) *answer {
	x.Helper()
	return x.v2("GET", "/web"+path, "", nil)
}

// shown returns a market's row once it is as wanted: the answer may be a second old.
func (x *exam) shown(m *market, wanted func(*value) bool) *value {
	x.Helper()
	x.awaits(func(past *exam) bool { return wanted(rowFor(m, past.web("/markets").value.get("markets"))) })
	return rowFor(m, x.web("/markets").value.get("markets"))
}

// awaits asks past any proxy until an answer is as wanted.
func (x *exam) awaits(wanted func(past *exam) bool) {
	x.Helper()
	for end := time.Now().Add(x.patience); !wanted(x.past()); {
		if time.Now().After(end) {
			x.broken("the answer does not change")
		}
	}
}

func marketsOfPages(x *exam) {
	x.covers("WEB-MKT-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	want := x.ticker(m)
	row := x.shown(m, func(row *value) bool { return row.get("vol_base").text == want.get("vol_base").text })
	for _, name := range strings.Fields("pair base quote base_name quote_name base_precision quote_precision min_order price high low" +
		" vol_base vol_quote") {
		x.equal(name, row.get(name).text, want.get(name).text)
	}
	assets, _ := x.operate("catalogue", "show")["assets"].([]any)
	for _, asset := range assets {
		entry, _ := asset.(map[string]any)
		for _, side := range []string{"base", "quote"} {
			if entry["symbol"] == row.get(side).text {
				x.equal(side+"_scale", row.get(side+"_scale").text, text(entry["scale"]))
			}
		}
	}

	x.equal("state", row.get("state").text, "open")
	x.equal("initial_price", row.get("initial_price").text, strconv.Itoa(m.number()))
	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	row = x.shown(m, func(row *value) bool { return row.get("state").text == "halted" })
	x.equal("state", row.get("state").text, "halted")

	var pairs []string
	for _, listed := range x.post("/markets", fields{"offset": 0, "search": "TEST5"}).value.get("markets").items {
		pairs = append(pairs, listed.get("pair").text)
	}
	got := x.web("/markets").value.get("markets").column("pair")
	x.equal("order", fmt.Sprint(slices.IsSorted(got)), "true")
	got = slices.DeleteFunc(got, func(pair string) bool { return !strings.HasPrefix(pair, "TEST5") })
	x.same("pairs", got, pairs...)
}

func termsOfMarkets(x *exam) {
	x.covers("WEB-MKT-2")
	m := x.market()
	x.charge(m, "0.0001")
	row := x.shown(m, func(row *value) bool { return row.get("maker_fee").text == "0.01" })
	x.equal("maker_fee", row.get("maker_fee").text, "0.01")
	x.equal("taker_fee", row.get("taker_fee").text, "0.01")
	x.equal("collar", row.get("collar").String(), "null")
	x.equal("band", row.get("band").String(), "null")

	x.define(m, fields{"collar": "0.15", "band": "2.5", "max_price": "5000"})
	row = x.shown(m, func(row *value) bool { return row.get("band").text == "2.5" })
	x.equal("collar", row.get("collar").text, "15")
	x.equal("band", row.get("band").text, "2.5")

	rows := x.web("/markets").value.get("markets")
	for _, base := range []string{"ATOM", "BTC", untouched.base} { // whose rates no check changes
		m := &market{pair: base + "/USDT", base: base, quote: "USDT"}
		row := rowFor(m, rows)
		x.equal("maker_fee of "+base, row.get("maker_fee").text, "0.1")
		x.equal("taker_fee of "+base, row.get("taker_fee").text, "0.1")
		collar := "null"
		if base != untouched.base {
			collar = `"10"`
		}
		x.equal("collar of "+base, row.get("collar").String(), collar)
	}
	x.covers("WEB-MKT-1")
	x.equal("max_price", row.get("max_price").text, "5000")
}

func pricesOfMarkets(x *exam) {
	x.covers("WEB-MKT-3")
	row := rowFor(untouched, x.web("/markets").value.get("markets"))
	x.equal("price_24h", row.get("price_24h").text, "60")
	x.same("closes", texts(row.get("closes").items), slices.Repeat([]string{`"60"`}, 24)...)

	main := &market{pair: "BTC/USDT", base: "BTC", quote: "USDT"}
	answer := x.web("/markets").value
	closes, now := rowFor(main, answer.get("markets")).get("closes").items, seconds(answer.get("time").text)
	hours := x.candles(main, "60", now-24*3600, now).value.get("candlestick").column("close")
	if len(closes) != 24 || len(hours) < 24 {
		x.Fatalf("%d closes, %d candles", len(closes), len(hours))
	}
	for i, price := range hours[len(hours)-24 : len(hours)-1] {
		x.equal(fmt.Sprintf("close %d", i), closes[i].text, price)
	}
}

// rowsOf writes the candles of V1 as rows.
func rowsOf(candles *value) []string {
	list := make([]string, len(candles.items))
	for i, c := range candles.items {
		list[i] = fmt.Sprintf("[%d,%s,%s,%s,%s,%s]", seconds(c.get("time").text), c.get("open"), c.get("high"), c.get("low"),
			c.get("close"), c.get("volume"))
	}
	return list
}

func candlesOfPages(x *exam) {
	x.covers("WEB-CND-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	x.trade(m, a, b, "10.5", "1.5")
	for _, res := range resolutions {
		want := rowsOf(x.post("/candlestick", fields{"pair": m.pair, "res": res, "limit": 500}).value.get("candlestick"))
		got := x.web("/candles?pair=" + m.pair + "&res=" + res).value
		x.equal("pair", got.get("pair").text, m.pair)
		x.equal("res", got.get("res").text, res)
		rows := texts(got.get("candles").items)
		if n := len(want); len(rows) > n { // a bucket began between the two
			rows = rows[:n]
		}
		x.same("candles of "+res, rows, want...)
	}
	x.refuses(x.web("/candles?res=1"), 400, "MISSING_DATA")
	x.refuses(x.web("/candles?pair="+m.pair+"&res=2"), 400, "VALIDATION_ERROR")
}

func pagesOfCandles(x *exam) {
	x.covers("WEB-CND-2")
	const newest = "/candles?pair=BTC/USDT&res=1"
	all := x.web(newest + "&limit=1000").value.get("candles").items
	if len(all) != 1000 {
		x.Fatalf("%d candles, want 1000", len(all))
	}
	if n := len(x.web(newest).value.get("candles").items); n != 500 {
		x.Errorf("%d candles by default, want 500", n)
	}
	before := all[500].items[0].text
	x.same("candles before", texts(x.web(newest+"&limit=200&before="+before).value.get("candles").items), texts(all[300:500])...)
	x.refuses(x.web(newest+"&limit=1001"), 400, "VALIDATION_ERROR")
	x.refuses(x.web(newest+"&limit=0"), 400, "VALIDATION_ERROR")
}

func statusOfPages(x *exam) {
	x.covers("WEB-STA-1")
	x.awake(networks...)
	m := x.market()
	x.undo("market", "resume", m.pair)
	x.operate("market", "halt", m.pair)
	x.awaits(func(past *exam) bool {
		now := past.web("/status").value
		silent := func(n *value) bool { return n.get("operating").String() != "true" } // by an earlier check
		return rowFor(m, now.get("closed")) != nothing && !slices.ContainsFunc(now.get("networks").items, silent)
	})
	status := x.web("/status").value
	x.equal("state", rowFor(m, status.get("closed")).get("state").text, "halted")
	x.equal("up", status.get("up").String(), "true")
	x.equal("trading", status.get("trading").String(), "true")
	if status.get("version").text == "" || seconds(status.get("since").text) < 1_600_000_000 {
		x.Errorf("version and since of %s", status)
	}

	want := x.v2("GET", "/wallet/v2/io/networks", "", nil).value.get("networks").column("symbol")
	x.same("networks", status.get("networks").column("symbol"), want...)
	for _, n := range status.get("networks").items {
		x.equal(n.get("symbol").text+" operates", n.get("operating").String(), "true")
	}
}
