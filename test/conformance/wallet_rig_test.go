package conformance

import (
	"encoding/json"
	"net/http"
	"time"
)

// enough is the timeout of the exchange's own work, such as reading a block. The wait is
// past any proxy, so that a changed answer never looks slow.
const enough = 20 * time.Second

// wallet sends a request to an endpoint below /wallet.
func (x *exam) wallet(path string, body fields) *answer {
	x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		x.broken("%v", err)
	}
	return x.rawWallet(path, string(b))
}

// rawWallet posts any body.
func (x *exam) rawWallet(path, body string) *answer {
	x.Helper()
	return x.send(http.MethodPost, "/wallet"+path, body, nil)
}

// wallet sends a request with the account's key.
func (a *account) wallet(path string, body fields) *answer {
	a.x.Helper()
	return a.x.wallet(path, body.with("api_key", a.key))
}

// behind sends a request past any proxy.
func (a *account) behind(path string, body fields) *value {
	a.x.Helper()
	b, err := json.Marshal(body.with("api_key", a.key))
	if err != nil {
		a.x.broken("%v", err)
	}
	res, err := a.x.exchange.send(http.MethodPost, a.x.exchange.url+"/wallet"+path, string(b), nil)
	if err != nil {
		a.x.broken("%s: %v", path, err)
	}
	return res.value
}

// until waits for the exchange's own work.
func (x *exam) until(in time.Duration, what string, ready func() bool) {
	x.Helper()
	end, every := time.NewTimer(in), time.NewTicker(50*time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for !ready() {
		select {
		case <-end.C:
			x.Fatalf("waited in vain for %s", what)
		case <-every.C:
		}
	}
}

// transactions returns the newest transactions that match a filter.
func (a *account) transactions(filter fields) *value {
	a.x.Helper()
	return a.wallet("/transactions", fields{"offset": 0}.and(filter)).value.get("transactions")
}

// and returns a copy with more fields.
func (f fields) and(more fields) fields {
	c := f
	for name, v := range more {
		c = c.with(name, v)
	}
	return c
}

// rowOf returns the row of a list whose field has this value, or nothing.
func rowOf(list *value, name, text string) *value {
	for _, row := range list.items {
		if row.get(name).text == text {
			return row
		}
	}
	return nothing
}

// row returns a listed transaction; name is xid or txid.
func (a *account) row(name, id string) *value {
	a.x.Helper()
	return rowOf(a.transactions(nil), name, id)
}

// hidden returns a transaction past any proxy.
func (a *account) hidden(name, id string) *value {
	a.x.Helper()
	return rowOf(a.behind("/transactions", fields{"offset": 0}).get("transactions"), name, id)
}

// shows waits until a field of a transaction has a value, and returns its listed row.
func (a *account) shows(name, id, field, want string) *value {
	a.x.Helper()
	a.x.until(enough, "transaction "+id+" with "+field+" "+want, func() bool {
		return a.hidden(name, id).get(field).text == want
	})
	row := a.row(name, id)
	a.x.equal(field, row.get(field).text, want)
	return row
}

// turns waits until a withdrawal has a status. It fails at once if the withdrawal is not
// listed, because it is listed before its request is answered.
func (a *account) turns(xid, status string) *value {
	a.x.Helper()
	if a.hidden("xid", xid) == nothing {
		a.x.Fatalf("withdrawal %q is not listed", xid)
	}
	return a.shows("xid", xid, "status", status)
}

// ends waits until a withdrawal is DONE or CANCELED, and returns which.
func (a *account) ends(xid string) (status string) {
	a.x.Helper()
	a.x.until(enough, "end of transaction "+xid, func() bool {
		status = a.hidden("xid", xid).get("status").text
		return status == "DONE" || status == "CANCELED"
	})
	return status
}

// balance returns an asset's balance, which both endpoints must agree on.
func (a *account) balance(asset string) *value {
	a.x.Helper()
	return a.wallet("/balances", fields{"symbols": []string{asset}}).value.get("balances").get(asset)
}

// owns checks an asset's balance.
func (a *account) owns(asset, total, locked, avbl string) {
	a.x.Helper()
	b := a.balance(asset)
	a.x.same(asset, []string{b.get("total").text, b.get("locked").text, b.get("avbl").text}, total, locked, avbl)
}

// take requests a withdrawal and returns its xid. It is canceled at the end of the check
// if it still waits.
func (a *account) take(body fields) string {
	a.x.Helper()
	res := a.wallet("/withdraw", body)
	if res.value.get("success").kind != 't' {
		a.x.broken("withdraw: %s", res.value)
	}
	xid := res.value.get("xid").text
	a.x.Cleanup(func() {
		body := `{"api_key":"` + a.key + `","xid":"` + xid + `"}`
		_, _ = a.x.exchange.sure("/wallet/withdraw/cancel", body)
	})
	return xid
}

// drop cancels a withdrawal.
func (a *account) drop(xid string) *answer {
	a.x.Helper()
	return a.wallet("/withdraw/cancel", fields{"xid": number(xid)})
}
