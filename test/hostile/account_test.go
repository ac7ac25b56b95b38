package hostile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bourse-exchange/bourse/internal/outside"
)

// fields is the body of a request.
type fields map[string]any

// answer has the fields of all answers.
type answer struct {
	Success bool
	Error   string
	Obid    uint64
	Status  string
	Filled  string
	Seq     uint64
	Order   struct{ Status, Filled string }
	Orders  []struct {
		Obid   uint64
		Status string
		Filled string
	}
	Trades []struct{ Price, Amount, Total, Fee, Side, Role string }
	// Bids and Asks are the levels of a book as written.
	Bids, Asks []level
}

// level is a row of a book.
type level struct{ Price, Amount string }

// operate calls an operator's verb.
func (x *exchange) operate(verb string, args, into any) error {
	return outside.Operate(x.socket, verb, args, into)
}

// account is a customer with a key of all scopes.
type account struct {
	x   *exchange
	id  int
	key string
	// client has its own connections.
	client *http.Client
}

var accounts atomic.Uint64

// open creates an account and credits it; a credit is an amount and a symbol, "100 USDT".
func (x *exchange) open(t testing.TB, credits ...string) *account {
	t.Helper()
	var made struct{ Account int }
	email := fmt.Sprintf("h%d@example.com", accounts.Add(1))
	if err := x.operate("account/create", fields{"email": email}, &made); err != nil {
		t.Fatal(err)
	}
	a := &account{x: x, id: made.Account, client: newClient()}
	t.Cleanup(a.client.CloseIdleConnections)
	var key struct {
		Secret string `json:"api_key"`
	}
	args := fields{"account": a.id, "name": "hostile", "scopes": "read,trade,withdraw", "addresses": "", "expires": ""}
	if err := x.operate("key/create", args, &key); err != nil {
		t.Fatal(err)
	}
	a.key = key.Secret
	x.keep(a.key)
	for _, c := range credits {
		amount, symbol, _ := strings.Cut(c, " ")
		if err := x.operate("credit", fields{"account": a.id, "asset": symbol, "amount": amount}, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// balance is a balance of an asset.
type balance struct{ Total, Locked, Avbl string }

// balances returns the account's balances by symbol.
func (a *account) balances() (map[string]balance, error) {
	var got struct{ Balances map[string]balance }
	err := a.x.operate("balances", fields{"account": a.id}, &got)
	return got.Balances, err
}

// ask sends a request with the account's key. An error means no answer or a status other
// than 200.
func (a *account) ask(path string, body fields) (answer, error) {
	var got answer
	all := fields{"api_key": a.key}
	for name, v := range body {
		all[name] = v
	}
	text, err := a.x.post(a.client, path, all)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(text, &got)
}

// post sends a request and returns its answer, which must have status 200. A path without
// an interface is one of spot.
func (x *exchange) post(client *http.Client, path string, body fields) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path, "/wallet/") {
		path = "/spot" + path
	}
	out, err := outside.Post(client, x.url(path), text)
	return out, errors.Join(err, x.unleaked(string(out)))
}

// must sends a request that must succeed.
func (a *account) must(t testing.TB, path string, body fields) answer {
	t.Helper()
	got, err := a.ask(path, body)
	if err != nil || !got.Success {
		t.Fatalf("%s %v: %+v %v", path, body, got, err)
	}
	return got
}

// inside returns the account's deposit destination for ATOM.
func (a *account) inside(t testing.TB) (address, memo string) {
	t.Helper()
	var got struct{ Address, Memo string }
	body := fields{"api_key": a.key, "asset": "ATOM", "network": "ATOM"}
	text, err := a.x.post(a.client, "/wallet/deposit", body)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got.Address == "" || got.Memo == "" {
		t.Fatalf("no address: %s %v", text, err)
	}
	return got.Address, got.Memo
}

// limit returns a LIMIT order with GTC whose answer has the id.
func limit(pair, side, price, amount string) fields {
	return fields{
		"pair": pair, "side": side, "type": "LIMIT", "time_in_force": "GTC",
		"price": price, "amount": amount, "resp_type": "ACK",
	}
}

// immediate returns a LIMIT order with IOC whose answer has the result.
func immediate(pair, side, price, amount string) fields {
	f := limit(pair, side, price, amount)
	f["time_in_force"], f["resp_type"] = "IOC", "RESULT"
	return f
}
