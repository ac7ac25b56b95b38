package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOperate goes through what an operator can ask for: each command prints one
// JSON object, and every endpoint shows its effect when it has answered.
func TestOperate(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false")
	account, key := s.customer("one")
	id := fmt.Sprint(account)
	order := func(pair string) string {
		a, err := post(http.DefaultClient, s.url, "/spot/open_orders/new", map[string]any{
			"api_key": key, "pair": pair, "side": "BUY", "type": "LIMIT", "time_in_force": "GTC",
			"price": "1", "amount": "100", "resp_type": "ACK",
		})
		if err != nil {
			t.Fatal(err)
		}
		return a.Error
	}
	for _, step := range []struct{ args, answer, trying, then string }{
		{"account show one@example.org", `"account":` + id, "", ""},
		{"account freeze " + id, `{"account":` + id + `,"frozen":true}`, "BTC/USDT", "ACCOUNT_FROZEN"},
		{"account unfreeze " + id, `{"account":` + id + `,"frozen":false}`, "BTC/USDT", ""},
		{"market halt BTC/USDT", `{"pair":"BTC/USDT","state":"halted"}`, "BTC/USDT", "MARKET_CLOSED"},
		{"market cancel-only BTC/USDT", `"cancel_only"`, "BTC/USDT", "MARKET_CLOSED"},
		{"market resume BTC/USDT", `"open"`, "BTC/USDT", ""},
		{"market delist TEST60/USDT", `"delisted"`, "TEST60/USDT", "MARKET_CLOSED"},
		{"markets pause BTC/USDT --state cancel_only", `{"pairs":["BTC/USDT"]}`, "BTC/USDT", "MARKET_CLOSED"},
		{"markets resume BTC/USDT", `{"pairs":["BTC/USDT"]}`, "BTC/USDT", ""},
		{"markets pause", `"BTC/USDT"`, "BTC/USDT", "MARKET_CLOSED"},
		{"markets resume BTC/USDT", `{"pairs":["BTC/USDT"]}`, "BTC/USDT", ""},
		{"dashboard", `{"pair":"ETH/USDT","state":"halted"}`, "", ""},
		{"solvency", `"difference":"0"`, "", ""},
		{"account fees " + id + " --maker 0.002 --taker 0.003", `"maker_fee":"0.002"`, "", ""},
		{"account level " + id + " --fix 2", `{"account":` + id + `,"fee_level":2,"fee_level_fixed":true}`, "", ""},
		{"account show " + id, `"fee_level":2,"fee_level_fixed":true`, "", ""},
		{"account level " + id, `"fee_level":0,"fee_level_fixed":false`, "", ""},
		{"account show " + id, `"tier":"none"`, "", ""},
		{"catalogue apply testdata/tiers.yaml", `add tiers`, "BTC/USDT", "TRADE_LIMIT"},
		{"account tier " + id + " full --reason known", `{"account":` + id + `,"tier":"full"}`, "BTC/USDT", ""},
		{"account show " + id, `"tier":"full"`, "", ""},
		{"log", `"text":"account tier ` + id + ` full: known"`, "", ""},
		{"credit " + id + " LTC 1.5", `"total":"1.5"`, "", ""},
		{"balances " + id, `"LTC":{"total":"1.5","locked":"0","avbl":"1.5"}`, "", ""},
		{"fees collect", `{"collected":{}}`, "", ""},
		{"notice add banner Maintenance Tonight.", `{"id":1,"kind":"banner","title":"Maintenance","body":"Tonight.","created":`, "", ""},
		{"notice end 1", `"ended":`, "", ""},
		{"notice list", `{"notices":[{"id":1,`, "", ""},
		{"catalogue show", `{"symbol":"BTC","name":"Bitcoin"`, "", ""},
		{"rules adopt", `{"rules":5}`, "", ""},
		{"log", `"text":"rules adopt"`, "", ""},
		{"clock accept", `{"accepted":true}`, "", ""},
		{"log", `"text":"clock accept"`, "", ""},
		{"audit", `"violations":[]`, "", ""},
		{"key create " + id + " --name signs --kind hmac", `"secret":"`, "", ""},
		{"account show " + id, `"kind":"hmac"`, "", ""},
		{"log", `key create ` + id + ` --scopes read,trade --kind hmac`, "", ""},
		{"key revoke 1", `{"key_id":1,"revoked":true}`, "BTC/USDT", "Unauthorized"},
		{"account reset " + id + " --factors --email two@example.org", `{"account":` + id + `,"factors":true,"email":"two@example.org"}`, "", ""},
		{"account show two@example.org", `"account":` + id, "", ""},
		{"log", `"text":"account reset ` + id + ` factors,email"`, "", ""},
		{"operator keys", `{"keys":[]}`, "", ""},
	} {
		got := string(operate[json.RawMessage](s, strings.Fields(step.args)...))
		if !strings.Contains(got, step.answer) {
			t.Errorf("%s: %s", step.args, got)
		}
		if step.trying == "" {
			continue
		}
		if got := order(step.trying); !strings.Contains(got, step.then) || (step.then == "") != (got == "") {
			t.Errorf("after %s an order got %q", step.args, got)
		}
	}
}

