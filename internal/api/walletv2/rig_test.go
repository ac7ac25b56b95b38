package walletv2_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/teller/tellertest"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/api/walletv2"
	"github.com/bourse-exchange/bourse/internal/describe"
)

// prefix is the path of the interface.
const prefix = "/wallet/v2"

// desk is the interface on an exchange.
type desk struct {
	*tellertest.Desk
	// limits are the limits of its clients, or nil.
	limits *api.Limiter
}

func newDesk(t *testing.T) *desk {
	d := &desk{Desk: tellertest.New(t)}
	d.serve(prefix, d.Teller())
	return d
}

// serve adds the interface below a path.
func (d *desk) serve(prefix string, t teller.Teller) {
	s := &api.Server{
		Who: d.Accounts, Limits: d.limits, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }, Clock: d.Clock,
		Patience: time.Minute, Log: slog.New(slog.DiscardHandler), Observe: func(string, int, bool, time.Duration) {},
	}
	v2.Handle(s, d.Mux, prefix, (&walletv2.Wallet{Teller: t}).Endpoints())
}

// validator validates answers, and requests that succeeded, against the description.
var validator = sync.OnceValues(describe.NewValidator)

// answer is an HTTP answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; headers are like "Name: value".
func (d *desk) ask(key, method, path, body string, headers ...string) answer {
	d.Helper()
	req := httptest.NewRequestWithContext(d.Context(), method, prefix+path, strings.NewReader(body))
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	got := httptest.NewRecorder()
	d.Mux.ServeHTTP(got, req)
	if got.Header().Get("Content-Type") == "application/json" {
		v, err := validator()
		if err != nil {
			d.Fatal(err)
		}
		if err := v.Exchange(method, prefix+path, []byte(body), got.Code, got.Body.Bytes()); err != nil && !errors.Is(err, describe.ErrUnknown) {
			d.Errorf("%s %s %s: %d %s: %v", method, path, body, got.Code, got.Body, err)
		}
	}
	return answer{got.Code, got.Header(), got.Body.String()}
}

type object = map[string]any

// taken expects status 200 and returns the answer.
func (d *desk) taken(key, method, path, body string, headers ...string) object {
	d.Helper()
	a := d.ask(key, method, path, body, headers...)
	if a.status != http.StatusOK {
		d.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.body)
	}
	return d.decoded(a)
}

func (d *desk) decoded(a answer) object {
	d.Helper()
	var o object
	if err := json.Unmarshal([]byte(a.body), &o); err != nil {
		d.Fatal(err)
	}
	return o
}

// refused expects a status and a code.
func (d *desk) refused(status int, code, key, method, path, body string, headers ...string) string {
	d.Helper()
	a := d.ask(key, method, path, body, headers...)
	e, _ := d.decoded(a)["error"].(object)
	if a.status != status || e["code"] != code {
		d.Errorf("%s %s %s: %d %s, want %d %s", method, path, body, a.status, a.body, status, code)
	}
	msg, _ := e["msg"].(string)
	return msg
}

// out returns the body of a withdrawal to an address outside, with more fields.
func (d *desk) out(asset, at bourse.Symbol, amount, more string) string {
	return `{"type":"WITHDRAWAL","asset":"` + string(asset) + `","network":"` + string(at) + `","address":"` + d.Outside(at, 1) +
		`","amount":"` + amount + `"` + more + `}`
}

// gift returns the body of a transfer.
func gift(asset, to, amount, more string) string {
	return `{"type":"TRANSFER_OUT","asset":"` + asset + `","address":"` + to + `","amount":"` + amount + `"` + more + `}`
}

// confirming makes withdrawals and transfers of an account's sessions need a second
// factor, and returns a session.
func (d *desk) confirming(email string) string {
	d.Helper()
	session := d.Session(email)
	who, err := d.Accounts.Authenticate(d.Context(), account.Secret(session), netip.IPv6Loopback())
	if err != nil {
		d.Fatal(err)
	}
	act := account.Act{Digest: account.Digest{1}}
	if _, err := d.Accounts.SetCases(d.Context(), who, account.CaseWithdrawal, 0, act); err == nil {
		d.Fatal("cases are switched without a code")
	}
	act.Code = d.Code(email)
	if _, err := d.Accounts.SetCases(d.Context(), who, account.CaseWithdrawal, 0, act); err != nil {
		d.Fatal(err)
	}
	return session
}
