package conformance

import (
	"net/http"
	"strings"
	"testing"
)

var transportChecks = []check{
	oneAddress, postWithAnyContentType, getIsLikePost, getWithQuery, otherMethods, unknownPath, longBody, failuresAreJSON,
	successesAreJSON, slashesCountOnce, anyOrigin, options, healthy, answersAreShown, nothingIsNull,
	otherStatusesAreJSON, codesOfErrors, codesOfRejections,
}

func TestTransport(t *testing.T) { examine(t, transportChecks) }

func oneAddress(x *exam) {
	x.covers("SPOT-TRN-1")
	x.succeeds(x.send(http.MethodPost, "/spot/time", "{}", nil))
	x.match(x.connect().ask("ping", fields{}), `{"class":"resp","id":1,"success":true}`)
}

func postWithAnyContentType(x *exam) {
	x.covers("SPOT-TRN-2")
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "nonsense"} {
		a := x.send(http.MethodPost, "/spot/markets", `{"pair":"BTC/USDT"}`, http.Header{"Content-Type": {kind}})
		x.same("pairs", a.value.get("markets").column("pair"), "BTC/USDT")
	}
}

func getIsLikePost(x *exam) {
	x.covers("SPOT-TRN-3")
	body := `{"pair":"BTC/USDT"}`
	posted := x.send(http.MethodPost, "/spot/markets", body, nil)
	got := x.send(http.MethodGet, "/spot/markets", body, nil)
	x.succeeds(got)
	x.equal("answer to GET", got.value.String(), posted.value.String())
}

func getWithQuery(x *exam) {
	x.covers("SPOT-TRN-15")
	for path, asks := range map[string]struct{ body, query string }{
		"/spot/orderbook":   {`{"pair":"BTC/USDT","depth":2}`, "pair=BTC/USDT&depth=2&other=1"},
		"/spot/markets":     {`{"pair":"BTC/USDT"}`, "pair=BTC%2FUSDT"},
		"/spot/candlestick": {`{"pair":"BTC/USDT","res":"1D","from":0,"to":86400}`, "pair=BTC/USDT&res=1D&from=0&to=86400"},
		"/spot/config":      {`{}`, ""},
	} {
		posted := x.send(http.MethodPost, path, asks.body, nil)
		got := x.send(http.MethodGet, path+"?"+asks.query, "", nil)
		x.succeeds(got)
		x.equal("answer to GET "+path, got.value.String(), posted.value.String())
	}

	for query, says := range map[string]string{
		"":                              "Missing data: pair",
		"pair=BTC/USDT&pair=BTC/USDT":   "pair",
		"Pair=BTC/USDT":                 "pair",
		"pair=BTC/USDT&depth=1.0":       "depth",
		"pair=BTC/USDT&depth=%221%22":   "depth",
		"pair=%ff":                      "pair",
		"pair=NONE/SUCH":                "pair",
		"pair=BTC/USDT&depth=1;depth=2": "query",
	} {
		a := x.send(http.MethodGet, "/spot/orderbook?"+query, "", nil)
		x.failsNaming(a, says)
	}

	// A key in the query is ignored.
	a := x.account()
	x.failed(x.send(http.MethodGet, "/spot/open_orders?offset=0&api_key="+a.key, "", nil))
}

func otherMethods(x *exam) {
	x.covers("SPOT-TRN-4")
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		a := x.send(method, "/spot/markets", "{}", nil)
		if a.status != http.StatusMethodNotAllowed || !strings.Contains(a.header.Get("Allow"), "POST") {
			x.Errorf("%s: status %d, Allow %q", method, a.status, a.header.Get("Allow"))
		}
	}
}

func unknownPath(x *exam) {
	x.covers("SPOT-TRN-5")
	for _, path := range []string{"/spot/nothing", "/spot/markets/", "/spot/open_orders/old", "/spot/../spot/markets"} {
		x.noEndpoint(x.send(http.MethodPost, path, "{}", nil))
	}
}

