package binance_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// TestPayload checks which bytes are signed.
func TestPayload(t *testing.T) {
	for _, c := range [][4]string{
		{"a=1&b=2&signature=x", "", "a=1&b=2", "x"},
		{"a=1", "b=2&signature=x", "a=1b=2", "x"},
		{"signature=x&a=1", "b=2", "a=1b=2", "x"},
		{"", "a=1&signature=x", "a=1", "x"},
		{"a=%2F+&signature=x%2B", "", "a=%2F+", "x%2B"},
		{"a=1&signature=x&signature=y", "", "a=1&signature=y", "x"},
		{"", "", "", ""},
	} {
		payload, signature := binance.Payload(c[0], c[1])
		if string(payload) != c[2] || signature != c[3] {
			t.Errorf("%q and %q: %q, %q", c[0], c[1], payload, signature)
		}
	}
}

// TestSignedRequests sends signed requests in every form that bots use, and wants each change
// of one to be refused.
func TestSignedRequests(t *testing.T) {
	d := open(t, api.Limits{})
	read := func(params string, header http.Header) int {
		t.Helper()
		return d.send(http.MethodGet, "/api/v3/account", params, header).code()
	}
	at := func(t bourse.Time) string { return "timestamp=" + strconv.FormatInt(int64(t/1000), 10) }
	signed := func(params string) string { return params + "&signature=" + d.alice.sum(params) }
	shown := http.Header{"X-Mbx-Apikey": {d.alice.id}}
	now := at(d.Now)

	for what, params := range map[string]string{
		"plain":                       signed(now),
		"a window":                    signed(now + "&recvWindow=60000"),
		"a window with decimals":      signed("recvWindow=1000.125&" + now),
		"microseconds":                signed("timestamp=" + strconv.FormatInt(int64(d.Now), 10)),
		"an upper-case signature":     now + "&signature=" + strings.ToUpper(d.alice.sum(now)),
		"a signature in front":        "signature=" + d.alice.sum(now) + "&" + now,
		"a second ahead":              signed(at(d.Now + bourse.Second)),
		"the end of the usual window": signed(at(d.Now - 5*bourse.Second + 1000)),
	} {
		if code := read(params, shown); code != 0 {
			t.Errorf("%s is refused: %d", what, code)
		}
	}

	for what, c := range map[string]struct {
		params string
		header http.Header
		code   int
	}{
		"no key":                     {signed(now), nil, -2014},
		"an unknown key":             {signed(now), http.Header{"X-Mbx-Apikey": {strings.Repeat("0", 64)}}, -2015},
		"a malformed key":            {signed(now), http.Header{"X-Mbx-Apikey": {"x"}}, -2015},
		"another's key":              {signed(now), http.Header{"X-Mbx-Apikey": {d.bob.id}}, -1022},
		"a key that does not sign":   {signed(now), http.Header{"X-Mbx-Apikey": {d.Alice}}, -2015},
		"no signature":               {now, shown, -1022},
		"an empty signature":         {now + "&signature=", shown, -1105},
		"a short signature":          {now + "&signature=00", shown, -1022},
		"a signature of nothing":     {now + "&signature=" + d.alice.sum(""), shown, -1022},
		"another order of fields":    {"recvWindow=5000&" + now + "&signature=" + d.alice.sum(now+"&recvWindow=5000"), shown, -1022},
		"no timestamp":               {signed("recvWindow=5000"), shown, -1102},
		"a timestamp in words":       {signed("timestamp=now"), shown, -1100},
		"a negative timestamp":       {signed("timestamp=-1"), shown, -1100},
		"a huge timestamp":           {signed("timestamp=99999999999999999999"), shown, -1108},
		"the past":                   {signed(at(d.Now - 5*bourse.Second)), shown, -1021},
		"the future":                 {signed(at(d.Now + bourse.Second + 1000)), shown, -1021},
		"a great window":             {signed(now + "&recvWindow=60001"), shown, -1102},
		"a window with many figures": {signed(now + "&recvWindow=5000.1234"), shown, -1100},
		"a window in words":          {signed(now + "&recvWindow=x"), shown, -1100},
		"a window of nothing":        {signed(now + "&recvWindow=0"), shown, -1021},
		"a field twice":              {signed(now + "&" + now), shown, -1101},
		"a field unknown":            {signed(now + "&x=1"), shown, -1104},
		"a request of our own form":  {signed("12:bourse-req-1,&" + now), shown, -1104},
	} {
		if code := read(c.params, c.header); code != c.code {
			t.Errorf("%s is %d, want %d", what, code, c.code)
		}
	}
}

