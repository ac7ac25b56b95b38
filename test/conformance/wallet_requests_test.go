package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var walletRequestsChecks = []check{
	walletAddress, walletMethods, walletQueries, walletRefusedStatuses, walletFailures, walletOrigin, walletFieldsInOrder, walletAnswersAreShown,
	walletStrictJSON, walletUnknownNames, walletMissingData, walletWrongTypes, walletOffsets, walletIDs, walletUnknownSymbols,
	walletNotOnNetwork, walletDecimals, walletPlainDecimals, walletTimes,
}

func TestWalletRequests(t *testing.T) { examine(t, walletRequestsChecks) }

func walletAddress(x *exam) {
	x.covers("WAL-TRN-1")
	for _, path := range []string{"/wallet/assets", "//wallet//assets"} {
		x.same(path, symbolsOf(x.send(http.MethodPost, path, `{"symbols":["BTC"]}`, nil), "assets"), "BTC")
	}
}

func walletMethods(x *exam) {
	x.covers("WAL-TRN-2")
	body := `{"asset":"BTC"}`
	posted := x.send(http.MethodPost, "/wallet/networks", body, http.Header{"Content-Type": {"nonsense"}})
	x.same("networks", members(posted.value.get("networks")), "BTC")
	got := x.send(http.MethodGet, "/wallet/networks", body, nil)
	x.succeeds(got)
	x.equal("answer to GET", got.value.String(), posted.value.String())
}

func walletQueries(x *exam) {
	x.covers("WAL-TRN-8")
	for path, asks := range map[string]struct{ body, query string }{
		"/wallet/assets":   {`{"symbols":["BTC","USDT"]}`, "symbols=BTC,USDT"},
		"/wallet/networks": {`{"asset":"USDT"}`, "asset=USDT"},
	} {
		posted := x.send(http.MethodPost, path, asks.body, nil)
		got := x.send(http.MethodGet, path+"?"+asks.query, "", nil)
		x.succeeds(got)
		x.equal("answer to GET "+path, got.value.String(), posted.value.String())
	}
	x.fails(x.send(http.MethodGet, "/wallet/networks", "", nil), "Missing data: asset")
	x.failsNaming(x.send(http.MethodGet, "/wallet/assets?symbols="+strings.Repeat("BTC,", 50)+"BTC", "", nil), "symbols")
}

func walletRefusedStatuses(x *exam) {
	x.covers("WAL-TRN-3")
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch} {
		if a := x.send(method, "/wallet/assets", "{}", nil); a.status != http.StatusMethodNotAllowed {
			x.Errorf("%s: status %d, want 405", method, a.status)
		}
	}
	for _, path := range []string{"/wallet", "/wallet/", "/wallet/nothing", "/wallet/withdraw/nothing", "/wallet/markets"} {
		x.noEndpoint(x.send(http.MethodPost, path, "{}", nil))
	}
	body := `{"padding":"` + strings.Repeat("x", 1<<16)
	x.succeeds(x.rawWallet("/assets", body[:1<<16-2]+`"}`))
	if a := x.rawWallet("/assets", body[:1<<16-1]+`"}`); a.status != http.StatusRequestEntityTooLarge {
		x.Errorf("status %d, want 413", a.status)
	}
}

func walletFailures(x *exam) {
	x.covers("WAL-TRN-4")
	x.golden(x.wallet("/networks", fields{}).value, "wallet_error", "error", "Missing data: asset")
	x.failed(x.rawWallet("/assets", "nonsense"))
	x.equal("fields", x.wallet("/assets", fields{}).value.names(), "success assets")
}