// TestOperatorsMistakes are told what was wrong, on stderr, with exit code 1.
func TestOperatorsMistakes(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false")
	s.customer("one")
	for args, says := range map[string]string{
		"account create one@example.org":                              "taken",
		"account create nonsense":                                     "email",
		"account show two@example.org":                                "no account",
		"account freeze 99":                                           "account",
		"key create 99 --name x":                                      "account",
		"key create 1 --name x --scopes everything":                   "scope",
		"key create 1 --name x --kind rsa":                            "kind",
		"key create 1 --name x --kind ed25519":                        "public_key",
		"key create 1 --name x --kind ed25519 --public-key /dev/null": "public_key",
		"key create 1 --name x --public-key /nowhere":                 "no such file",
		"key revoke 99":                                               "key",
		"notice end 99":                                               "no live notice 99",
		"credit 1 XXX 1":                                              `unknown asset "XXX"`,
		"credit 1 BTC 1e5":                                            "amount",
		"credit 1 BTC 0":                                              "credit",
		"market halt BTC-USDT":                                        `unknown pair "BTC-USDT"`,
		"balances 99":                                                 "unknown account 99",
		"account level 99":                                            "UNKNOWN_ACCOUNT",
		"account level 1 --fix 31":                                    "UNKNOWN_LEVEL",
		"account tier 1 full --reason=":                               "reason",
		"account tier 1 full --reason known":                          `no tier "full"`,
		"account reset 1":                                             "one of them must be given",
		"account reset 99 --factors":                                  "no person",
		"markets pause BTC-USDT":                                      `unknown pair "BTC-USDT"`,
		"operator end-key 1":                                          "no key 1",
		"operator log-out 1":                                          "unknown operator 1",
		"log --offset=-1":                                             "offset",
		"catalogue apply /dev/null":                                   "catalogue",
	} {
		_, stderr, code := run(t, append([]string{"admin", "--data", s.data}, strings.Fields(args)...)...)
		if code != exitFailed || !strings.Contains(strings.ToLower(stderr), strings.ToLower(says)) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
	if _, stderr, code := run(t, "admin", "--data", t.TempDir(), "balances", "1"); code != exitFailed || !strings.Contains(stderr, "no exchange runs at") {
		t.Errorf("no exchange: exit %d: %s", code, stderr)
	}
	if _, stderr, code := run(t, "dev", "--data", s.data, "--listen", "127.0.0.1:0"); code != exitFailed || !strings.Contains(stderr, "in use by another process") {
		t.Errorf("a second process: exit %d: %s", code, stderr)
	}
	if _, stderr, code := run(t, "serve", "--data", s.data, "--listen", "127.0.0.1:0"); code != exitFailed || !strings.Contains(stderr, "sandbox") {
		t.Errorf("a sandbox in production: exit %d: %s", code, stderr)
	}
}

// TestCatalogueOfProduction lists things on an exchange that has none.
func TestCatalogueOfProduction(t *testing.T) {
	s := &server{t: t, data: t.TempDir()}
	s.startAs("serve")
	t.Cleanup(s.kill)
	file := filepath.Join(t.TempDir(), "catalogue.yaml")
	write(t, file, `
assets:
  - {symbol: AAA, name: First, scale: 8, enabled: true}
  - {symbol: BBB, name: Second, scale: 8, enabled: true}
markets:
  - {base: AAA, quote: BBB, base_precision: 2, quote_precision: 2, min_order: "1", initial_price: "10", maker_fee: "0.001", taker_fee: "0.001", band: "10", enabled: true}
`)
	var said struct{ Changes []string }
	said = operate[struct{ Changes []string }](s, "catalogue", "apply", "--dry-run", file)
	if len(said.Changes) != 2 {
		t.Errorf("would change %v", said.Changes)
	}
	said = operate[struct{ Changes []string }](s, "catalogue", "apply", file)
	if len(said.Changes) != 3 {
		t.Errorf("changed %v", said.Changes)
	}
	shown := string(operate[json.RawMessage](s, "catalogue", "show"))
	if !strings.Contains(shown, `"band":"10"`) {
		t.Errorf("the market's band is not shown: %s", shown)
	}
	write(t, file, shown)
	if said = operate[struct{ Changes []string }](s, "catalogue", "apply", file); len(said.Changes) != 0 {
		t.Errorf("what was shown differs: %v", said.Changes)
	}
	r, err := http.Post(s.url+"/spot/markets", "application/json", strings.NewReader(`{"pair":"AAA/BBB"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var a struct{ Success bool }
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil || !a.Success {
		t.Errorf("the market is not there: %v", err)
	}
	if _, stderr, code := run(t, "admin", "--data", s.data, "credit", "1", "AAA", "1"); code != exitFailed || stderr == "" {
		t.Errorf("a credit in production: exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(s.data, "admin.sock")); err != nil {
		t.Error(err)
	}
}