// noEndpoint expects V1's answer for a path that does not exist.
func (x *exam) noEndpoint(a *answer) {
	x.Helper()
	if kind := a.header.Get("Content-Type"); a.status != http.StatusNotFound || kind != "application/json" {
		x.Errorf("status %d and type %q, want 404 and application/json", a.status, kind)
	}
	x.match(a.value, `{"success":false,"error":"#text","code":"INVALID_ENDPOINT"}`)
}

func longBody(x *exam) {
	x.covers("SPOT-TRN-6")
	body := `{"pair":"BTC/USDT","padding":"` + strings.Repeat("x", 1<<16)
	longest := body[:1<<16-2] + `"}`
	x.succeeds(x.raw("/orderbook", longest))
	longer := body[:1<<16-1] + `"}`
	if a := x.raw("/orderbook", longer); a.status != http.StatusRequestEntityTooLarge {
		x.Errorf("status %d, want 413", a.status)
	}
}

func failuresAreJSON(x *exam) {
	x.covers("SPOT-TRN-7")
	x.golden(x.raw("/orderbook", `{"pair":`).value, "error")
	x.failed(x.raw("/orderbook", `{}`))
	x.failed(x.raw("/orderbook", `{"pair":"NO/SUCH"}`))
	x.failed(x.raw("/open_orders", `{"offset":0,"api_key":"wrong"}`))
	m := x.market()
	x.failed(x.account().try(m.limit("BUY", "10", "1")))
}

func otherStatusesAreJSON(x *exam) {
	x.covers("SPOT-TRN-16")
	long := `{"pair":"BTC/USDT","padding":"` + strings.Repeat("x", 1<<16) + `"}`
	for code, a := range map[string]*answer{
		"INVALID_ENDPOINT":   x.send(http.MethodPost, "/spot/nothing", "{}", nil),
		"METHOD_NOT_ALLOWED": x.send(http.MethodPut, "/spot/time", "{}", nil),
		"VALIDATION_ERROR":   x.send(http.MethodPost, "/spot/orderbook", long, nil),
	} {
		x.match(a.value, `{"success":false,"error":"#text","code":"`+code+`"}`)
	}
}

func codesOfErrors(x *exam) {
	x.covers("SPOT-ERR-1")
	x.undescribed = true
	a := x.account()
	reader, _ := a.newKey("read")
	x.coded(x.raw("/orderbook", `{}`), "MISSING_DATA")
	x.coded(a.post("/open_orders/cancel", fields{}), "MISSING_DATA")
	x.coded(x.raw("/orderbook", `{"pair":`), "VALIDATION_ERROR")
	x.coded(x.raw("/orderbook", `{"pair":7}`), "VALIDATION_ERROR")
	x.coded(x.raw("/orderbook", `{"pair":"NO/SUCH"}`), "NOT_FOUND")
	x.coded(x.post("/open_orders", fields{"offset": 0, "api_key": "useless"}), "INVALID_KEY")
	x.coded(x.post("/open_orders/cancel", fields{"obid": 1, "api_key": reader}), "FORBIDDEN")
	x.coded(a.post("/open_orders/cancel", fields{"obid": 1}), "ORDER_NOT_FOUND")
}

func codesOfRejections(x *exam) {
	x.covers("SPOT-ERR-2")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "1")
	x.coded(a.try(m.limit("BUY", "10", "1").with("post_only", true)), "WOULD_TAKE")
	x.coded(a.try(m.limit("SELL", "10", "900000")), "INSUF_FUNDS")
}

func successesAreJSON(x *exam) {
	x.covers("SPOT-TRN-8")
	for _, body := range []string{`{"pair":"BTC/USDT"}`, `{}`} {
		a := x.raw("/orderbook", body)
		x.equal("Content-Type", a.header.Get("Content-Type"), "application/json")
		if len(a.value.members) == 0 || a.value.members[0].name != "success" {
			x.Errorf("success does not come first: %s", a.value)
		}
		if ok := a.value.get("success").kind == 't'; ok == a.value.has("error") || ok != (body != "{}") {
			x.Errorf("success and error: %s", a.value)
		}
	}
}

