package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// account is a customer with a key of all scopes.
type account struct {
	x   *exam
	id  string
	key string
}

var accounts atomic.Uint64

// operate runs an operator's command.
func (x *exam) operate(args ...string) map[string]any {
	x.Helper()
	answer, err := x.exchange.operator.do(args...)
	if err != nil {
		x.broken("%v", err)
	}
	return answer
}

// undo carries a verb out at the end of the check; a refusal is no failure.
func (x *exam) undo(args ...string) {
	x.Cleanup(func() { _ = x.exchange.operator.sure(args) })
}

// account opens an account and credits it; a credit is an amount and a symbol, "100
// USDT".
func (x *exam) account(credits ...string) *account {
	x.Helper()
	email := fmt.Sprintf("c%d-%s@example.com", accounts.Add(1), x.exchange.pool.run)
	a := &account{x: x, id: text(x.operate("account", "create", email)["account"])}
	a.key, _ = a.newKey("read,trade,withdraw")
	for _, c := range credits {
		amount, symbol, _ := strings.Cut(c, " ")
		x.operate("credit", a.id, symbol, amount)
	}
	x.Cleanup(a.leave)
	return a
}

// trader opens an account with ample funds of a market's assets.
func (x *exam) trader(m *market) *account {
	x.Helper()
	return x.account("100000 "+m.base, "1000000 "+m.quote)
}

// traders opens two traders.
func (x *exam) traders(m *market) (a, b *account) {
	x.Helper()
	return x.trader(m), x.trader(m)
}

// newKey creates another key of the account.
func (a *account) newKey(scopes string) (secret, id string) {
	a.x.Helper()
	key := a.x.operate("key", "create", a.id, "--name", "conformance", "--scopes", scopes)
	return text(key["api_key"]), text(key["key_id"])
}

// leave cancels the account's orders past the proxy, so that changed answers cannot leave
// any behind.
func (a *account) leave() {
	body := `{"api_key":"` + a.key + `"}`
	res, err := a.x.exchange.sure("/spot/open_orders/cancel_all", body)
	switch {
	case err != nil:
		a.x.Logf("cancel_all at the end: %v", err)
	case res.value.get("success").kind != 't':
		a.x.Logf("cancel_all at the end: %s", res.value)
	}
}

// text returns a field of an operator's answer as written.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// post sends a request with the account's key.
func (a *account) post(path string, body fields) *answer {
	a.x.Helper()
	return a.x.post(path, body.with("api_key", a.key))
}

// list returns the rows of one of the account's lists.
func (a *account) list(path string) *value {
	a.x.Helper()
	res := a.post(path, fields{"offset": 0})
	if rows := res.value.get("orders"); rows.kind == '[' {
		return rows
	}
	return res.value.get("trades")
}

// open returns the ids of the account's open orders.
func (a *account) open() []string {
	a.x.Helper()
	return a.list("/open_orders").column("obid")
}

// history returns an order's row of the orders history.
func (a *account) history(obid string) *value {
	a.x.Helper()
	for _, row := range a.list("/orders_history").items {
		if row.get("obid").text == obid {
			return row
		}
	}
	return nothing
}

// cancel cancels an order.
func (a *account) cancel(obid string) *answer {
	a.x.Helper()
	return a.post("/open_orders/cancel", fields{"obid": number(obid)})
}

// number is an integer in a request as written.
type number string

// MarshalJSON writes the number.
func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }
