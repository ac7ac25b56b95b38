package main

import (
	"slices"
	"strings"
	"testing"
)

// TestNewsByMail wants letters of what happened to an account's money, for those alone who asked for
// them, and the wish to outlive the process.
func TestNewsByMail(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	ada, bob := &browser{server: s}, &browser{server: s}
	ada.join("ada@example.org")
	bob.join("bob@example.org")
	ada.want(200, `"mail":["FILLS","DEPOSITS"]`, "PATCH", "/web/api/account/v2/news", `{"mail":["FILLS","DEPOSITS"]}`)
	operate[any](s, "credit", "ada@example.org", "USDT", "100000")
	operate[any](s, "credit", "bob@example.org", "BTC", "1")

	const order = `{"pair":"BTC/USDT","type":"LIMIT","time_in_force":"GTC","price":"60000","resp_type":"RESULT",`
	ada.want(200, `"status":"OPEN"`, "POST", "/web/api/spot/open_orders/new", order+`"side":"BUY","amount":"0.1"}`)
	bob.want(200, `"status":"FILLED"`, "POST", "/web/api/spot/open_orders/new", order+`"side":"SELL","amount":"0.03"}`)
	bob.want(200, `"success":true`, "POST", "/web/api/wallet/transfer",
		`{"asset":"BTC","amount":"0.25","email":"ada@example.org"}`)

	for _, line := range []string{"Received from a member 0.25 BTC\n", "Bought 0.03 BTC for 1800 USDT, in 1 trade on BTC/USDT\n"} {
		within(t, patience, "told by mail of "+line, func() bool {
			return slices.ContainsFunc(ada.letters("ada@example.org"), func(l letter) bool {
				return strings.Contains(l.Text, line) && strings.HasSuffix(l.Text, "Bourse")
			})
		})
	}
	if list := ada.letters("bob@example.org"); len(list) != 1 {
		t.Errorf("who did not ask has %d letters", len(list))
	}

	s.kill()
	s.start()
	ada.cookie = nil
	ada.logIn("ada@example.org")
	ada.want(200, `"mail":["FILLS","DEPOSITS"]`, "GET", "/web/api/account/v2/news", "")
}
