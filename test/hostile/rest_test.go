package hostile

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The words of json.txt, decimals.txt, spot.txt, wallet.txt and companions.txt:
//
//	post PATH BODY     sends a request; so do get, put, delete and head
//	set NAME VALUE     puts a field into the form that comes; VALUE is JSON
//	unset NAME         takes one out
//	order NAME VALUE   puts a field in, and sends the form of an order
//	order              sends it; withdraw does the same with that of a withdrawal
//	refused TEXT       wants status 200, success false, and the text in the error
//	taken TEXT         wants status 200, success true, and the text in the answer
//	status N           wants another status
//
// After a refusal the attacker's balances and orders must be unchanged.

func TestJSON(t *testing.T)     { lay(t, "json.txt", (*attack).rest) }
func TestDecimals(t *testing.T) { lay(t, "decimals.txt", (*attack).rest) }
func TestSpot(t *testing.T)     { lay(t, "spot.txt", (*attack).rest) }
func TestWallet(t *testing.T)   { lay(t, "wallet.txt", (*attack).withdrawals) }

// field is a field of a form. Its value is JSON, perhaps malformed.
type field struct{ name, value string }

// rested is the state of a REST case.
type rested struct {
	*attack
	// base is the prefix of all paths.
	base   string
	form   []field
	before string
	status int
	body   []byte
}

// rest carries out a case of requests and answers.
func (a *attack) rest() {
	r := &rested{attack: a, base: "/spot", form: []field{
		{"api_key", strconv.Quote(a.attacker.key)}, {"pair", `"LTC/USDT"`}, {"side", `"BUY"`}, {"type", `"LIMIT"`},
		{"time_in_force", `"GTC"`}, {"price", `"10"`}, {"amount", `"1"`}, {"resp_type", `"ACK"`},
	}}
	a.each(r.do)
}

// withdrawals carries out a case of the wallet.
func (a *attack) withdrawals() {
	address, memo := a.attacker.inside(a.T)
	r := &rested{attack: a, base: "/wallet", form: []field{
		{"api_key", strconv.Quote(a.attacker.key)}, {"asset", `"ATOM"`}, {"network", `"ATOM"`},
		{"address", strconv.Quote(address)}, {"memo", strconv.Quote(memo)}, {"amount", `"1"`}, {"fee", `"0.01"`},
	}}
	a.known["address"] = address
	a.each(r.do)
}

func (r *rested) do(word, text string) {
	r.Helper()
	first, rest, _ := strings.Cut(text, " ")
	switch word {
	case "post", "get", "put", "delete", "head":
		r.send(strings.ToUpper(word), r.base+first, rest)
	case "set":
		r.set(first, rest)
	case "unset":
		r.form = slices.DeleteFunc(r.form, func(f field) bool { return f.name == first })
	case "order", "withdraw":
		if first != "" {
			r.set(first, rest)
		}
		var list []string
		for _, f := range r.form {
			list = append(list, strconv.Quote(f.name)+":"+f.value)
		}
		path := map[string]string{"order": "/spot/open_orders/new", "withdraw": "/wallet/withdraw"}[word]
		r.send(http.MethodPost, path, "{"+strings.Join(list, ",")+"}")
	case "refused", "taken":
		r.answered(word == "taken", text)
	case "status":
		if strconv.Itoa(r.status) != text {
			r.fail("status %d: %.200s", r.status, r.body)
		}
	default:
		r.fail("no such word")
	}
}

func (r *rested) set(name, value string) {
	for i := range r.form {
		if r.form[i].name == name {
			r.form[i].value = value
			return
		}
	}
	r.form = append(r.form, field{name, value})
}

func (r *rested) send(method, path, body string) {
	r.Helper()
	r.before = r.possessions()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url(path), strings.NewReader(body))
	if err != nil {
		r.fail("%v", err)
	}
	res, err := r.attacker.client.Do(req)
	if err != nil {
		r.fail("%v", err)
	}
	defer func() { _ = res.Body.Close() }()
	if r.body, err = io.ReadAll(res.Body); err != nil {
		r.fail("%v", err)
	}
	r.status = res.StatusCode
	if err := r.unleaked(string(r.body) + fmt.Sprint(res.Header)); err != nil {
		r.fail("%v", err)
	}
}

// answered expects an answer with status 200.
func (r *rested) answered(success bool, text string) {
	r.Helper()
	if err := wellAnswered(r.status, r.body, success, text); err != nil {
		r.fail("%v", err)
	}
	if success {
		return
	}
	if now := r.possessions(); now != r.before {
		r.fail("a refusal changed something: %s, before %s", now, r.before)
	}
}

// wellAnswered checks an answer.
func wellAnswered(status int, body []byte, success bool, text string) error {
	var got answer
	if err := json.Unmarshal(body, &got); err != nil || status != http.StatusOK {
		return fmt.Errorf("status %d: %.200s %w", status, body, err)
	}
	said := got.Error
	if success {
		said = string(body)
	}
	if got.Success != success || !strings.Contains(said, text) || !success && said == "" {
		return fmt.Errorf("answered was %.300s", body)
	}
	return nil
}

// possessions returns the attacker's balances and orders.
func (r *rested) possessions() string {
	r.Helper()
	all, err := r.attacker.balances()
	if err != nil {
		r.fail("%v", err)
	}
	open, err := r.attacker.ask("/open_orders", fields{"offset": 0})
	if err != nil {
		r.fail("%v", err)
	}
	past, err := r.attacker.ask("/orders_history", fields{"offset": 0})
	if err != nil {
		r.fail("%v", err)
	}
	moved, err := r.post(r.attacker.client, "/wallet/transactions", fields{"api_key": r.attacker.key, "offset": 0})
	if err != nil {
		r.fail("%v", err)
	}
	return fmt.Sprint(all, open.Orders, past.Orders, string(moved))
}