func walletOrigin(x *exam) {
	x.covers("WAL-TRN-5")
	for _, a := range []*answer{
		x.wallet("/networks", fields{"asset": "BTC"}), x.wallet("/deposit", fields{}), x.send(http.MethodPut, "/wallet/assets", "{}", nil),
		x.send(http.MethodOptions, "/wallet/withdraw", "", nil),
	} {
		x.equal("Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "*")
	}
}

func walletFieldsInOrder(x *exam) {
	x.covers("WAL-TRN-6")
	a := x.account("1 BTC")
	x.equal("fields", a.balance("BTC").names(), "total locked avbl")
	info := a.wallet("/withdraw/info", fields{"asset": "BTC", "network": "BTC"}).value.names()
	info = strings.TrimSuffix(info, " warning") // other checks may have paused the network
	x.equal("fields", info, "success operating fee_min fee_max prec min_withdrawal")
}

func walletAnswersAreShown(x *exam) {
	x.covers("WAL-TRN-7")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	for i := range 5 {
		xid := a.take(c.to(c.outside(), "0.1").with("adbk_name", string(rune('a'+i))))
		x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
		if n := len(a.wallet("/addressbook", fields{}).value.get("addressbook").members); n != i+1 {
			x.Errorf("%d entries, want %d", n, i+1)
		}
		x.succeeds(a.drop(xid))
		if status := a.row("xid", xid).get("status").text; status != "PENDING_CANCEL" && status != "CANCELED" {
			x.Errorf("status is %s after a cancel", status)
		}
	}
}

func walletStrictJSON(x *exam) {
	x.covers("WAL-REQ-1")
	for _, body := range []string{
		"", "[]", `"x"`, "null", `{"asset":"BTC"`, `{"asset":"BTC"}{}`, `{"asset":"BTC","asset":"BTC"}`, `{"Asset":"BTC"}`,
		`{"asset":"BTC","other":{"a":1,"a":1}}`, "{\"asset\":\"BTC\",\"other\":\"\xff\"}",
	} {
		x.failed(x.rawWallet("/networks", body))
	}
}

func walletUnknownNames(x *exam) {
	x.covers("WAL-REQ-2")
	a := x.rawWallet("/networks", `{"asset":"BTC","other":{"asset":[1]},"network":7}`)
	x.same("networks", members(a.value.get("networks")), "BTC")
	x.fails(x.rawWallet("/networks", `{"asset":null}`), "Missing data: asset")
	all := x.rawWallet("/assets", `{"symbols":null,"search":null,"offset":null}`)
	x.equal("assets", all.value.String(), x.wallet("/assets", fields{}).value.String())
}

// demanding are the endpoints with their required fields.
var demanding = map[string]fields{
	"/transactions":       {"offset": 0},
	"/deposit":            {"asset": "BTC", "network": "BTC"},
	"/withdraw/info":      {"asset": "BTC", "network": "BTC"},
	"/withdraw/validate":  {"asset": "BTC", "network": "BTC"},
	"/withdraw":           {"asset": "BTC", "network": "BTC", "address": "x", "amount": "1", "fee": "0.001"},
	"/withdraw/cancel":    {"xid": 1},
	"/addressbook/rename": {"adbkid": 1, "new_name": "n"},
	"/addressbook/delete": {"adbkid": 1},
}

func walletMissingData(x *exam) {
	x.covers("WAL-REQ-3")
	a := x.account()
	for path, body := range demanding {
		for name := range body {
			x.fails(a.wallet(path, body.with(name, nil)), "Missing data: "+name)
		}
	}
	x.fails(x.wallet("/networks", fields{}), "Missing data: asset")
}

func walletWrongTypes(x *exam) {
	x.covers("WAL-REQ-4")
	a := x.account("1 BTC")
	to := x.off("BTC").outside()
	for path, body := range demanding {
		for name := range body {
			if path == "/withdraw" {
				body = body.with("address", to)
			}
			x.failsNaming(a.wallet(path, body.with(name, true)), name)
			x.failsNaming(a.wallet(path, body.with(name, []int{1})), name)
		}
	}
	for _, name := range []string{"amount", "fee"} {
		x.failsNaming(a.wallet("/withdraw", demanding["/withdraw"].with("address", to).with(name, number("0.5"))), name)
	}
	for _, bad := range []any{"BTC", 7, []any{7}, []any{"BTC", nil}} {
		x.failsNaming(x.wallet("/assets", fields{"symbols": bad}), "symbols")
	}
	x.failsNaming(x.wallet("/assets", fields{"search": 7}), "search")
	x.failsNaming(x.wallet("/balances", fields{"api_key": 7}), "api_key")
}

func walletOffsets(x *exam) {
	x.covers("WAL-REQ-5")
	a := x.account()
	for _, path := range []string{"/assets", "/balances", "/balances_ex", "/transactions"} {
		x.succeeds(a.wallet(path, fields{"offset": number("2147483647")}))
		for _, bad := range []any{number("-1"), number("1.5"), number("1.0"), "0", number("2147483648"), true} {
			x.failsNaming(a.wallet(path, fields{"offset": bad}), "offset")
		}
	}
}

func walletIDs(x *exam) {
	x.covers("WAL-REQ-6")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	first, second := a.take(c.to(c.outside(), "0.1").with("adbk_name", "a")), a.take(c.to(c.outside(), "0.1").with("adbk_name", "b"))
	x.succeeds(a.wallet("/withdraw/cancel", fields{"xid": first}))
	a.turns(first, "CANCELED")
	x.succeeds(a.wallet("/withdraw/cancel", fields{"xid": number(second)}))
	a.turns(second, "CANCELED")
	ids := members(a.wallet("/addressbook", fields{}).value.get("addressbook"))
	if len(ids) != 2 {
		x.Fatalf("entries %v, want two", ids)
	}
	x.succeeds(a.wallet("/addressbook/delete", fields{"adbkid": ids[0]}))
	x.succeeds(a.wallet("/addressbook/delete", fields{"adbkid": number(ids[1])}))
	for _, bad := range []any{"", "x", "-1", number("1.5"), number("-1"), false} {
		x.failsNaming(a.wallet("/withdraw/cancel", fields{"xid": bad}), "xid")
		x.failsNaming(a.wallet("/addressbook/delete", fields{"adbkid": bad}), "adbkid")
	}
}

func walletUnknownSymbols(x *exam) {
	x.covers("WAL-REQ-7")
	a := x.account()
	for _, symbol := range []string{"NOSUCH", "btc", "", "BTC/USDT"} {
		x.failsNaming(x.wallet("/networks", fields{"asset": symbol}), "asset")
		x.failsNaming(a.wallet("/transactions", fields{"offset": 0, "asset": symbol}), "asset")
		for _, path := range []string{"/deposit", "/withdraw/info", "/withdraw/validate", "/withdraw"} {
			body := demanding[path].with("address", "x")
			x.failsNaming(a.wallet(path, body.with("asset", symbol)), "asset")
			x.failsNaming(a.wallet(path, body.with("network", symbol)), "network")
		}
		x.failsNaming(a.wallet("/addressbook", fields{"network": symbol}), "network")
	}
}

func walletNotOnNetwork(x *exam) {
	x.covers("WAL-REQ-8")
	a := x.account("1 BTC")
	for _, path := range []string{"/deposit", "/withdraw/info", "/withdraw/validate", "/withdraw"} {
		x.failsNaming(a.wallet(path, demanding[path].with("address", "x").with("network", "ETH")), "network")
		x.failsNaming(a.wallet(path, demanding[path].with("address", "x").with("asset", "USDT")), "network")
	}
}

func walletDecimals(x *exam) {
	x.covers("WAL-REQ-9")
	c := x.chain(byOutput...)
	c.pause()
	a := c.customer()
	body := c.to(c.outside(), "0.1")
	for _, bad := range []string{
		"-0.1", "+0.1", "1e-1", "0,1", " 0.1", "0.1 ", "0.1.1", ".", "", "abc", "0x1", "NaN", "٥", strings.Repeat("0", 39) + ".1",
	} {
		x.failsNaming(a.wallet("/withdraw", body.with("amount", bad)), "amount")
		x.failsNaming(a.wallet("/withdraw", body.with("fee", bad)), "fee")
	}
	for _, zero := range []string{"0", "0.0"} {
		x.failsNaming(a.wallet("/withdraw", body.with("amount", zero)), "amount")
	}
	x.failsNaming(a.wallet("/withdraw", body.with("amount", strings.Repeat("9", 40))), "amount")
	for sent, shown := range map[string]string{".1": "0.1", "00.1": "0.1", "0.10": "0.1"} {
		x.equal("amount", a.row("xid", a.take(body.with("amount", sent))).get("amount").text, shown)
	}
}

func walletPlainDecimals(x *exam) {
	x.covers("WAL-REQ-10")
	a := x.account("100000000 BTC", "0.000000000001 LTC", "7.5000 ATOM")
	a.owns("BTC", "100000000", "0", "100000000")
	a.owns("LTC", "0.000000000001", "0", "0.000000000001")
	a.owns("ATOM", "7.5", "0", "7.5")
}

func walletTimes(x *exam) {
	x.covers("WAL-REQ-11")
	c := x.chain(byOutput...)
	a := c.customer()
	earliest := fmt.Sprintf("%d.000000", time.Now().Add(-2*time.Second).Unix()) // clocks may differ by a tick
	row := a.turns(a.take(c.to(c.outside(), "0.1")), "DONE")
	for _, name := range []string{"create_time", "exec_time"} {
		x.match(row.get(name), `"#time"`)
		if at := row.get(name).text; at < earliest {
			x.Errorf("%s is %s, before the request", name, at)
		}
	}
}

func TestWalletKeys(t *testing.T) { examine(t, walletKeyChecks) }

var walletKeyChecks = []check{walletNeedsKeys, walletUselessKeys, walletScopes, walletStrangers}

// ofAccounts are the endpoints that need a key.
func ofAccounts() map[string]fields {
	list := map[string]fields{
		"/balances": {}, "/balances_ex": {}, "/addressbook": {},
		"/transfer": {"asset": "BTC", "amount": "1", "email": "nobody@example.com"},
	}
	for path, body := range demanding {
		list[path] = body
	}
	return list
}

func walletNeedsKeys(x *exam) {
	x.covers("WAL-AUTH-1")
	for path, body := range ofAccounts() {
		x.fails(x.wallet(path, body), "Missing data: api_key")
	}
	x.succeeds(x.wallet("/assets", fields{"api_key": "wrong"}))
	x.succeeds(x.wallet("/networks", fields{"api_key": 7, "asset": "BTC"}))
}

func walletUselessKeys(x *exam) {
	x.covers("WAL-AUTH-2")
	a := x.account()
	revoked, id := a.newKey("read,trade,withdraw")
	x.operate("key", "revoke", id)
	for _, key := range []string{"x", strings.Repeat("0", 64), a.key[:63], revoked} {
		for path, body := range ofAccounts() {
			x.fails(x.wallet(path, body.with("api_key", key)), "Unauthorized")
		}
	}
}

func walletScopes(x *exam) {
	x.covers("WAL-AUTH-3")
	a := x.account("1 BTC")
	key, _ := a.newKey("read,trade")
	reader := &account{x: x, key: key}
	key, _ = a.newKey("trade,withdraw")
	drawer := &account{x: x, key: key}
	withdraws := []string{"/withdraw", "/withdraw/cancel", "/transfer", "/addressbook/rename", "/addressbook/delete"}
	for path, body := range ofAccounts() {
		asked := body.with("address", "x")
		if slices.Contains(withdraws, path) {
			x.fails(reader.wallet(path, asked), "Forbidden: the key has no scope withdraw")
			x.failed(drawer.wallet(path, asked))
		} else {
			x.succeeds(reader.wallet(path, asked))
			x.fails(drawer.wallet(path, asked), "Forbidden: the key has no scope read")
		}
	}
	a.owns("BTC", "1", "0", "1")
}

func walletStrangers(x *exam) {
	x.covers("WAL-AUTH-4")
	c := x.chain(byOutput...)
	c.pause()
	a, b := c.customer(), x.account()
	xid := a.take(c.to(c.outside(), "0.5").with("adbk_name", "mine"))
	x.answers(b.wallet("/transactions", fields{"offset": 0}), `{"success":true,"transactions":[]}`)
	x.answers(b.wallet("/addressbook", fields{}), `{"success":true,"addressbook":{}}`)
	b.owns(c.coin, "0", "0", "0")
	x.failed(b.drop(xid))
	x.equal("status", a.row("xid", xid).get("status").text, "PENDING")
}
