package conformance

import (
	"fmt"
	"strings"
)

// out returns the request of a withdrawal in V2.
func (c *chain) out(address, amount string) fields {
	return c.to(address, amount).with("type", "WITHDRAWAL")
}

// takeV2 requests a withdrawal in V2 and returns its xid. It is canceled at the end of
// the check if it still waits.
func (a *account) takeV2(body fields) string {
	a.x.Helper()
	res := a.v2("POST", "/io/transactions", body)
	xid := res.value.get("xid").text
	if res.status != 200 {
		a.x.broken("withdraw: %s", res.value)
	}
	a.x.Cleanup(func() {
		cancel := `{"api_key":"` + a.key + `","xid":"` + xid + `"}`
		_, _ = a.x.exchange.sure("/wallet/withdraw/cancel", cancel)
	})
	return xid
}

// movement returns a V2 transaction once a field has a value in V1, past any proxy.
func (a *account) movement(name, id, field, want string) *value {
	a.x.Helper()
	a.x.until(enough, "transaction "+id+" with "+field+" "+want, func() bool {
		return a.hidden(name, id).get(field).text == want
	})
	return a.v2("GET", "/io/transactions/"+a.hidden(name, id).get("xid").text, nil).value
}

// row returns the pattern of a transaction of BTC or LTC.
func (c *chain) row(kind, status, rest string) string {
	return `{"xid":"#id","type":"` + kind + `","amount":"0.25","status":"` + status + `","createTime":"#unix",` + rest +
		`,"asset":{"symbol":"` + c.coin + `","name":"#text","iconUrl":"#url","defaultPrec":8}` +
		`,"network":{"symbol":"` + c.network + `","name":"#text","iconUrl":"#url","memoName":null}}`
}

func depositLifeOfV2(x *exam) {
	x.covers("WAL-REST-14")
	c := x.chain("BTC", "LTC")
	a := x.account()
	address, _ := a.address(c)
	txid := c.gives(a, "0.25")
	c.mine(1)
	where := `"address":"` + address + `","memo":null,`
	chain := `"confirmTarget":2,"txid":"` + txid + `","height":"#id","fee":null,"delayed":false`
	row := a.movement("txid", txid, "status", "PENDING")
	x.match(row, c.row("DEPOSIT", "CONFIRM_PENDING", where+`"confirmTime":null,"confirmations":1,`+chain))
	x.refuses(a.v2("DELETE", "/io/transactions/"+row.get("xid").text, nil), 405, "METHOD_NOT_ALLOWED")
	c.mine(1)
	x.match(a.movement("txid", txid, "status", "DONE"),
		c.row("DEPOSIT", "DONE", where+`"confirmTime":"#unix","confirmations":null,`+chain))
	a.owns(c.coin, "0.25", "0", "0.25")
}

func withdrawalLifeOfV2(x *exam) {
	x.covers("WAL-REST-15")
	c := x.chain("BTC", "LTC")
	c.pause()
	a := c.customer()
	to := c.outside()
	xid := a.takeV2(c.out(to, "0.25"))
	where, fee := `"address":"`+to+`","memo":null,`, `,"height":null,"fee":"`+c.fee+`"`
	open := where + `"confirmTime":null,"confirmations":null,"confirmTarget":null,"txid":null` + fee + `,"delayed":true`
	x.match(a.movement("xid", xid, "status", "PENDING"), c.row("WITHDRAWAL", "PENDING", open))
	c.fallsSilent()
	x.until(enough, "silence of "+c.network, func() bool {
		return a.behind("/withdraw/info", c.route()).get("operating").kind == 'f'
	})
	c.resume()
	x.match(a.movement("xid", xid, "status", "PROCESSING"), c.row("WITHDRAWAL", "PROCESSING", open))
	c.comesBack()
	done := where + `"confirmTime":"#unix","confirmations":null,"confirmTarget":null,"txid":"#text"` + fee + `,"delayed":false`
	row := a.movement("xid", xid, "status", "DONE")
	x.match(row, c.row("WITHDRAWAL", "DONE", done))
	x.equal("txid", row.get("txid").text, a.hidden("xid", xid).get("txid").text)
	c.paid(to, "0.25")
}

func withdrawalOfV2(x *exam) {
	x.covers("WAL-REST-16")
	c := x.chain("BTC", "LTC")
	c.pause()
	a := c.customer()
	info := a.behind("/withdraw/info", c.route())
	least, most := info.get("fee_min").text, info.get("fee_max").text
	for fee, want := range map[string]string{least: least, most: most} {
		xid := a.takeV2(c.out(c.outside(), "0.25").with("fee", fee))
		x.equal("fee", a.hidden("xid", xid).get("fee").text, want)
		x.equal("cancel", fmt.Sprint(a.v2("DELETE", "/io/transactions/"+xid, nil).status), "200")
		a.movement("xid", xid, "status", "CANCELED")
	}
	row := a.v2("POST", "/io/transactions", c.out(c.outside(), "0.25").with("fee", nil)).value
	x.equal("status", row.get("status").text, "PENDING")
	middle := row.get("fee").text
	if middle == least || middle == most || len(middle) > len("0.00000000") {
		x.Errorf("without a fee it is %q, want the middle of %s and %s", middle, least, most)
	}
	a.owns(c.coin, "1", minus("1", minus("0.75", middle)), minus("0.75", middle))
	a.drop(row.get("xid").text)
}

