package conformance

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var keyChecks = []check{keyIsNeeded, uselessKeys, secrets, scopes, revokedKey, publicData, strangers, bearerOnV1}

func TestKeys(t *testing.T) { examine(t, keyChecks) }

// keyed are the endpoints that need a key, with bodies that are otherwise valid.
var keyed = map[string]fields{
	"/open_orders": {"offset": 0}, "/orders_history": {"offset": 0}, "/trades_history": {"offset": 0},
	"/open_orders/new": untouched.limit("BUY", "10", "1"), "/open_orders/cancel": {"obid": 1},
	"/open_orders/amend":      {"obid": 1, "amount": "1"},
	"/open_orders/batch":      {"requests": []fields{{"cancel": fields{"obid": 1}}}},
	"/open_orders/replace":    {"cancel": fields{"obid": 1}, "order": untouched.limit("BUY", "10", "1"), "mode": "allow_failure"},
	"/open_orders/cancel_all": {}, "/order": {"obid": 1}, "/user_fees": {},
	"/order_lists": {"list_id": 1}, "/order_lists/cancel": {"list_id": 1}, "/order_lists/new": untouched.exit("10", "5", "1"),
}

func keyIsNeeded(x *exam) {
	x.covers("SPOT-AUTH-1")
	for path, body := range keyed {
		x.fails(x.post(path, body), "Missing data: api_key")
	}
}

func uselessKeys(x *exam) {
	x.covers("SPOT-AUTH-2")
	a := x.account()
	revoked, id := a.newKey("read,trade")
	x.operate("key", "revoke", id)
	bad := []string{
		"", "x", strings.Repeat("0", 64), strings.Repeat("g", 64), a.key[:63], a.key + "0", " " + a.key, strings.Repeat("é", 64), revoked,
	}
	for _, key := range bad {
		for path, body := range keyed {
			if key != "" || path == "/open_orders" {
				x.fails(x.post(path, body.with("api_key", key)), "Unauthorized")
			}
		}
	}
}

func secrets(x *exam) {
	x.covers("SPOT-AUTH-3")
	m := x.market()
	a := x.trader(m)
	second, _ := a.newKey("read,trade")
	if form := regexp.MustCompile(`^[0-9a-f]{64}$`); !form.MatchString(a.key) || !form.MatchString(second) || a.key == second {
		x.Errorf("secrets are not two of 64 digits")
	}
	id := a.sell(m, "10", "1")
	same := &account{x: x, key: second}
	x.same("open orders", same.open(), id)
	x.succeeds(same.cancel(id))
	x.same("open orders", a.open())
}

func scopes(x *exam) {
	x.covers("SPOT-AUTH-4")
	m := x.market()
	a := x.trader(m)
	id := a.sell(m, "10", "1")
	key, _ := a.newKey("read")
	reader := &account{x: x, key: key}
	key, _ = a.newKey("trade")
	placer := &account{x: x, key: key}
	x.same("open orders", reader.open(), id)
	x.fails(reader.try(m.limit("SELL", "10", "1")), "Forbidden: the key has no scope trade")
	x.fails(reader.cancel(id), "Forbidden: the key has no scope trade")
	x.fails(reader.amend(id, fields{"amount": "0.5"}), "Forbidden: the key has no scope trade")
	x.fails(reader.replace(id, m.limit("SELL", "11", "1"), "stop_on_failure"), "Forbidden: the key has no scope trade")
	x.fails(reader.batch(canceling(id)), "Forbidden: the key has no scope trade")
	x.fails(reader.post("/open_orders/cancel_all", fields{}), "Forbidden: the key has no scope trade")
	x.same("open orders", reader.open(), id)
	for _, path := range []string{"/open_orders", "/orders_history", "/trades_history"} {
		x.fails(placer.post(path, fields{"offset": 0}), "Forbidden: the key has no scope read")
	}
	x.succeeds(placer.cancel(id))
}

func revokedKey(x *exam) {
	x.covers("SPOT-AUTH-5")
	a := x.account()
	key, id := a.newKey("read")
	ask := func() *answer { return x.post("/open_orders", fields{"api_key": key, "offset": 0}) }
	x.succeeds(ask())
	x.operate("key", "revoke", id)
	x.fails(x.eventually(time.Second, ask, func(a *answer) bool { return a.value.get("success").kind == 'f' }), "Unauthorized")
	x.succeeds(a.post("/open_orders", fields{"offset": 0}))
}

func publicData(x *exam) {
	x.covers("SPOT-AUTH-6")
	for path, body := range map[string]fields{
		"/markets": {"pair": "BTC/USDT"}, "/markets_ex": {"pair": "BTC/USDT"}, "/orderbook": {"pair": "BTC/USDT"},
		"/trades": {"pair": "BTC/USDT", "offset": 0}, "/candlestick": {"pair": "BTC/USDT", "res": "1", "from": 0, "to": 60},
	} {
		without := x.post(path, body)
		x.succeeds(without)
		for _, key := range []any{"wrong", 7, nil} {
			x.equal("answer of "+path, x.post(path, body.with("api_key", key)).value.String(), without.value.String())
		}
	}
}

func strangers(x *exam) {
	x.covers("SPOT-AUTH-7")
	m := x.market()
	a, b := x.traders(m)
	c := x.account()
	x.trade(m, a, b, "10", "1")
	id := a.sell(m, "10", "1")
	x.same("open orders", a.open(), id)
	x.same("open orders of another", b.open())
	x.answers(c.post("/open_orders", fields{"offset": 0}), `{"success":true,"orders":[]}`)
	x.answers(c.post("/orders_history", fields{"offset": 0}), `{"success":true,"orders":[]}`)
	x.answers(c.post("/trades_history", fields{"offset": 0}), `{"success":true,"trades":[]}`)
	x.fails(b.post("/order", fields{"obid": number(id)}), "Order not found")
}

func bearerOnV1(x *exam) {
	x.covers("SPOT-AUTH-8")
	x.undescribed = true
	m := x.market()
	a, b := x.trader(m), x.trader(m)
	id := a.sell(m, "10", "1")
	ask := func(body string, headers ...string) *answer {
		return x.send(http.MethodPost, "/spot/open_orders", body, http.Header{"Authorization": headers})
	}
	none, own := `{"offset":0}`, `{"offset":0,"api_key":"`+a.key+`"}`
	useless := `{"offset":0,"api_key":"useless"}`
	for _, got := range []*answer{
		ask(none, "Bearer "+a.key), ask(none, "bearer "+a.key), ask(own, "Bearer "+b.key), ask(own, "Bearer useless"), ask(own, "Basic x"),
	} {
		x.succeeds(got)
		x.same("open orders", got.value.get("orders").column("obid"), id)
	}
	x.same("open orders", ask(none, "Bearer "+b.key).value.get("orders").column("obid"))
	x.fails(ask(none, "Bearer useless"), "Unauthorized")
	x.fails(ask(useless, "Bearer "+a.key), "Unauthorized")
	x.fails(ask(none, "Basic "+a.key), "Missing data: api_key")
	x.fails(ask(none, "Bearer "+a.key, "Bearer "+a.key), "Missing data: api_key")

	// The wallet takes it too.
	got := x.send(http.MethodPost, "/wallet/balances", none, http.Header{"Authorization": {"Bearer " + a.key}})
	x.succeeds(got)
}
