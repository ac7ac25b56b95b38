package conformance

import "testing"

var walletFactorChecks = []check{confirmedInV1, keysAreNotAsked}

func TestWalletFactors(t *testing.T) { examine(t, walletFactorChecks) }

const needsFactor = `{"success":false,"error":"#text","code":"REQUIRE_2FA","need_2fa":true,"provider_2fa":"EMAIL"}`

// careful returns a person with funds whose withdrawals need a second factor, and the
// session.
func (x *exam) careful(c *chain) (p *person, session *account) {
	x.Helper()
	p = x.person()
	rich := x.known()
	x.operate("credit", rich.id, c.coin, "5")
	body := fields{"type": "TRANSFER_OUT", "asset": c.coin, "address": p.email, "amount": "5"}
	if given := x.past().v2("POST", "/wallet/v2/io/transactions", rich.key, body); given.status != 200 {
		x.broken("no money: %s", given.body)
	}
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"WITHDRAWAL": true}})
	return p, &account{x: x, key: p.key}
}

func confirmedInV1(x *exam) {
	x.covers("WAL-FAC-1")
	c := x.chain("BTC", "LTC")
	c.pause()
	p, session := x.careful(c)
	inside, _ := x.account().address(c)
	for _, to := range []string{c.outside(), inside} {
		body := c.to(to, "1")
		x.covers("WAL-FAC-2")
		x.failsNaming(session.wallet("/withdraw", body.with("amount", "50")), "INSUF_FUNDS")
		x.covers("WAL-FAC-1")
		x.match(session.wallet("/withdraw", body).value, needsFactor)
		code := p.code()
		x.covers("WAL-FAC-2")
		x.fails(session.wallet("/withdraw", body.with("code_2fa", otherCode(code))), "The code is wrong")
		x.match(session.wallet("/withdraw", body.with("amount", "2").with("code_2fa", code)).value, needsFactor)
		x.covers("WAL-FAC-1")
		x.answers(session.wallet("/withdraw", body.with("code_2fa", code)), `{"success":true,"xid":"#id"}`)
		x.match(session.wallet("/withdraw", body.with("code_2fa", code)).value, needsFactor)
	}
	x.same("withdrawals", session.transactions(fields{"type": "WITHDRAWAL"}).column("amount"), "1", "1")
	for _, xid := range session.transactions(fields{"type": "WITHDRAWAL"}).column("xid") {
		session.drop(xid)
	}
}

func keysAreNotAsked(x *exam) {
	x.covers("WAL-FAC-3")
	c := x.chain("BTC", "LTC")
	c.pause()
	p, _ := x.careful(c)
	key := func(scopes ...string) *account {
		x.Helper()
		made := fields{"description": scopes[0], "scopes": scopes}
		if scopes[0] != "withdraw" {
			return &account{x: x, key: p.behind("POST", "/api-keys", made).get("apiKey").text}
		}
		return &account{x: x, key: p.confirm("POST", "/api-keys", made).get("apiKey").text}
	}
	body := c.to(c.outside(), "1")
	for _, scope := range []string{"read", "trade"} {
		x.fails(key(scope).wallet("/withdraw", body.with("code_2fa", "123456")), "Forbidden: the key has no scope withdraw")
	}
	withdraw := key("withdraw")
	withdraw.drop(withdraw.take(body))
}