// TestTime wants the time that is told to be the one that timestamps are held against.
func TestTime(t *testing.T) {
	d := open(t, api.Limits{})
	d.ahead = bourse.Hour
	for _, path := range []string{"time", "exchangeInfo"} {
		var told struct{ ServerTime bourse.Time }
		d.get(path, "").into(d, &told)
		if told.ServerTime*1000 != (d.Now+d.ahead)/1000*1000 {
			t.Errorf("%s tells %d", path, told.ServerTime)
		}
		if a := d.signAt(d.alice, http.MethodGet, "/api/v3/account", "", told.ServerTime*1000); a.code() != 0 {
			t.Errorf("a request of the time that %s tells is refused: %s", path, a.body)
		}
	}
	var told struct{ ServerTime bourse.Time }
	r := d.send(http.MethodGet, "/api/v3/time", "", http.Header{"X-Mbx-Time-Unit": {"MICROSECOND"}})
	if r.into(d, &told); told.ServerTime != d.Now+d.ahead {
		t.Errorf("in microseconds it is %d", told.ServerTime)
	}
	if a := d.send(http.MethodGet, "/api/v3/time", "", http.Header{"X-Mbx-Time-Unit": {"SECOND"}}); a.code() != -1194 {
		t.Errorf("a unit of seconds: %s", a.body)
	}
}

// TestSignedOnce wants what changes something to be taken once, unless its name makes a
// repeat harmless, and reads to be taken again.
func TestSignedOnce(t *testing.T) {
	d := open(t, api.Limits{})
	place := "symbol=BTCUSDT&" + limit("BUY", "0.1", "40000")
	at := d.Now
	first := d.signAt(d.alice, http.MethodPost, "/api/v3/order", place, at)
	again := d.signAt(d.alice, http.MethodPost, "/api/v3/order", place, at)
	if first.code() != 0 || again.code() != -1021 {
		t.Errorf("an order is %s, its repeat %s", first.body, again.body)
	}
	if a := d.signAt(d.alice, http.MethodPost, "/api/v3/order/test", place, at); a.code() != 0 {
		t.Errorf("a test is counted: %s", a.body)
	}

	named := place + "&newClientOrderId=one"
	first = d.signAt(d.alice, http.MethodPost, "/api/v3/order", named, at)
	again = d.signAt(d.alice, http.MethodPost, "/api/v3/order", named, at)
	if first.code() != 0 || again.body != first.body {
		t.Errorf("a named order is %s, its repeat %s", first.body, again.body)
	}
	other := d.sign(d.alice, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&newClientOrderId=one&"+limit("BUY", "0.1", "40001"))
	if other.code() != -2010 || !strings.Contains(other.body, "Duplicate order sent.") {
		t.Errorf("another order of the name: %s", other.body)
	}

	for range 2 {
		if a := d.signAt(d.alice, http.MethodGet, "/api/v3/openOrders", "", at); a.code() != 0 || strings.Count(a.body, "orderId") != 2 {
			t.Errorf("open orders are %s", a.body)
		}
	}
}

// TestScopes wants each endpoint to need the scope of its security.
func TestScopes(t *testing.T) {
	d := open(t, api.Limits{})
	keys := map[account.Scopes]key{}
	for _, scope := range []account.Scopes{account.ScopeRead, account.ScopeTrade, account.ScopeWithdraw} {
		_, shown, err := d.Accounts.CreateKey(t.Context(), 1, account.NewKey{Kind: account.KindHMAC, Scopes: scope})
		if err != nil {
			t.Fatal(err)
		}
		keys[scope] = key{string(shown.APIKey), string(shown.Secret)}
	}
	need := map[binance.Security]account.Scopes{
		binance.UserStream: account.ScopeRead, binance.UserData: account.ScopeRead, binance.Trade: account.ScopeTrade, binance.Withdraw: account.ScopeWithdraw,
	}
	asked := 0
	for _, e := range binance.Endpoints() {
		if e.State == binance.NotServed || e.Security == binance.None {
			continue
		}
		var params []string
		for _, p := range e.Params {
			if p.Required {
				params = append(params, p.Name+"=x")
			}
		}
		for scope, k := range keys {
			a := d.sign(k, e.Method, e.Path, strings.Join(params, "&"))
			if refused := a.code() == -2015; refused != (scope != need[e.Security]) || refused && a.status != http.StatusUnauthorized {
				t.Errorf("%s %s with %s: %d %s", e.Method, e.Path, scope, a.status, a.body)
			}
			asked++
		}
	}
	if asked < 30 {
		t.Errorf("%d requests", asked)
	}
}

// TestEd25519 sends a request that an Ed25519 key signs, in base64.
func TestEd25519(t *testing.T) {
	d := open(t, api.Limits{})
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, shown, err := d.Accounts.CreateKey(t.Context(), 1, account.NewKey{
		Kind: account.KindEd25519, Scopes: account.ScopeRead, PublicKey: public,
	})
	if err != nil {
		t.Fatal(err)
	}
	params := "timestamp=" + strconv.FormatInt(int64(d.Now/1000), 10)
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(params)))
	header := http.Header{"X-Mbx-Apikey": {string(shown.APIKey)}}
	for sent, want := range map[string]int{signature: 0, strings.ToLower(signature): -1022, signature + "A": -1022} {
		a := d.send(http.MethodGet, "/api/v3/account", params+"&signature="+url.QueryEscape(sent), header)
		if a.code() != want {
			t.Errorf("%s: %s", sent, a.body)
		}
	}
}