func refusedOfV2(x *exam) {
	x.covers("WAL-REST-17")
	c := x.chain("BTC", "LTC")
	a := c.customer()
	good := c.out(c.outside(), "0.25")
	refused := func(status int, code string, body fields) {
		x.Helper()
		x.refuses(a.v2("POST", "/io/transactions", body), status, code)
	}
	refused(400, "MISSING_DATA", good.with("network", nil))
	refused(400, "MISSING_DATA", good.with("amount", nil))
	refused(400, "VALIDATION_ERROR", good.with("type", "DEPOSIT"))
	refused(400, "VALIDATION_ERROR", good.with("amount", "0.000000001"))
	refused(400, "VALIDATION_ERROR", good.with("amount", "0"))
	refused(400, "VALIDATION_ERROR", good.with("amount", 1))
	refused(400, "VALIDATION_ERROR", good.with("adbkSaveName", "a\tb"))
	refused(404, "NOT_FOUND", good.with("asset", "NOSUCH"))
	refused(404, "NOT_FOUND", good.with("network", "NOSUCH"))
	refused(406, "INVALID_NETWORK", good.with("network", "ATOM"))
	refused(406, "INVALID_ADDRESS", good.with("address", "nowhere"))
	refused(406, "INVALID_ADDRESS", good.with("memo", "7"))
	refused(406, "AMOUNT_OUT_OF_RANGE", good.with("amount", "0.00000001"))
	refused(406, "FEE_OUT_OF_RANGE", good.with("fee", "0.9"))
	refused(406, "INSUF_BALANCE", good.with("amount", "1"))
	x.gives(a.v2("GET", "/io/transactions", nil), `{"transactions":[],"more":false}`)
	a.owns(c.coin, "1", "0", "1")
}

func transactionsOfV2(x *exam) {
	x.covers("WAL-REST-18")
	c := x.chain("BTC", "LTC")
	c.pause()
	a, b := x.known("10 USDT"), x.known()
	x.operate("credit", a.id, c.coin, "1")
	gone := a.v2("POST", "/io/transactions", gift(b.email, "1")).value.get("xid").text
	waits := a.takeV2(c.out(c.outside(), "0.1"))
	txid := c.gives(a.account, "0.5")
	c.mine(1)
	came := a.movement("txid", txid, "status", "PENDING").get("xid").text
	for query, want := range map[string][]string{
		"":                           {came, waits, gone},
		"?type=WITHDRAWAL":           {waits},
		"?type=DEPOSIT,TRANSFER_OUT": {came, gone},
		"?type=TRANSFER_IN":          {},
		"?status=PENDING,DONE":       {waits, gone},
		"?status=CONFIRM_PENDING":    {came},
		"?status=CONFIRM_PENDING&type=TRANSFER_OUT": {},
		"?asset=USDT":           {gone},
		"?network=" + c.network: {came, waits},
		"?limit=1&offset=1":     {waits},
	} {
		x.same("transactions"+query, a.v2("GET", "/io/transactions"+query, nil).value.get("transactions").column("xid"), want...)
	}
	x.refuses(a.v2("GET", "/io/transactions?type=deposit", nil), 400, "VALIDATION_ERROR")
	x.refuses(a.v2("GET", "/io/transactions?status=OPEN", nil), 400, "VALIDATION_ERROR")
	x.same("in V1", a.transactions(nil).column("xid"), came, waits, gone)
}

func cancelOfV2(x *exam) {
	x.covers("WAL-REST-19")
	c := x.chain("BTC", "LTC")
	c.pause()
	a := c.customer()
	xid := a.takeV2(c.out(c.outside(), "0.25"))
	now := a.v2("DELETE", "/io/transactions/"+xid, nil).value.get("status").text
	if now != "CANCEL_PENDING" && now != "CANCELED" {
		x.Errorf("status is %q after a cancel", now)
	}
	x.equal("status", a.movement("xid", xid, "status", "CANCELED").get("status").text, "CANCELED")
	x.refuses(a.v2("DELETE", "/io/transactions/"+xid, nil), 406, "ALREADY_CANCELED")
	a.owns(c.coin, "1", "0", "1")
	c.resume()
	sent := a.takeV2(c.out(c.outside(), "0.25"))
	a.movement("xid", sent, "status", "DONE")
	x.refuses(a.v2("DELETE", "/io/transactions/"+sent, nil), 406, "ALREADY_SENT")

	b := x.account()
	to, _ := b.address(c)
	for _, inside := range []string{c.inside(a, b, "0.1", "0"), a.takeV2(c.out(to, "0.1"))} {
		x.refuses(a.v2("DELETE", "/io/transactions/"+inside, nil), 405, "METHOD_NOT_ALLOWED")
		x.equal("status", a.hidden("xid", inside).get("status").text, "DONE")
	}
	c.pause()
	waits := a.takeV2(c.out(to, "0.1"))
	x.equal("status", a.v2("DELETE", "/io/transactions/"+waits, nil).value.get("status").text, "CANCELED")
}

