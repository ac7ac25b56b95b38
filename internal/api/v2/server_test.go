package v2_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// gate lets two secrets in.
type gate struct{}

func (gate) Authenticate(_ context.Context, secret account.Secret, _ netip.Addr) (account.Identity, error) {
	switch secret {
	case "s3cret-reads":
		return account.Identity{Account: 1, Key: 1, Scopes: account.ScopeRead}, nil
	case "s3cret-trades":
		return account.Identity{Account: 2, Key: 2, Scopes: account.ScopeRead | account.ScopeTrade}, nil
	case "s3cret-breaks":
		return account.Identity{}, io.ErrUnexpectedEOF
	}
	return account.Identity{}, account.ErrUnauthorized
}

// desk is an interface with an endpoint for each convention.
type desk struct {
	*testing.T
	http.Handler
	log  strings.Builder
	seen string
}

func newDesk(t *testing.T, limits api.Limits) *desk { return newPatientDesk(t, limits, time.Minute) }

// newPatientDesk returns a desk with so much time for an answer.
func newPatientDesk(t *testing.T, limits api.Limits, patience time.Duration) *desk {
	d := &desk{T: t}
	frozen := func() time.Time { return time.Unix(1_700_000_000, 0) }
	s := &api.Server{
		Who: gate{}, From: func(*http.Request) netip.Addr { return netip.IPv6Loopback() },
		Limits: api.NewLimiter(limits, frozen), Clock: frozen, Patience: patience,
		Log:     slog.New(slog.NewTextHandler(&d.log, nil)),
		Observe: func(endpoint string, status int, _ bool, _ time.Duration) { d.seen = fmt.Sprint(endpoint, " ", status) },
	}
	mux := http.NewServeMux()
	v2.Handle(s, mux, "/x/v2", endpoints())
	d.Handler = api.Transport(mux, v2.Missing(s))
	return d
}

// five is a list at hand.
var five = []string{"a", "b", "c", "d", "e"}

func endpoints() []v2.Endpoint {
	fail := func(err error) func(*v2.Call) error {
		return func(c *v2.Call) error {
			c.Out.Text("half", "an answer")
			return err
		}
	}
	echo := func(c *v2.Call) error {
		c.Out.Text("text", c.Text("text"))
		return c.Err()
	}
	fields := api.Fields{"text"}
	return []v2.Endpoint{
		{Method: "GET", Path: "/echo", Fields: fields, Answer: echo},
		{Method: "POST", Path: "/echo", Fields: fields, Answer: echo},
		{Method: "DELETE", Path: "/echo", Fields: fields, Answer: echo},
		{Method: "POST", Path: "/both", Query: true, Fields: fields, Answer: echo},
		{Method: "GET", Path: "/things/{id}", Answer: func(c *v2.Call) error {
			c.Out.Uint("id", c.SegmentID("id"))
			return c.Err()
		}},
		{Method: "GET", Path: "/things/current", Answer: func(*v2.Call) error { return nil }},
		{Method: "GET", Path: "/mine", Scope: account.ScopeRead, Answer: func(c *v2.Call) error {
			c.Out.Uint("account", uint64(c.Who.Account))
			return nil
		}},
		{Method: "PUT", Path: "/mine", Scope: account.ScopeTrade, Class: api.Orders, Answer: func(*v2.Call) error { return nil }},
		{Method: "POST", Path: "/door", Guest: true, Answer: func(*v2.Call) error { return nil }},
		{Method: "GET", Path: "/list", Fields: append(v2.PageFields, append(v2.SearchFields, v2.OrderFields...)...), Answer: list},
		{Method: "GET", Path: "/log", Fields: v2.CursorFields, Answer: log},
		{Method: "POST", Path: "/once", Answer: func(c *v2.Call) error {
			c.Out.Text("key", c.IdempotencyKey().String())
			return c.Err()
		}},
		{Method: "POST", Path: "/digest/{of}", Answer: func(c *v2.Call) error {
			c.Out.Text("digest", fmt.Sprintf("%x", c.Digest()))
			return nil
		}},
		{Method: "POST", Path: "/confirmed", Answer: func(c *v2.Call) error {
			act := c.Act(account.CaseLogin)
			switch {
			case c.Err() != nil:
				return c.Err()
			case act.Code == "":
				return fmt.Errorf("asking: %w", &account.FactorError{Place: "a***@example.com"})
			case act.Code != "123456" || act.Case != account.CaseLogin || act.Digest != c.Digest() || act.Agent != "agent/1":
				return account.ErrWrongFactor
			}
			return nil
		}},
		{Method: "POST", Path: "/refused", Answer: fail(fmt.Errorf("somewhere: %w", bourse.Errorf(bourse.CodeRefused, "No \"more\"")))},
		{Method: "POST", Path: "/unknown", Answer: fail(bourse.Errorf(bourse.CodeUnknown, "Outcome unknown"))},
		{Method: "POST", Path: "/poor", Answer: fail(api.Errorf(codes.InsufBalance, "Not enough"))},
		{Method: "POST", Path: "/broken", Answer: fail(errors.New("disk on fire"))},
	}
}

