package conformance

import (
	"fmt"
	"testing"
)

var requestChecks = []check{
	oneObject, namesComeOnce, namesHaveTheirCase, nothingFollows, validUTF8, unknownNames, nullIsAbsent,
	missingData, wrongTypes, offsets, idsAsText, words, unknownPairs, whatIsNotNeeded,
}

func TestRequests(t *testing.T) { examine(t, requestChecks) }

func oneObject(x *exam) {
	x.covers("SPOT-REQ-1")
	for _, body := range []string{"", " ", "[]", `"x"`, "7", "null", `{"pair":"BTC/USDT"`, `{"pair":"BTC/USDT",}`, `{pair:"BTC/USDT"}`} {
		x.failed(x.raw("/orderbook", body))
	}
}

func namesComeOnce(x *exam) {
	x.covers("SPOT-REQ-2")
	for _, body := range []string{
		`{"pair":"BTC/USDT","pair":"BTC/USDT"}`,
		`{"pair":"BTC/USDT","pa\u0069r":"BTC/USDT"}`,
		`{"pair":"BTC/USDT","other":1,"other":1}`,
		`{"pair":"BTC/USDT","other":{"a":1,"a":1}}`,
	} {
		x.failed(x.raw("/orderbook", body))
	}
}

func namesHaveTheirCase(x *exam) {
	x.covers("SPOT-REQ-3")
	x.failed(x.raw("/orderbook", `{"Pair":"BTC/USDT"}`))
	x.failed(x.raw("/orderbook", `{"pair":"BTC/USDT","PAIR":"BTC/USDT"}`))
	x.failed(x.raw("/markets", `{"offset":0,"Offset":1}`))
}

func nothingFollows(x *exam) {
	x.covers("SPOT-REQ-4")
	x.succeeds(x.raw("/orderbook", "{\"pair\":\"BTC/USDT\"} \r\n\t "))
	for _, tail := range []string{"{}", "x", ",", "}", "\x00", "null"} {
		x.failed(x.raw("/orderbook", `{"pair":"BTC/USDT"}`+tail))
	}
}

func validUTF8(x *exam) {
	x.covers("SPOT-REQ-5")
	x.failed(x.raw("/orderbook", "{\"pair\":\"BTC/USDT\",\"other\":\"\xff\"}"))
	x.failed(x.raw("/orderbook", "{\"pair\":\"BTC/USDT\",\"\xc3\":1}"))
	x.failed(x.raw("/orderbook", `{"pair":"BTC/USDT","other":"\ud800"}`))
}

func unknownNames(x *exam) {
	x.covers("SPOT-REQ-6")
	a := x.raw("/markets", `{"pair":"BTC/USDT","other":{"pair":[1,{"x":null}]},"amount":7,"":0}`)
	x.same("pairs", a.value.get("markets").column("pair"), "BTC/USDT")
}

func nullIsAbsent(x *exam) {
	x.covers("SPOT-REQ-7")
	x.fails(x.raw("/orderbook", `{"pair":null}`), "Missing data: pair")
	a := x.raw("/markets", `{"pair":"BTC/USDT","quote":null,"search":null,"sort":null,"offset":null}`)
	x.same("pairs", a.value.get("markets").column("pair"), "BTC/USDT")
}

func missingData(x *exam) {
	x.covers("SPOT-REQ-8")
	a := x.account()
	x.fails(x.raw("/orderbook", `{}`), "Missing data: pair")
	x.fails(x.raw("/trades", `{"pair":"BTC/USDT"}`), "Missing data: offset")
	x.fails(x.raw("/candlestick", `{"pair":"BTC/USDT","res":"1","from":0}`), "Missing data: to")
	x.fails(a.post("/open_orders/cancel", fields{}), "Missing data: obid")
}

func wrongTypes(x *exam) {
	x.covers("SPOT-REQ-9")
	m := x.market()
	a := x.trader(m)
	order := m.limit("BUY", "10", "1")
	for name, wrong := range map[string][]any{
		"pair":          {1, true, []int{}, fields{}},
		"side":          {1, false},
		"type":          {2, []string{"LIMIT"}},
		"time_in_force": {3, fields{}},
		"price":         {10, true, []string{"10"}},
		"amount":        {1, fields{"amount": "1"}},
		"resp_type":     {1, true},
	} {
		for _, v := range wrong {
			x.failsNaming(a.try(order.with(name, v)), name)
		}
	}
	x.failsNaming(x.post("/markets", fields{"offset": 0, "search": 1}), "search")
	x.failsNaming(x.raw("/open_orders", `{"api_key":7,"offset":0}`), "api_key")
	x.same("open orders", a.open())
}

