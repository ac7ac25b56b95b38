package binance_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/teller/tellertest"
	"github.com/bourse-exchange/bourse/internal/coding"
)

// desk is an exchange with the interface, and two customers with keys that sign.
type desk struct {
	*tellertest.Desk
	facade     *binance.Facade
	mux        *http.ServeMux
	alice, bob key
	// ahead is what the exchange's time is ahead of its commands.
	ahead bourse.Time
	// from is the address of the next requests.
	from netip.Addr
	// logged has what was logged as an error.
	logged strings.Builder
}

// key is a key of the kind hmac.
type key struct{ id, secret string }

// header returns the header of a request with the key.
func (k key) header() http.Header { return http.Header{"X-Mbx-Apikey": {k.id}} }

// open returns an exchange whose customers have money.
func open(t *testing.T, limits api.Limits) *desk {
	t.Helper()
	d := &desk{Desk: tellertest.New(t), mux: http.NewServeMux(), from: netip.MustParseAddr("192.0.2.1")}
	money := d.Teller()
	now := func() bourse.Time { return d.Now + d.ahead }
	d.Accounts.KeepTime(now)
	d.Now += 2 * bourse.Second // older requests are refused
	limiter := api.NewLimiter(limits, d.Clock)
	listens, err := binance.NewListenKeys(d.Accounts, rand.Reader, d.Clock)
	if err != nil {
		t.Fatal(err)
	}
	d.facade = binance.New(binance.Options{
		View: d.View, History: money.History, Sequencer: d.Desk, Signed: limiter.GuardSigned(d.Accounts), Teller: &money,
		Turn: func(*api.Limiter, bourse.AccountID, *bourse.NewOrder) (func(), error) {
			return func() {}, nil
		},
		Limits: limiter, Listens: listens, Weight: limits.Weight, OrderLimit: limits.Account.Orders, MaxOpen: 10_000,
		From:    func(*http.Request) netip.Addr { return d.from },
		Observe: func(string, int, bool, time.Duration) {}, Clock: d.Clock, Now: now, Encoder: coding.NewEncoder(1),
		Log: slog.New(slog.NewTextHandler(&d.logged, nil)), Patience: 10 * time.Second,
	})
	d.facade.Handle(d.mux, "/binance")
	d.alice, d.bob = d.signing(1), d.signing(2)
	for _, id := range []bourse.AccountID{1, 2} {
		d.Credit(id, "USDT", "1000000")
		d.Credit(id, "BTC", "10")
	}
	return d
}

// signing makes a key with all scopes.
func (d *desk) signing(id bourse.AccountID) key {
	d.Helper()
	_, shown, err := d.Accounts.CreateKey(d.Context(), id, account.NewKey{
		Kind: account.KindHMAC, Scopes: account.ScopeRead | account.ScopeTrade | account.ScopeWithdraw,
	})
	if err != nil {
		d.Fatal(err)
	}
	return key{string(shown.APIKey), string(shown.Secret)}
}

// answer is an answer to a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// code returns the code of a refusal; zero for an answer that is none.
func (a *answer) code() int {
	var refusal struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	if json.Unmarshal([]byte(a.body), &refusal) != nil || refusal.Msg == "" {
		return 0
	}
	return refusal.Code
}

// into decodes the answer.
func (a *answer) into(d *desk, v any) {
	d.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil || a.status != http.StatusOK {
		d.Fatalf("status %d, %v: %s", a.status, err, a.body)
	}
}

// send sends a request with its parameters in the query, or behind a "|" in the form.
func (d *desk) send(method, path, params string, header http.Header) *answer {
	d.Helper()
	query, form, _ := strings.Cut(params, "|")
	r := httptest.NewRequest(method, "/binance"+path, strings.NewReader(form))
	r.URL.RawQuery = query
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	d.mux.ServeHTTP(w, r)
	return &answer{w.Code, w.Header(), w.Body.String()}
}

// get asks for market data.
func (d *desk) get(path, params string) *answer {
	d.Helper()
	return d.send(http.MethodGet, "/api/v3/"+path, params, nil)
}

// sign sends a signed request. The clock goes on a millisecond, so that none is a repeat.
func (d *desk) sign(k key, method, path, params string) *answer {
	d.Helper()
	d.Now += bourse.Second / 1000
	return d.signAt(k, method, path, params, d.Now)
}

func (d *desk) signAt(k key, method, path, params string, at bourse.Time) *answer {
	d.Helper()
	if params != "" {
		params += "&"
	}
	params += "timestamp=" + strconv.FormatInt(int64(at/1000), 10)
	return d.send(method, path, params+"&signature="+k.sum(params), http.Header{"X-Mbx-Apikey": {k.id}})
}

// sum returns the signature of a query and a form.
func (k key) sum(params string) string {
	mac := hmac.New(sha256.New, []byte(k.secret))
	_, _ = mac.Write([]byte(strings.Replace(params, "|", "", 1)))
	return hex.EncodeToString(mac.Sum(nil))
}

// order places an order and returns its id.
func (d *desk) order(k key, params string) uint64 {
	d.Helper()
	var placed struct{ OrderID uint64 }
	d.sign(k, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&"+params).into(d, &placed)
	return placed.OrderID
}

// limit returns the parameters of a limit order.
func limit(side, quantity, price string) string {
	return "side=" + side + "&type=LIMIT&timeInForce=GTC&quantity=" + quantity + "&price=" + price
}

// trade lets bob sell to alice.
func (d *desk) trade(quantity, price string) {
	d.Helper()
	d.order(d.bob, limit("SELL", quantity, price))
	d.order(d.alice, limit("BUY", quantity, price))
}

func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}