func list(c *v2.Call) error {
	p, q, o := c.Page(), c.Search(), c.Sort("name", "size")
	if err := c.Err(); err != nil {
		return err
	}
	c.Out.Text("sort", fmt.Sprintf("%s%s %v", q, o.By, o.Descending))
	v2.WritePart(c, "letters", p, five, func(s *string) { c.Out.Text("name", *s) })
	return nil
}

func log(c *v2.Call) error {
	after, limit := c.Cursor()
	if err := c.Err(); err != nil {
		return err
	}
	rows := []uint64{}
	for n := after + 1; n <= 5 && len(rows) <= limit; n++ {
		rows = append(rows, n)
	}
	v2.WriteCursor(c, limit, rows, func(n *uint64) uint64 { return *n }, func(n *uint64) { c.Out.Uint("seq", *n) })
	return nil
}

// ask sends a request with headers like "Name: value".
func (d *desk) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	d.Helper()
	req := httptest.NewRequestWithContext(d.Context(), method, path, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	got := httptest.NewRecorder()
	d.ServeHTTP(got, req)
	return got
}

func (d *desk) want(method, path, body string, status int, want string, headers ...string) {
	d.Helper()
	got := d.ask(method, path, body, headers...)
	if got.Code != status || got.Body.String() != want {
		d.Errorf("%s %.80s %.60s %s:\ngot  %d %s\nwant %d %s", method, path, body, headers, got.Code, got.Body, status, want)
	}
	if kind := got.Header().Get("Content-Type"); kind != "application/json" {
		d.Errorf("%s %s: the type is %q", method, path, kind)
	}
}