func slashesCountOnce(x *exam) {
	x.covers("SPOT-TRN-9")
	for _, path := range []string{"//spot/time", "/spot//time", "///spot///time"} {
		x.answers(x.send(http.MethodPost, path, "{}", nil), `{"success":true,"time":"#time"}`)
	}
}

func anyOrigin(x *exam) {
	x.covers("SPOT-TRN-10")
	origin := http.Header{"Origin": {"https://a.example"}}
	for _, a := range []*answer{
		x.send(http.MethodPost, "/spot/time", "{}", origin),
		x.send(http.MethodPost, "/spot/orderbook", "{}", origin),
		x.send(http.MethodPost, "/spot/nothing", "{}", origin),
		x.send(http.MethodPut, "/spot/time", "{}", origin),
	} {
		x.equal("Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "*")
		x.equal("Access-Control-Allow-Credentials", a.header.Get("Access-Control-Allow-Credentials"), "")
		x.equal("Set-Cookie", a.header.Get("Set-Cookie"), "")
	}
}

func options(x *exam) {
	x.covers("SPOT-TRN-11")
	asks := http.Header{"Origin": {"https://a.example"}, "Access-Control-Request-Method": {"POST"}}
	for _, path := range []string{"/spot/markets", "/spot/nothing", "/", "/stream"} {
		a := x.send(http.MethodOptions, path, "", asks)
		if a.status/100 != 2 {
			x.Errorf("%s: status %d", path, a.status)
		}
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			x.lists(a, "Access-Control-Allow-Methods", method)
		}
		for _, name := range []string{
			"Content-Type", "Authorization", "Idempotency-Key", "Bourse-Key", "Bourse-Timestamp", "Bourse-Window", "Bourse-Signature",
		} {
			x.lists(a, "Access-Control-Allow-Headers", name)
		}
	}
}

// lists checks that a header lists a word.
func (x *exam) lists(a *answer, header, word string) {
	x.Helper()
	if !strings.Contains(a.header.Get(header), word) {
		x.Errorf("%s is %q, without %s", header, a.header.Get(header), word)
	}
}

func healthy(x *exam) {
	x.covers("SPOT-TRN-12")
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := x.send(http.MethodGet, path, "", nil); a.status != http.StatusOK {
			x.Errorf("%s: status %d", path, a.status)
		}
	}
}

func answersAreShown(x *exam) {
	x.covers("SPOT-TRN-13")
	m := x.market()
	a, b := x.traders(m)
	for range 5 {
		id := a.sell(m, "10", "2")
		x.same("open orders", a.open(), id)
		x.same("asks", levels(x.book(m).get("asks")), "10.0000:2.0000")
		b.place(m.limit("BUY", "10", "0.5").with("resp_type", "ACK"))
		a.stands(id, "OPEN", "0.5")
		x.equal("last trade", x.trades(m).column("amount")[0], "0.5")
		x.equal("own trade", b.list("/trades_history").column("amount")[0], "0.5")
		x.equal("price", x.ticker(m).get("price").text, "10")
		x.succeeds(a.cancel(id))
		x.same("open orders", a.open())
		x.same("asks", levels(x.book(m).get("asks")))
		a.stands(id, "CANCELED", "0.5")
	}
}

func nothingIsNull(x *exam) {
	x.covers("SPOT-TRN-14")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "2")
	a.place(m.stop("BUY", "9000", "9000", "1"))
	a.try(m.byTotal("BUY", "5"))
	for _, path := range []string{"/open_orders", "/orders_history"} {
		x.nonNull(path, a.post(path, fields{"offset": 0}).value)
	}
	x.nonNull("/markets_ex", x.post("/markets_ex", fields{"pair": m.pair}).value)
	x.golden(a.post("/open_orders", fields{"offset": 0, "filter_pair": m.pair}).value, "open_orders", "pair", m.pair)
}

// nonNull checks that a value has no null in it.
func (x *exam) nonNull(what string, v *value) {
	x.Helper()
	if v.kind == 'n' {
		x.Errorf("%s: null", what)
	}
	for _, m := range v.members {
		x.nonNull(what+"."+m.name, m.value)
	}
	for _, item := range v.items {
		x.nonNull(what, item)
	}
}
