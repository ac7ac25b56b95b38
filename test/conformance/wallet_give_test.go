package conformance

import "testing"

var walletGiveChecks = []check{transferInV1, transferToAddress, transferRefused, transferConfirmed, transferRepeated}

func TestWalletTransfers(t *testing.T) { examine(t, walletGiveChecks) }

// present returns a transfer of USDT.
func present(to, amount string) fields { return fields{"asset": "USDT", "amount": amount, "email": to} }

func transferInV1(x *exam) {
	x.covers("WAL-GIVE-1")
	a, b := x.twoCustomers()
	made := a.wallet("/transfer", present(b.email, "2.5").with("memo", "for lunch"))
	x.answers(made, `{"success":true,"xid":"#id"}`)
	row := func(kind, xid, email string) string {
		return `[{"xid":` + xid + `,"type":"` + kind + `","asset":"USDT","network":"","amount":"2.5","status":"DONE",` +
			`"create_time":"#time","address":"` + email + `","network_description":"","icon_url":"#url","memo":"for lunch",` +
			`"exec_time":"#time"}]`
	}
	x.match(a.transactions(nil), row("TRANSFER_OUT", made.value.get("xid").text, b.email))
	x.match(b.transactions(nil), row("TRANSFER_IN", `"#id"`, a.email))
	a.owns("USDT", "7.5", "0", "7.5")
	b.owns("USDT", "2.5", "0", "2.5")
	x.failsNaming(a.wallet("/transfer", present(b.email, "1").with("memo", "a\tb")), "memo")
}

func transferToAddress(x *exam) {
	x.covers("WAL-GIVE-2")
	a, b := x.twoCustomers()
	older := fields{"asset": "USDT", "amount": "1", "address": b.email}
	x.answers(a.wallet("/transfer", older), `{"success":true,"xid":"#id"}`)
	x.failsNaming(a.wallet("/transfer", older.with("email", b.email)), "address")
	x.fails(a.wallet("/transfer", fields{"asset": "USDT", "amount": "1"}), "Missing data: email")
	a.owns("USDT", "9", "0", "9")
}

func transferRefused(x *exam) {
	x.covers("WAL-GIVE-3")
	a, b := x.twoCustomers()
	for _, to := range []string{"", "x", "a@b@c", a.email, x.stranger().email} {
		x.failsNaming(a.wallet("/transfer", present(to, "1")), "email")
	}
	for _, amount := range []string{"0", "", "-1", "1e3", "0.0000000000000000000000001"} {
		x.failsNaming(a.wallet("/transfer", present(b.email, amount)), "amount")
	}
	x.failsNaming(a.wallet("/transfer", present(b.email, "10.1")), "INSUF_FUNDS")
	x.failsNaming(a.wallet("/transfer", present(b.email, "1").with("asset", "NOSUCH")), "asset")
	a.owns("USDT", "10", "0", "10")
	b.owns("USDT", "0", "0", "0")
}

func transferConfirmed(x *exam) {
	x.covers("WAL-GIVE-4")
	p := x.person()
	rich, b := x.twoCustomers()
	rich.behind("/transfer", present(p.email, "5"))
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"WITHDRAWAL": true}})
	session := &account{x: x, key: p.key}
	body := present(b.email, "1")
	x.failsNaming(session.wallet("/transfer", body.with("amount", "50")), "INSUF_FUNDS")
	x.match(session.wallet("/transfer", body).value, needsFactor)
	code := p.code()
	x.fails(session.wallet("/transfer", body.with("code_2fa", otherCode(code))), "The code is wrong")
	x.match(session.wallet("/transfer", body.with("amount", "2").with("code_2fa", code)).value, needsFactor)
	x.answers(session.wallet("/transfer", body.with("code_2fa", code)), `{"success":true,"xid":"#id"}`)
	x.match(session.wallet("/transfer", body.with("code_2fa", code)).value, needsFactor)
	b.owns("USDT", "1", "0", "1")
}

func transferRepeated(x *exam) {
	x.covers("WAL-GIVE-5")
	a, b := x.twoCustomers()
	body := present(b.email, "6").with("client_id", "lunch").with("memo", "thanks")
	made := a.wallet("/transfer", body)
	x.answers(made, `{"success":true,"xid":"#id"}`)
	x.answers(a.wallet("/transfer", body), `{"success":true,"xid":`+made.value.get("xid").text+`}`)
	x.failsNaming(a.wallet("/transfer", body.with("amount", "1")), "DUPLICATE_CLIENT_ID")
	a.owns("USDT", "4", "0", "4")
	x.same("messages", b.transactions(nil).column("memo"), "thanks")
}
