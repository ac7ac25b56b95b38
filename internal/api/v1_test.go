package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// gate accepts two secrets.
type gate struct{}

func (gate) Authenticate(_ context.Context, secret account.Secret, from netip.Addr) (account.Identity, error) {
	who := account.Identity{Account: 1, Key: 1, Scopes: account.ScopeRead}
	switch secret {
	case "s3cret-reads":
		return who, nil
	case "s3cret-trades":
		who.Key, who.Scopes = 2, account.ScopeRead|account.ScopeTrade
		return who, nil
	case "s3cret-breaks":
		return who, fmt.Errorf("looking up %v from %v: %w", secret, from, io.ErrUnexpectedEOF)
	}
	return who, account.ErrUnauthorized
}

// desk is an interface with an endpoint for each outcome.
type desk struct {
	*testing.T

	server *httptest.Server
	log    strings.Builder
	mu     sync.Mutex
	seen   []string
	limits api.Limits
	// waiting receives when a request of /waits has started.
	waiting chan struct{}
}

// observed returns the outcomes of the requests since the last call.
func (d *desk) observed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := strings.Join(d.seen, " ")
	d.seen = nil
	return list
}

func newDesk(t *testing.T, limits api.Limits) *desk {
	d := &desk{T: t, limits: limits, waiting: make(chan struct{}, 1)}
	frozen := func() time.Time { return time.Unix(1_700_000_000, 0) }
	v := &api.Server{
		Who: gate{}, Signed: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Limits: api.NewLimiter(limits, frozen), Clock: frozen, Patience: time.Minute,
		Log: slog.New(slog.NewTextHandler(&d.log, nil)),
		Observe: func(endpoint string, status int, success bool, _ time.Duration) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.seen = append(d.seen, fmt.Sprintf("%s:%d:%v", endpoint, status, success))
		},
	}
	mux := http.NewServeMux()
	v.Handle(mux, "/spot", endpoints(d.waiting))
	mux.Handle("/", v.Missing())
	d.server = httptest.NewServer(api.Transport(mux, v.Missing()))
	t.Cleanup(d.server.Close)
	return d
}

func endpoints(waiting chan<- struct{}) []api.Endpoint {
	fail := func(err error) func(*api.Call) error {
		return func(c *api.Call) error {
			c.Out.Text("half", "an answer")
			return err
		}
	}
	return []api.Endpoint{
		{Path: "/echo", Fields: api.Fields{"text", "offset"}, Answer: func(c *api.Call) error {
			c.Require("text")
			c.Out.Text("text", c.Text("text"))
			return c.Err()
		}},
		{Path: "/private", Private: true, Fields: api.Fields{"text"}, Answer: func(c *api.Call) error {
			c.Require("text")
			return c.Err()
		}},
		{Path: "/who", Scope: account.ScopeRead, Answer: func(c *api.Call) error {
			c.Out.Uint("account", uint64(c.Who.Account))
			return nil
		}},
		{Path: "/maybe", OptionalKey: true, Answer: func(c *api.Call) error {
			c.Out.Uint("account", uint64(c.Who.Account))
			return nil
		}},
		{Path: "/laborious", Scope: account.ScopeRead, Answer: func(c *api.Call) error {
			c.Charge(3)
			return nil
		}},
		{Path: "/trade/now", Scope: account.ScopeTrade, Class: api.Orders, Answer: func(*api.Call) error { return nil }},
		{
			Path: "/trade/named", Scope: account.ScopeTrade, Class: api.Orders, Fields: api.Fields{"client_id"}, Repeatable: "client_id",
			Answer: func(*api.Call) error { return nil },
		},
		{Path: "/refused", Answer: fail(api.RefusedOrder(bourse.InsufficientFunds))},
		{Path: "/wrapped", Answer: fail(fmt.Errorf("somewhere: %w", api.RefusedOrder(bourse.OrderNotFound)))},
		{Path: "/busy", Answer: fail(bourse.Errorf(bourse.CodeBusy, "the queue is full"))},
		{Path: "/broken", Fields: api.Fields{"text"}, Answer: fail(errors.New("disk on fire"))},
		{Path: "/waits", Answer: func(c *api.Call) error {
			waiting <- struct{}{}
			<-c.Context.Done()
			return fmt.Errorf("history: %w", c.Context.Err())
		}},
		{Path: "/large", Answer: func(c *api.Call) error {
			c.Out.Text("text", strings.Repeat("x", 1<<20))
			return nil
		}},
	}
}