func failure(code, msg string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"msg":%q}}`, code, msg)
}

const (
	reader = "Authorization: Bearer s3cret-reads"
	trader = "Authorization: Bearer s3cret-trades"
)

func TestConventions(t *testing.T) {
	d := newDesk(t, api.Limits{})
	notObject := failure("VALIDATION_ERROR", "Request must be one JSON object")
	badKey := failure("INVALID_KEY", "The API key is invalid")
	noEndpoint := failure("INVALID_ENDPOINT", "There is no such endpoint")
	badMethod := failure("METHOD_NOT_ALLOWED", "The method cannot be used here; Allow names those that can")
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
		header             string
	}{
		{"GET", "/x/v2/echo?text=%C3%A9&other=1", "", 200, `{"text":"é"}`, ""},
		{"GET", "/x/v2/echo", `{"text":"not here"}`, 200, `{"text":""}`, ""},
		{"GET", "/x/v2/echo", strings.Repeat("x", api.MaxBody+1), 200, `{"text":""}`, ""},
		{"GET", "/x/v2/echo?text=a&text=b", "", 400, failure("VALIDATION_ERROR", "text: is given twice"), ""},
		{"GET", "/x/v2/echo?Text=a", "", 400, failure("VALIDATION_ERROR", `Unknown field "Text", did you mean text?`), ""},
		{"GET", "/x/v2/echo?text=%zz", "", 400, failure("VALIDATION_ERROR", "The query string is malformed"), ""},
		{"GET", "/x/v2/echo?text=%ff", "", 400, failure("VALIDATION_ERROR", "text: is not UTF-8"), ""},
		{"GET", "/x/v2/echo?%ff=1", "", 400, failure("VALIDATION_ERROR", "The query string is not UTF-8"), ""},
		{"POST", "/x/v2/echo?text=a", `{"text":"b"}`, 200, `{"text":"b"}`, ""},
		{"POST", "/x/v2/both?text=a&other=1", "", 200, `{"text":"a"}`, ""},
		{"POST", "/x/v2/both?text=a", `{"other":1,"text":null}`, 200, `{"text":"a"}`, ""},
		{"POST", "/x/v2/both?other=1", `{"text":"b"}`, 200, `{"text":"b"}`, ""},
		{"POST", "/x/v2/both?text=a", `{"text":"b"}`, 400, failure("VALIDATION_ERROR", "text: is given twice"), ""},
		{"POST", "/x/v2/both?text=a&text=b", `{}`, 400, failure("VALIDATION_ERROR", "text: is given twice"), ""},
		{"POST", "/x/v2/both?Text=a", `{}`, 400, failure("VALIDATION_ERROR", `Unknown field "Text", did you mean text?`), ""},
		{"POST", "/x/v2/both?text=a", `[]`, 400, notObject, ""},
		{"POST", "/x/v2/echo", "", 200, `{"text":""}`, ""},
		{"POST", "/x/v2/echo", `[]`, 400, notObject, ""},
		{"POST", "/x/v2/echo", `{"text":"a","text":"b"}`, 400, notObject, ""},
		{"POST", "/x/v2/echo", `{"text":7}`, 400, failure("VALIDATION_ERROR", "text: must be a string"), ""},
		{"POST", "/x/v2/echo", `{"text":"` + strings.Repeat("x", api.MaxBody) + `"}`, 400, failure("VALIDATION_ERROR", "The body is longer than 65536 bytes"), ""},
		{"DELETE", "/x/v2/echo", `{"text":"b","code2FA":"1"}`, 200, `{"text":"b"}`, ""},
		{"DELETE", "/x/v2/echo", `{"text":"b","code2fa":"1"}`, 400, failure("VALIDATION_ERROR", `Unknown field "code2fa", did you mean code2FA?`), ""},
		{"GET", "/x/v2/things/7", "", 200, `{"id":7}`, ""},
		{"GET", "/x/v2/things/-7", "", 404, failure("NOT_FOUND", "id: there is none with this id"), ""},
		{"GET", "/x/v2/things/current", "", 200, `{}`, ""},
		{"GET", "/x/v2//things//current", "", 200, `{}`, ""},
		{"GET", "/x/v2", "", 404, noEndpoint, ""},
		{"GET", "/x/v2/", "", 404, noEndpoint, ""},
		{"POST", "/x/v2/nothing/here", "{", 404, noEndpoint, ""},
		{"GET", "/x/v2/echo/", "", 404, noEndpoint, ""},
		{"PUT", "/x/v2/echo", "{", 405, badMethod, ""},
		{"GET", "/x/v2/mine", "", 401, failure("UNAUTHORIZED", "Authorization is required: no API key was given"), ""},
		{"GET", "/x/v2/mine", "", 403, badKey, "Authorization: Bearer nobody"},
		{"GET", "/x/v2/mine", "", 403, badKey, "Authorization: Bearer"},
		{"GET", "/x/v2/mine", "", 403, badKey, "Authorization: Basic s3cret-reads"},
		{"GET", "/x/v2/mine", "", 200, `{"account":1}`, reader},
		{"GET", "/x/v2/mine", "", 200, `{"account":2}`, "Authorization: bearer  s3cret-trades"},
		{"PUT", "/x/v2/mine", "{", 403, failure("FORBIDDEN", "Forbidden: the key has no scope trade"), reader},
		{"PUT", "/x/v2/mine", "", 200, `{}`, trader},
		{"GET", "/x/v2/echo", "", 403, badKey, "Authorization: Bearer nobody"},
		{"GET", "/x/v2/echo", "", 200, `{"text":""}`, reader},
		{"POST", "/x/v2/door", "", 200, `{}`, ""},
		{"POST", "/x/v2/door", "", 403, failure("ALREADY_LOGGED_IN", "The request is for who has no API key"), reader},
		{"POST", "/x/v2/once", "", 200, `{"key":"a-1"}`, "Idempotency-Key: a-1"},
		{"POST", "/x/v2/once", "", 200, `{"key":""}`, ""},
		{"POST", "/x/v2/once", "", 400, failure("VALIDATION_ERROR", "Idempotency-Key: may hold A-Z a-z 0-9 . _ : - only"), "Idempotency-Key: a b"},
		{"POST", "/x/v2/refused", "", 406, failure("NOT_ACCEPTABLE", `No "more"`), ""},
		{"POST", "/x/v2/unknown", "", 504, failure("TIMEOUT", "Outcome unknown"), ""},
		{"POST", "/x/v2/poor", "", 406, failure("INSUF_BALANCE", "Not enough"), ""},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{c.header}
		}
		d.want(c.method, c.path, c.body, c.status, c.want, headers...)
	}
	d.want("GET", "/x/v2/mine", "", 403, badKey, reader, trader)
	for _, c := range []struct {
		code   string
		status int
		want   string
	}{
		{`null`, 511, failure("REQUIRE_2FA", "a***@example.com")},
		{`""`, 511, failure("REQUIRE_2FA", "a***@example.com")},
		{`"123456"`, 200, `{}`},
		{`"123457"`, 403, failure("INVALID_2FA", "The code is wrong")},
		{`"12345x"`, 400, failure("VALIDATION_ERROR", "code2FA: must be 6 digits")},
		{`123456`, 400, failure("VALIDATION_ERROR", "code2FA: must be a string")},
	} {
		d.want("POST", "/x/v2/confirmed", `{"code2FA":`+c.code+`}`, c.status, c.want, "User-Agent: agent/1")
	}
	if d.log.Len() != 0 {
		t.Errorf("logged was %s", d.log.String())
	}
}

func TestPages(t *testing.T) {
	d := newDesk(t, api.Limits{})
	sorted := func(how, rest string) string { return `{"sort":"` + how + `","letters":[` + rest + `}` }
	wrong := func(msg string) string { return failure("VALIDATION_ERROR", msg) }
	const all = `{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"}]`
	for _, c := range []struct {
		query  string
		status int
		want   string
	}{
		{"list", 200, sorted("name false", all+`,"more":false`)},
		{"list?limit=500&offset=0", 200, sorted("name false", all+`,"more":false`)},
		{"list?limit=5", 200, sorted("name false", all+`,"more":false`)},
		{"list?limit=2&offset=2&q=x&orderBy=size&orderDir=DESC", 200, sorted("xsize true", `{"name":"c"},{"name":"d"}],"more":true`)},
		{"list?limit=2&offset=4&orderDir=ASC", 200, sorted("name false", `{"name":"e"}],"more":false`)},
		{"list?offset=2147483647", 200, sorted("name false", `],"more":false`)},
		{"list?limit=0", 400, wrong("limit: must be at least 1")},
		{"list?limit=-1", 400, wrong("limit: must be at least 1")},
		{"list?limit=-99999999999999999999", 400, wrong("limit: must be at least 1")},
		{"list?limit=501", 406, failure("LIMIT_OUT_OF_RANGE", "limit: at most 500")},
		{"list?limit=99999999999999999999", 406, failure("LIMIT_OUT_OF_RANGE", "limit: at most 500")},
		{"list?limit=", 400, wrong("limit: must be an integer")},
		{"list?limit=1.0", 400, wrong("limit: must be an integer")},
		{"list?limit=ten", 400, wrong("limit: must be an integer")},
		{"list?offset=-1", 400, wrong("offset: must be an integer from 0 to 2147483647")},
		{"list?offset=2147483648", 400, wrong("offset: must be an integer from 0 to 2147483647")},
		{"list?orderBy=colour", 400, wrong(`orderBy: "colour" is none of name, size`)},
		{"list?orderDir=asc", 400, wrong(`orderDir: "asc" is none of ASC, DESC`)},
		{"list?q=" + strings.Repeat("x", 257), 400, wrong("q: at most 256 bytes")},
		{"log?limit=2", 200, `{"entries":[{"seq":1},{"seq":2}],"cursor":2}`},
		{"log?limit=2&cursor=2", 200, `{"entries":[{"seq":3},{"seq":4}],"cursor":4}`},
		{"log?limit=2&cursor=4", 200, `{"entries":[{"seq":5}],"cursor":null}`},
		{"log?limit=3&cursor=2", 200, `{"entries":[{"seq":3},{"seq":4},{"seq":5}],"cursor":null}`},
		{"log?cursor=x", 400, wrong("cursor: must be a positive integer")},
		{"log?limit=0", 400, wrong("limit: must be at least 1")},
	} {
		d.want("GET", "/x/v2/"+c.query, "", c.status, c.want)
	}
}

// TestDigest wants one digest for what says the same, and another one for
// everything else.
func TestDigest(t *testing.T) {
	d := newDesk(t, api.Limits{})
	digest := func(path, body string, headers ...string) string {
		t.Helper()
		got := d.ask("POST", "/x/v2/digest/"+path, body, headers...)
		if got.Code != 200 {
			t.Fatal(got.Code, got.Body)
		}
		return got.Body.String()
	}
	const body = `{"a":"1","b":[1,2]}`
	want := digest("one", body)
	for _, same := range []string{
		` { "b" : [ 1 , 2 ] , "a" : "1" } `, `{"a":"1","code2FA":"123456","b":[1,2]}`, `{"\u0061":"1","b":[1,2]}`,
	} {
		if digest("one", same) != want {
			t.Errorf("%s has another digest than %s", same, body)
		}
	}
	others := []string{
		digest("two", body), digest("one", body, reader), digest("one", body, trader), digest("one", ""),
		digest("one", `{"a":"1","b":[2,1]}`), digest("one", `{"a":"1","b":[1,2],"c":null}`),
		digest("one", `{"a":9007199254740993}`), digest("one", `{"a":9007199254740992}`), digest("one", `{"ab":"1"}`),
	}
	seen := map[string]bool{want: true}
	for i, o := range others {
		if seen[o] {
			t.Errorf("digest %d is that of another request", i)
		}
		seen[o] = true
	}
}

func TestHeadersAndLabels(t *testing.T) {
	d := newDesk(t, api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 1, Burst: 1}}})
	d.want("PUT", "/x/v2/mine", "", 200, `{}`, trader)
	for _, c := range []struct{ method, path, auth, header, seen string }{
		{"PUT", "/x/v2/mine", trader, "Retry-After: 1", "PUT /x/v2/mine 429"},
		{"POST", "/x/v2/mine", trader, "Allow: GET, PUT, OPTIONS", "/x/v2/mine 405"},
		{"HEAD", "/x/v2/echo", trader, "Allow: DELETE, GET, POST, OPTIONS", "/x/v2/echo 405"},
		{"GET", "/x/v2/mine", "", "WWW-Authenticate: Bearer", "GET /x/v2/mine 401"},
		{"GET", "/x/v2/things/99", "", "Access-Control-Allow-Origin: *", "GET /x/v2/things/{id} 200"},
		{"GET", "/x/v2/none/99", "", "Access-Control-Allow-Origin: *", "/x/v2/ 404"},
	} {
		got := d.ask(c.method, c.path, "", c.auth)
		if name, value, _ := strings.Cut(c.header, ": "); got.Header().Get(name) != value {
			t.Errorf("%s %s: %s is %q", c.method, c.path, name, got.Header().Get(name))
		}
		if d.seen != c.seen {
			t.Errorf("observed was %q, want %q", d.seen, c.seen)
		}
	}
}