func offsets(x *exam) {
	x.covers("SPOT-REQ-10")
	for _, good := range []string{"0", "7", "2147483647"} {
		x.succeeds(x.raw("/trades", `{"pair":"BTC/USDT","offset":`+good+`}`))
	}
	for _, bad := range []string{"-1", "1.5", "1.0", "1e2", `"0"`, "2147483648", "99999999999999999999", "true", "[]"} {
		x.failsNaming(x.raw("/trades", `{"pair":"BTC/USDT","offset":`+bad+`}`), "offset")
	}
}

func idsAsText(x *exam) {
	x.covers("SPOT-REQ-11")
	m := x.market()
	a := x.trader(m)
	first, second := a.sell(m, "10", "1"), a.sell(m, "10", "1")
	x.succeeds(a.post("/open_orders/cancel", fields{"obid": first}))
	x.same("open orders", a.open(), second)
	x.succeeds(a.post("/open_orders/cancel", fields{"obid": number(second)}))
	x.same("open orders", a.open())
	for _, bad := range []any{"", "x", "-1", "1.0", " 1", number("1.5"), number("-1"), true} {
		x.failsNaming(a.post("/open_orders/cancel", fields{"obid": bad}), "obid")
	}
}

func words(x *exam) {
	x.covers("SPOT-REQ-12")
	m := x.market()
	a := x.trader(m)
	order := m.limit("BUY", "10", "1")
	for name, c := range map[string]struct {
		bad  []string
		good string
	}{
		"side":          {[]string{"buy", "Buy", "BID", ""}, "BUY, SELL"},
		"type":          {[]string{"limit", "STOP", ""}, "LIMIT, MARKET, STOP_LIMIT, STOP_MARKET, TAKE_PROFIT_LIMIT, TAKE_PROFIT_MARKET"},
		"time_in_force": {[]string{"gtc", "GTD", ""}, "GTC, FOK, IOC"},
		"resp_type":     {[]string{"ack", "FULL", ""}, "NONE, ACK, RESULT"},
		"stp":           {[]string{"NONE", "newest", ""}, "none, cancel_newest, cancel_oldest, cancel_both, decrement"},
	} {
		for _, word := range c.bad {
			x.failsNaming(a.try(order.with(name, word)), name, c.good)
		}
	}
	x.same("open orders", a.open())
}

func unknownPairs(x *exam) {
	x.covers("SPOT-REQ-13")
	a := x.account()
	for _, pair := range []string{"NO/SUCH", "btc/usdt", "BTCUSDT", "BTC", ""} {
		quoted := fmt.Sprintf("%q", pair)
		x.failsNaming(x.post("/orderbook", fields{"pair": pair}), "pair", quoted)
		x.failsNaming(x.post("/trades", fields{"pair": pair, "offset": 0}), "pair", quoted)
		x.failsNaming(x.post("/candlestick", fields{"pair": pair, "res": "1", "from": 0, "to": 1}), "pair", quoted)
		x.failsNaming(x.post("/markets", fields{"pair": pair}), "pair", quoted)
		for _, path := range []string{"/open_orders", "/orders_history", "/trades_history"} {
			x.failsNaming(a.post(path, fields{"offset": 0, "filter_pair": pair}), "pair", quoted)
		}
		x.failsNaming(a.post("/open_orders", fields{"offset": 0, "sort_pair": pair}), "pair", quoted)
		x.failsNaming(a.try(untouched.limit("BUY", "10", "1").with("pair", pair)), "pair", quoted)
	}
}

func whatIsNotNeeded(x *exam) {
	x.covers("SPOT-REQ-14")
	x.undescribed = true
	m := x.market()
	a, b := x.traders(m)
	limit := m.limit("SELL", "10", "3")
	x.becomes(a.try(limit.with("stop", 7).with("total", []int{1})), "OPEN", "0")
	x.becomes(b.try(m.byAmount("BUY", "1").with("price", "x").with("stop", fields{})), "FILLED", "1")
	x.becomes(b.try(m.byTotal("BUY", "10").with("price", 3)), "FILLED", "1")
	id := b.place(m.stop("BUY", "900", "900", "1").with("total", "nonsense"))
	x.equal("fields", b.history(id).names(), "obid pair time side time_in_force type quote_prec trades status base quote price amount stop")
}