// reply is an answer that has been read.
type reply struct {
	status int
	header http.Header
}

// ask sends a request and returns the answer and its body. headers are names and values.
func (d *desk) ask(method, path string, body io.Reader, headers ...string) (reply, string) {
	d.Helper()
	req, err := http.NewRequestWithContext(d.Context(), method, d.server.URL+path, body)
	if err != nil {
		d.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	got, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		d.Fatal(err)
	}
	return reply{got.StatusCode, got.Header}, string(text)
}

// post wants an answer with status 200.
func (d *desk) post(path, body, want string) {
	d.Helper()
	r, got := d.ask(http.MethodPost, path, strings.NewReader(body))
	if r.status != http.StatusOK || got != want {
		d.Errorf("%s %.60s:\ngot  %d %s\nwant 200 %s", path, body, r.status, got, want)
	}
	if kind := r.header.Get("Content-Type"); kind != "application/json" {
		d.Errorf("%s: the type is %q", path, kind)
	}
	if length := r.header.Get("Content-Length"); length != strconv.Itoa(len(got)) {
		d.Errorf("%s: the length is %q, want %d", path, length, len(got))
	}
}

func failure(code, message string) string {
	return `{"success":false,"error":` + strconv.Quote(message) + `,"code":"` + code + `"}`
}

const notObject = "Request must be one JSON object"

