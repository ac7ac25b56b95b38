package walletv1_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller/tellertest"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/describe"
)

// desk is the interface on an exchange.
type desk struct{ *tellertest.Desk }

func newDesk(t *testing.T) *desk {
	d := &desk{tellertest.New(t)}
	v1 := &api.Server{
		Who: d.Accounts, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Clock: d.Clock,
		Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Observe: func(string, int, bool, time.Duration) {},
	}
	v1.Handle(d.Mux, "", (&walletv1.Wallet{Teller: d.Teller()}).Endpoints())
	return d
}

// validator validates answers, and requests that succeeded, against the description.
var validator = sync.OnceValues(describe.NewValidator)

// post sends a request and returns the raw answer.
func (d *desk) post(path, body string) string {
	d.Helper()
	w := httptest.NewRecorder()
	d.Mux.ServeHTTP(w, httptest.NewRequestWithContext(d.Context(), http.MethodPost, path, bytes.NewReader([]byte(body))))
	if w.Code != http.StatusOK {
		d.Fatalf("%s: status %d", path, w.Code)
	}
	if err := d.described(path, []byte(body), w.Body.Bytes()); err != nil {
		d.Errorf("%s %s: %s: %v", path, body, w.Body, err)
	}
	return w.Body.String()
}

// described validates an answer, and a request that succeeded, against the description.
func (d *desk) described(path string, request, answer []byte) error {
	d.Helper()
	v, err := validator()
	if err != nil {
		d.Fatal(err)
	}
	if err := v.Answer("/wallet"+path, answer); err != nil || bytes.Contains(answer, []byte(`"success":false`)) {
		return err
	}
	return v.Request("/wallet"+path, request)
}

type fields map[string]any

// ask sends a request with a key and returns the answer's fields.
func (d *desk) ask(key, path string, f fields) fields {
	d.Helper()
	body := fields{"api_key": key}
	for name, value := range f {
		body[name] = value
	}
	b, err := json.Marshal(body)
	if err != nil {
		d.Fatal(err)
	}
	var answer fields
	if err := json.Unmarshal([]byte(d.post(path, string(b))), &answer); err != nil {
		d.Fatal(err)
	}
	return answer
}

// refused expects an error that contains a text; any if the text is empty.
func (d *desk) refused(key, path string, f fields, text string) {
	d.Helper()
	got := d.ask(key, path, f)
	if message, _ := got["error"].(string); got["success"] != false || !bytes.Contains([]byte(message), []byte(text)) {
		d.Errorf("%s %v: %v, want an error with %q", path, f, got, text)
	}
}

// taken expects success and returns the answer.
func (d *desk) taken(key, path string, f fields) fields {
	d.Helper()
	got := d.ask(key, path, f)
	if got["success"] != true {
		d.Fatalf("%s %v: %v", path, f, got["error"])
	}
	return got
}

// rows returns transactions.
func (d *desk) rows(key string, f fields) []fields {
	d.Helper()
	if _, given := f["offset"]; !given {
		f["offset"] = 0
	}
	var list []fields
	for _, row := range d.taken(key, "/transactions", f)["transactions"].([]any) {
		list = append(list, row.(map[string]any))
	}
	return list
}

// out returns a valid withdrawal to an address outside.
func (d *desk) out(asset, at bourse.Symbol, amount, fee string) fields {
	return fields{"asset": asset, "network": at, "address": d.Outside(at, 1), "amount": amount, "fee": fee}
}

func (f fields) with(name string, value any) fields {
	g := fields{name: value}
	for n, v := range f {
		if _, given := g[n]; !given {
			g[n] = v
		}
	}
	return g
}

// xid returns the id of a withdrawal's answer.
func xid(f fields) uint64 { return uint64(f["xid"].(float64)) }

func (f fields) String() string {
	b, err := json.Marshal(map[string]any(f))
	return fmt.Sprint(string(b), err)
}
