package conformance

import (
	"fmt"
	"testing"
)

var walletRESTChecks = []check{
	givenBetweenAccounts, onceByKey, ledgerOfAccount, foreignTransactions, moreThanThereIs,
	assetsOfV2, balancesOfV2, networksOfV2, depositOfV2, infoOfV2, validationOfV2, feesOfV2, disabledOfV2,
	withdrawalOfV2, refusedOfV2, depositLifeOfV2, withdrawalLifeOfV2, transactionsOfV2, cancelOfV2, bookOfV2,
	confirmedWithdrawal, offsetsMove, cursorsStay,
}

func TestWalletREST(t *testing.T) { examine(t, walletRESTChecks) }

// customer is an account with a known e-mail address.
type customer struct {
	*account
	email string
}

// v2 sends a request below /wallet/v2; headers are names and values.
func (a *account) v2(method, path string, body fields, headers ...string) *answer {
	a.x.Helper()
	return a.x.v2(method, "/wallet/v2"+path, a.key, body, headers...)
}

func gift(to, amount string) fields {
	return fields{"type": "TRANSFER_OUT", "asset": "USDT", "address": to, "amount": amount}
}

func givenBetweenAccounts(x *exam) {
	x.covers("WAL-REST-1")
	a, b := x.twoCustomers()
	out := a.v2("POST", "/io/transactions", gift(b.email, "2.5").with("memo", "for lunch")).value
	in := b.v2("GET", "/io/transactions", nil).value.get("transactions")
	if len(in.items) != 1 {
		x.Fatalf("received %s", in)
	}
	for _, side := range []struct {
		row           *value
		kind, address string
	}{{out, "TRANSFER_OUT", b.email}, {in.items[0], "TRANSFER_IN", a.email}} {
		for name, want := range map[string]string{
			"type": side.kind, "amount": "2.5", "status": "DONE", "address": side.address, "memo": "for lunch", "fee": "0",
		} {
			x.equal(name, side.row.get(name).text, want)
		}
		x.equal("asset", side.row.get("asset").get("symbol").text, "USDT")
		if side.row.get("network").kind != 'n' {
			x.Errorf("the network is %s", side.row.get("network"))
		}
	}
	if out.get("xid").text == in.items[0].get("xid").text {
		x.Errorf("both sides have the id %s", out.get("xid"))
	}
	a.owns("USDT", "7.5", "0", "7.5")
	b.owns("USDT", "2.5", "0", "2.5")
}

// twoCustomers opens two accounts, the first with 10 USDT.
func (x *exam) twoCustomers() (a, b *customer) {
	x.Helper()
	return x.known("10 USDT"), x.known()
}

// known opens an account with its own e-mail address.
func (x *exam) known(credits ...string) *customer {
	x.Helper()
	email := fmt.Sprintf("k%d-%s@example.com", accounts.Add(1), x.exchange.pool.run)
	a := &account{x: x, id: text(x.operate("account", "create", email)["account"])}
	a.key, _ = a.newKey("read,trade,withdraw")
	for _, c := range credits {
		x.operate("credit", a.id, "USDT", c[:len(c)-len(" USDT")])
	}
	return &customer{a, email}
}

func onceByKey(x *exam) {
	x.covers("WAL-REST-2")
	a, b := x.twoCustomers()
	first := a.v2("POST", "/io/transactions", gift(b.email, "1"), "Idempotency-Key", "lunch").value.get("xid").text
	again := a.v2("POST", "/io/transactions", gift(b.email, "1"), "Idempotency-Key", "lunch").value.get("xid").text
	x.equal("xid", again, first)
	x.refuses(a.v2("POST", "/io/transactions", gift(b.email, "2"), "Idempotency-Key", "lunch"), 409, "CONFLICT")
	a.owns("USDT", "9", "0", "9")
}

func ledgerOfAccount(x *exam) {
	x.covers("WAL-REST-3")
	a, b := x.twoCustomers()
	var want []string
	for range 3 {
		want = append([]string{a.v2("POST", "/io/transactions", gift(b.email, "1")).value.get("xid").text}, want...)
	}
	var xids, deltas, balances []string
	path := "/ledger?limit=2"
	for path != "" {
		page := a.v2("GET", path, nil).value
		for _, e := range page.get("entries").items {
			xids = append(xids, e.get("reference").get("xid").text)
			deltas, balances = append(deltas, e.get("delta").text), append(balances, e.get("balance").text)
		}
		cursor := page.get("cursor")
		if path = ""; cursor.kind == '0' && len(xids) < 9 {
			path = "/ledger?limit=2&cursor=" + cursor.text
		}
	}
	x.same("xids", xids[:min(3, len(xids))], want...)
	x.same("deltas", deltas, "-1", "-1", "-1", "10")
	x.same("balances", balances, "7", "8", "9", "10")
}

func foreignTransactions(x *exam) {
	x.covers("WAL-REST-4")
	a, b := x.twoCustomers()
	xid := a.v2("POST", "/io/transactions", gift(b.email, "1")).value.get("xid").text
	x.refuses(b.v2("GET", "/io/transactions/"+xid, nil), 403, "FORBIDDEN")
	x.refuses(b.v2("DELETE", "/io/transactions/"+xid, nil), 403, "FORBIDDEN")
	x.refuses(a.v2("DELETE", "/io/transactions/"+xid, nil), 405, "METHOD_NOT_ALLOWED")
	x.refuses(a.v2("GET", "/io/transactions/999999999", nil), 404, "NOT_FOUND")
}

func moreThanThereIs(x *exam) {
	x.covers("WAL-REST-5")
	a, b := x.twoCustomers()
	poor := a.v2("POST", "/io/transactions", gift(b.email, "10.000001"))
	x.refuses(poor, 406, "INSUF_BALANCE")
	x.equal("msg", poor.value.get("error").get("msg").text, "Less is available than amount and fee")
	x.refuses(a.v2("POST", "/io/transactions", gift("nobody-"+b.email, "1")), 406, "INVALID_ADDRESS")
	a.owns("USDT", "10", "0", "10")
}