func TestAnswers(t *testing.T) {
	d := newDesk(t, api.Limits{})
	for _, c := range []struct{ path, body, want string }{
		{"/spot/echo", `{"text":"x"}`, `{"success":true,"text":"x"}`},
		{"/spot/echo", ` { "text" : "\u00e9\"" , "more" : [ { } ] } ` + "\n", `{"success":true,"text":"é\""}`},
		{"/spot/echo", `{"text":null}`, failure("MISSING_DATA", "Missing data: text")},
		{"/spot/echo", `{}`, failure("MISSING_DATA", "Missing data: text")},
		{"/spot/echo", `{"text":1}`, failure("VALIDATION_ERROR", "text: must be a string")},
		{"/spot/echo", `{"Text":"x"}`, failure("VALIDATION_ERROR", `Unknown field "Text", did you mean text?`)},
		{"/spot/echo", `{"text":"x","TEXT":"y"}`, failure("VALIDATION_ERROR", `Unknown field "TEXT", did you mean text?`)},
		{"/spot/echo", `{"text":"x","text":"y"}`, failure("VALIDATION_ERROR", notObject)},
		{"/spot/echo", `{"text":"x"}{}`, failure("VALIDATION_ERROR", notObject)},
		{"/spot/echo", "{\"text\":\"\xff\"}", failure("VALIDATION_ERROR", notObject)},
		{"/spot/echo", ``, failure("VALIDATION_ERROR", notObject)},
		{"/spot/echo", `[]`, failure("VALIDATION_ERROR", notObject)},
		{"/spot/echo", `text=x`, failure("VALIDATION_ERROR", notObject)},
		{"/spot/who", `{"api_key":"s3cret-reads"}`, `{"success":true,"account":1}`},
		{"/spot/who", `{}`, failure("MISSING_DATA", "Missing data: api_key")},
		{"/spot/who", `{"api_key":null}`, failure("MISSING_DATA", "Missing data: api_key")},
		{"/spot/who", `{"api_key":""}`, failure("INVALID_KEY", "Unauthorized")},
		{"/spot/who", `{"api_key":7}`, failure("VALIDATION_ERROR", "api_key: must be a string")},
		{"/spot/who", `{"api_key":"nobody"}`, failure("INVALID_KEY", "Unauthorized")},
		{"/spot/trade/now", `{"api_key":"s3cret-reads"}`, failure("FORBIDDEN", "Forbidden: the key has no scope trade")},
		{"/spot/trade/now", `{"api_key":"s3cret-trades"}`, `{"success":true}`},
		{"/spot/refused", `{}`, failure("INSUF_FUNDS", "INSUF_FUNDS: less is available than the order must hold")},
		{"/spot/wrapped", `{}`, failure("ORDER_NOT_FOUND", "Order not found")},
		{"/spot/large", `{}`, `{"success":true,"text":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"/spot/echo", `{"text":"after"}`, `{"success":true,"text":"after"}`},
		{"//spot///echo", `{"text":"x"}`, `{"success":true,"text":"x"}`},
		{"/spot/trade////now", `{"api_key":"s3cret-trades"}`, `{"success":true}`},
		{"/spot/echo?text=y", `{"text":"x"}`, `{"success":true,"text":"x"}`},
	} {
		d.post(c.path, c.body, c.want)
	}
	if d.log.Len() != 0 {
		t.Errorf("logged was %s", d.log.String())
	}
}

func TestGETWithABody(t *testing.T) {
	d := newDesk(t, api.Limits{})
	r, got := d.ask(http.MethodGet, "/spot/echo", strings.NewReader(`{"text":"x"}`))
	if r.status != http.StatusOK || got != `{"success":true,"text":"x"}` {
		t.Errorf("%d %s", r.status, got)
	}
	r, got = d.ask(http.MethodGet, "/spot/echo", http.NoBody)
	if r.status != http.StatusOK || got != failure("MISSING_DATA", "Missing data: text") {
		t.Errorf("%d %s", r.status, got)
	}
}

// TestGETWithAQuery wants the query to be read where no key is needed and no body came,
// and to cost what a POST costs.
func TestGETWithAQuery(t *testing.T) {
	d := newDesk(t, api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 2}}})
	if r, got := d.ask(http.MethodGet, "/spot/echo?text=x%22", http.NoBody); r.status != http.StatusOK || got != `{"success":true,"text":"x\""}` {
		t.Errorf("%d %s", r.status, got)
	}
	if r, got := d.ask(http.MethodPost, "/spot/echo?text=x", strings.NewReader(`{"text":"y"}`)); r.status != http.StatusOK || got != `{"success":true,"text":"y"}` {
		t.Errorf("%d %s", r.status, got)
	}
	if r, got := d.ask(http.MethodGet, "/spot/echo?text=x", http.NoBody); r.status != http.StatusTooManyRequests {
		t.Errorf("%d %s", r.status, got)
	}
}

// TestSecretsAreInBodies wants an endpoint for secrets to read none from a query.
func TestSecretsAreInBodies(t *testing.T) {
	d := newDesk(t, api.Limits{})
	for body, want := range map[string]string{
		"": failure("VALIDATION_ERROR", "Request must be one JSON object"), "{}": failure("MISSING_DATA", "Missing data: text"), `{"text":"x"}`: `{"success":true}`,
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if r, got := d.ask(method, "/spot/private?text=x", strings.NewReader(body)); r.status != http.StatusOK || got != want {
				t.Errorf("%s %q: %d %s, want %s", method, body, r.status, got, want)
			}
		}
	}
}

// bodies are the answers of TestOtherStatuses by status.
var bodies = map[int]string{
	http.StatusNotFound:              failure("INVALID_ENDPOINT", "There is no such endpoint"),
	http.StatusMethodNotAllowed:      failure("METHOD_NOT_ALLOWED", "The method cannot be used here; Allow names those that can"),
	http.StatusRequestEntityTooLarge: failure("VALIDATION_ERROR", "The body is longer than 65536 bytes"),
	http.StatusInternalServerError:   failure("INTERNAL_SERVER_ERROR", "Internal error, try again later"),
}

// TestOtherStatuses wants the statuses that say that a request was not taken,
// and that pages of any origin can read them.
func TestOtherStatuses(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 1, Burst: 1}}})
	body := func(n int) string { return `{"text":"` + strings.Repeat("x", n-len(`{"text":""}`)) + `"}` }
	d.post("/spot/trade/now", `{"api_key":"s3cret-trades"}`, `{"success":true}`)
	for _, c := range []struct {
		method, path string
		body         io.Reader
		status       int
		header       string
		seen         string
	}{
		{http.MethodPost, "/spot/echo", strings.NewReader(body(64 << 10)), 200, "Content-Type: application/json", "/echo:200:true"},
		{http.MethodPost, "/spot/echo", strings.NewReader(body(64<<10 + 1)), 413, "", "/echo:413:false"},
		{http.MethodPost, "/spot/echo", io.MultiReader(strings.NewReader(body(64<<10 + 1))), 413, "", "/echo:413:false"},
		{http.MethodPost, "/spot/busy", strings.NewReader(`{}`), 429, "Retry-After: 1", "/busy:429:false"},
		{http.MethodPost, "/spot/trade/now", strings.NewReader(`{"api_key":"s3cret-trades"}`), 429, "Retry-After: 1", "/trade/now:429:false"},
		{http.MethodPost, "/spot/broken", strings.NewReader(`{}`), 500, "", "/broken:500:false"},
		{http.MethodPut, "/spot/echo", strings.NewReader(`{"text":"x"}`), 405, "Allow: GET, POST, OPTIONS", "/echo:405:false"},
		{http.MethodDelete, "/spot/echo", http.NoBody, 405, "Allow: GET, POST, OPTIONS", "/echo:405:false"},
		{http.MethodHead, "/spot/echo", http.NoBody, 405, "Allow: GET, POST, OPTIONS", "/echo:405:false"},
		{http.MethodPost, "/spot/nothing", strings.NewReader(`{}`), 404, "Content-Type: application/json", "/:404:false"},
		{http.MethodPost, "/spot/echo/", strings.NewReader(`{}`), 404, "Content-Type: application/json", "/:404:false"},
		{http.MethodPost, "/spot/../spot/echo", strings.NewReader(`{}`), 404, "Content-Type: application/json", "/:404:false"},
		{http.MethodPost, "/spot/./echo", strings.NewReader(`{}`), 404, "Content-Type: application/json", "/:404:false"},
		{http.MethodPost, "/", strings.NewReader(`{}`), 404, "Content-Type: application/json", "/:404:false"},
		{http.MethodOptions, "/spot/echo", http.NoBody, 204, "Access-Control-Allow-Methods: GET, POST, PUT, PATCH, DELETE, OPTIONS", ""},
		{http.MethodOptions, "/nothing", http.NoBody, 204, "Access-Control-Allow-Headers: Content-Type, Authorization, Idempotency-Key, " +
			"Bourse-Key, Bourse-Timestamp, Bourse-Window, Bourse-Signature, X-MBX-APIKEY, X-MBX-TIME-UNIT", ""},
	} {
		d.observed()
		r, text := d.ask(c.method, c.path, c.body)
		if r.status != c.status {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, r.status, c.status)
		}
		if want := bodies[r.status]; c.method != http.MethodHead && want != "" && text != want {
			t.Errorf("%s %s: %s, want %s", c.method, c.path, text, want)
		}
		if name, value, given := strings.Cut(c.header, ": "); given && r.header.Get(name) != value {
			t.Errorf("%s %s: %s is %q", c.method, c.path, name, r.header.Get(name))
		}
		if r.header.Get("Access-Control-Allow-Origin") != "*" || r.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s %s: a page of another origin cannot read the answer", c.method, c.path)
		}
		if got := d.observed(); got != c.seen {
			t.Errorf("%s %s: observed was %q, want %q", c.method, c.path, got, c.seen)
		}
	}
}

// tooMany wants a request to be refused by a limit.
func (d *desk) tooMany(path, body string) {
	d.Helper()
	r, got := d.ask(http.MethodPost, path, strings.NewReader(body))
	if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" ||
		got != failure("RATE_LIMIT", "Too many requests") {
		d.Errorf("%s %s: %d %s, retry after %q", path, body, r.status, got, r.header.Get("Retry-After"))
	}
}

// TestStrangersAreCountedBySource wants requests without a good secret to be counted
// together, and a good secret to pass when its neighbours have spent everything.
func TestStrangersAreCountedBySource(t *testing.T) {
	d := newDesk(t, api.Limits{
		Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 4}}, FailedAuth: api.Rate{PerSecond: 1, Burst: 1},
	})
	d.post("/spot/echo", `{"text":"x"}`, `{"success":true,"text":"x"}`)
	d.post("/spot/echo", `bad`, failure("VALIDATION_ERROR", notObject))
	d.post("/spot/who", `{"api_key":"s3cret-nobody"}`, failure("INVALID_KEY", "Unauthorized"))
	d.tooMany("/spot/who", `{"api_key":"s3cret-nobody"}`)
	d.tooMany("/spot/echo", `{"text":"x"}`)
	d.tooMany("/spot/trade/now", `{}`)
	d.tooMany("/spot/who", `bad`)
	for range 10 {
		d.post("/spot/trade/now", `{"api_key":"s3cret-trades"}`, `{"success":true}`)
	}
}

// TestAccountsAreCountedOnce wants two secrets of one account to have what one has.
func TestAccountsAreCountedOnce(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 3}}})
	for _, secret := range []string{"s3cret-reads", "s3cret-trades", "s3cret-reads"} {
		d.post("/spot/who", `{"api_key":"`+secret+`"}`, `{"success":true,"account":1}`)
	}
	d.tooMany("/spot/who", `{"api_key":"s3cret-reads"}`)
	d.tooMany("/spot/who", `{"api_key":"s3cret-trades"}`)
	d.post("/spot/trade/now", `{"api_key":"s3cret-trades"}`, `{"success":true}`) // of another class
}

// TestLargeAnswersWeigh wants bytes and other work to count beside requests.
func TestLargeAnswersWeigh(t *testing.T) {
	text := strings.Repeat("x", 30<<10) // 3 requests more
	d := newDesk(t, api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 5}}})
	d.post("/spot/echo", `{"text":"`+text+`"}`, `{"success":true,"text":"`+text+`"}`)
	d.post("/spot/echo", `{"text":"x"}`, `{"success":true,"text":"x"}`)
	d.tooMany("/spot/echo", `{"text":"x"}`)

	d = newDesk(t, api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 5}}})
	d.post("/spot/laborious", `{"api_key":"s3cret-reads"}`, `{"success":true}`)
	d.post("/spot/who", `{"api_key":"s3cret-reads"}`, `{"success":true,"account":1}`)
	d.tooMany("/spot/who", `{"api_key":"s3cret-trades"}`)
}

// TestFailuresAreLoggedWithoutSecrets checks that the log has the cause and nothing that
// the caller sent.
func TestFailuresAreLoggedWithoutSecrets(t *testing.T) {
	d := newDesk(t, api.Limits{})
	for path, body := range map[string]string{
		"/spot/broken": `{"text":"s3cret-text"}`, "/spot/who": `{"api_key":"s3cret-breaks"}`,
	} {
		r, got := d.ask(http.MethodPost, path, strings.NewReader(body))
		if r.status != http.StatusInternalServerError || got != failure("INTERNAL_SERVER_ERROR", "Internal error, try again later") {
			t.Errorf("%s: %d %q", path, r.status, got)
		}
	}
	d.post("/spot/who", `{"api_key":"s3cret-nobody"}`, failure("INVALID_KEY", "Unauthorized"))
	for _, key := range []string{"s3cret-breaks", "s3cret-nobody"} {
		d.ask(http.MethodPost, "/spot/who", strings.NewReader(`{}`), "Authorization", "Bearer "+key)
	}
	log := d.log.String()
	if !strings.Contains(log, "endpoint=/broken error=\"disk on fire\"") || !strings.Contains(log, "unexpected EOF") {
		t.Errorf("the log does not say what broke: %s", log)
	}
	if strings.Contains(log, "s3cret") {
		t.Errorf("a secret is in the log: %s", log)
	}
}

// TestBodyThatBreaksOff sends less than its Content-Length.
func TestBodyThatBreaksOff(t *testing.T) {
	d := newDesk(t, api.Limits{})
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", d.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "POST /spot/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"text\":\"x\"}")
	_ = conn.(*net.TCPConn).CloseWrite()
	got, _ := io.ReadAll(conn)
	_ = conn.Close()
	if !strings.HasPrefix(string(got), "HTTP/1.1 400 ") {
		t.Errorf("answered was %.80s", got)
	}
	if got := d.observed(); got != "/echo:400:false" {
		t.Errorf("observed was %s", got)
	}
}

// TestClientThatLeaves closes the connection before the answer, which is no failure of
// the exchange.
func TestClientThatLeaves(t *testing.T) {
	d := newDesk(t, api.Limits{})
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", d.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "POST /spot/waits HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	<-d.waiting
	_ = conn.Close()
	d.server.Close() // waits for the request's end
	if got := d.observed(); got != "/waits:400:false" {
		t.Errorf("observed was %s", got)
	}
	if d.log.Len() != 0 {
		t.Errorf("logged was %s", d.log.String())
	}
}

// TestRequestsAtOnce runs many requests over the pool of sessions; none may see another
// one's bytes.
func TestRequestsAtOnce(t *testing.T) {
	d := newDesk(t, api.Limits{})
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := range 50 {
				text := strings.Repeat(strconv.Itoa(i), n*100+1)
				d.post("/spot/echo", `{"text":"`+text+`"}`, `{"success":true,"text":"`+text+`"}`)
			}
		})
	}
	work.Wait()
}