// TestLimitOfASource wants requests without a good secret to be counted together, and
// a good secret to pass when its neighbours have spent everything.
func TestLimitOfASource(t *testing.T) {
	d := newDesk(t, api.Limits{
		Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 3}}, FailedAuth: api.Rate{PerSecond: 1, Burst: 1},
	})
	tooMany, nobody := failure("RATE_LIMIT", "Too many requests"), "Authorization: Bearer nobody"
	d.want("GET", "/x/v2/echo", "", 200, `{"text":""}`)
	d.want("PUT", "/x/v2/mine", "", 403, failure("INVALID_KEY", "The API key is invalid"), nobody)
	d.want("PUT", "/x/v2/mine", "", 429, tooMany, nobody)
	d.want("GET", "/x/v2/echo", "", 429, tooMany)
	d.want("PUT", "/x/v2/mine", "", 429, tooMany)
	for range 10 {
		d.want("PUT", "/x/v2/mine", "", 200, `{}`, trader)
	}
}

// TestFailuresAreLoggedWithoutSecrets wants to find the cause in the log, and
// none of what the caller sent.
func TestFailuresAreLoggedWithoutSecrets(t *testing.T) {
	d := newDesk(t, api.Limits{})
	ours := failure("INTERNAL_SERVER_ERROR", "Internal error, try again later")
	d.want("POST", "/x/v2/broken", `{"text":"s3cret-text"}`, 500, ours)
	d.want("GET", "/x/v2/mine", "", 500, ours, "Authorization: Bearer s3cret-breaks")
	if log := d.log.String(); !strings.Contains(log, `endpoint="POST /x/v2/broken" error="disk on fire"`) || !strings.Contains(log, "unexpected EOF") {
		t.Errorf("the log does not say what broke: %s", log)
	}
	if log := d.log.String(); strings.Contains(log, "s3cret") {
		t.Errorf("a secret is in the log: %s", log)
	}
}

// TestSlowAnswers wants what failed because the time for an answer was over to be told
// as that, and mistakes and refusals as what they are.
func TestSlowAnswers(t *testing.T) {
	d := newPatientDesk(t, api.Limits{}, -1)
	d.want("POST", "/x/v2/broken", "", 504, failure("TIMEOUT", "The exchange took too long to answer; ask again"))
	d.want("POST", "/x/v2/poor", "", 406, failure("INSUF_BALANCE", "Not enough"))
	d.want("POST", "/x/v2/confirmed", "", 511, failure("REQUIRE_2FA", "a***@example.com"))
	if d.log.Len() != 0 {
		t.Errorf("logged was %s", d.log.String())
	}
}

// TestClientThatLeaves is gone before the answer is there: that is no failure of
// ours.
func TestClientThatLeaves(t *testing.T) {
	d := newDesk(t, api.Limits{})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	d.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "POST", "/x/v2/broken", nil))
	if d.log.Len() != 0 {
		t.Errorf("logged was %s", d.log.String())
	}
}