func bookOfV2(x *exam) {
	x.covers("WAL-REST-20")
	c := x.chain("BTC", "LTC")
	c.pause()
	a, b := c.customer(), c.customer()
	entry := func(name, address string) string {
		return `{"adbkid":"#id","name":"` + name + `","address":"` + address + `","memo":null,` +
			`"network":{"symbol":"` + c.network + `","name":"#text","iconUrl":"#url","memoName":null}}`
	}
	x.gives(a.v2("GET", "/addressbook", nil), `{"addresses":[],"more":false}`)
	cold, warm := c.outside(), c.outside()
	a.takeV2(c.out(cold, "0.1").with("adbkSaveName", "cold wallet"))
	a.takeV2(c.out(warm, "0.1").with("adbkSaveName", "warm wallet"))
	x.refuses(a.v2("POST", "/io/transactions", c.out(c.outside(), "0.1").with("adbkSaveName", "cold wallet")), 409, "CONFLICT")
	list := a.v2("GET", "/addressbook", nil)
	x.gives(list, `{"addresses":[`+entry("cold wallet", cold)+`,`+entry("warm wallet", warm)+`],"more":false}`)
	x.gives(a.v2("GET", "/addressbook?q=WARM&network="+c.network, nil), `{"addresses":[`+entry("warm wallet", warm)+`],"more":false}`)
	x.gives(a.v2("GET", "/addressbook?network=ATOM", nil), `{"addresses":[],"more":false}`)
	x.same("in V1", members(a.wallet("/addressbook", fields{}).value.get("addressbook")), list.value.get("addresses").column("adbkid")...)
	at := "/addressbook/" + first(list.value.get("addresses").items).get("adbkid").text
	x.gives(a.v2("GET", at, nil), entry("cold wallet", cold))
	x.refuses(a.v2("PATCH", at, fields{"name": "warm wallet"}), 409, "CONFLICT")
	x.refuses(a.v2("PATCH", at, fields{"name": "a\tb"}), 400, "VALIDATION_ERROR")
	x.refuses(a.v2("PATCH", at, fields{}), 400, "MISSING_DATA")
	x.gives(a.v2("PATCH", at, fields{"name": "vault"}), entry("vault", cold))
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		x.refuses(b.v2(method, at, fields{"name": "mine"}), 403, "FORBIDDEN")
	}
	x.gives(a.v2("DELETE", at, nil), `{}`)
	x.refuses(a.v2("GET", at, nil), 404, "NOT_FOUND")
}

// confirmedWithdrawal tries the ways to confirm a session's withdrawal.
func confirmedWithdrawal(x *exam) {
	x.covers("WAL-REST-21")
	p, rich, other := x.person(), x.known("10 USDT"), x.known()
	if given := rich.v2("POST", "/io/transactions", gift(p.email, "5")); given.status != 200 {
		x.broken("no money: %s", given.body)
	}
	withdraw := p.behind("POST", "/api-keys", fields{"description": "out", "scopes": []string{"read", "withdraw"}}).get("apiKey").text
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"WITHDRAWAL": true}})
	session := &account{x: x, key: p.key}
	ask := func(amount, code string) *answer {
		x.Helper()
		body := gift(other.email, amount)
		if code != "" {
			body = body.with("code2FA", code)
		}
		return session.v2("POST", "/io/transactions", body)
	}
	x.refuses(ask("9", ""), 406, "INSUF_BALANCE")
	wanted := ask("1", "")
	x.refuses(wanted, 511, "REQUIRE_2FA")
	if msg := wanted.value.get("error").get("msg").text; strings.Contains(msg, p.email) || !strings.Contains(msg, "@example.com") {
		x.Errorf("where the code is, is told as %q", msg)
	}
	code := p.code()
	x.refuses(ask("1", otherCode(code)), 403, "INVALID_2FA")
	x.refuses(ask("2", code), 511, "REQUIRE_2FA")
	done := ask("1", code)
	x.equal("status", done.value.get("status").text, "DONE")
	x.refuses(ask("1", code), 511, "REQUIRE_2FA")
	other.owns("USDT", "1", "0", "1")
	key := &account{x: x, key: withdraw}
	x.equal("by key", key.v2("POST", "/io/transactions", gift(other.email, "1")).value.get("status").text, "DONE")
	other.owns("USDT", "2", "0", "2")
}
