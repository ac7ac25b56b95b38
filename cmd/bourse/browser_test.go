package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/bourse-exchange/bourse/internal/account/authenticator"
	"github.com/bourse-exchange/bourse/internal/describe"
)

// browser is a page of the exchange in a browser: it keeps the cookie, and sends the headers
// that browsers send.
type browser struct {
	*server
	cookie *http.Cookie
	// got is the last answer, and text its body.
	got  *http.Response
	text string
}

// ask sends a request of the page; an empty body is none.
func (b *browser) ask(method, path, body string) int {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	must(b.t, err)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if b.cookie != nil {
		req.AddCookie(b.cookie)
	}
	b.got, err = http.DefaultClient.Do(req)
	must(b.t, err)
	text, err := io.ReadAll(b.got.Body)
	must(b.t, errors.Join(err, b.got.Body.Close()))
	b.text = string(text)

	for _, c := range b.got.Cookies() {
		if b.cookie = c; c.MaxAge < 0 {
			b.cookie = nil
		}
	}
	return b.got.StatusCode
}

// want sends a request, and wants a status and a text in the answer.
func (b *browser) want(status int, text, method, path, body string) {
	b.t.Helper()
	if got := b.ask(method, path, body); got != status || !strings.Contains(b.text, text) {
		b.t.Fatalf("%s %s %s: %d %s, want %d %s", method, path, body, got, b.text, status, text)
	}
}

// letter is a letter as /dev/mail shows it.
type letter struct {
	To, Subject, Text, Code string
	Time                    int64
}

// code returns the code in the last letter to an address.
func (b *browser) code(to string) string {
	b.t.Helper()
	letters := b.letters(to)
	if len(letters) == 0 || letters[0].To != to || letters[0].Time == 0 || !strings.Contains(letters[0].Text, letters[0].Code) {
		b.t.Fatalf("letters to %s: %+v", to, letters)
	}
	return letters[0].Code
}

// letters returns the letters to an address, newest first.
func (b *browser) letters(to string) (list []letter) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+"/dev/mail?to="+url.QueryEscape(to), nil)
	must(b.t, err)
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(b.t, err)
	must(b.t, errors.Join(json.NewDecoder(res.Body).Decode(&list), res.Body.Close()))
	return list
}

// join signs up and logs in.
func (b *browser) join(email string) {
	b.t.Helper()
	b.want(200, `{}`, "POST", "/web/api/account/v2/signup", `{"email":"`+email+`","password":"correct horse"}`)
	b.want(200, `{}`, "PATCH", "/web/api/account/v2/signup", `{"email":"`+email+`","code":"`+b.code(email)+`"}`)
	b.logIn(email)
}

func (b *browser) logIn(email string) {
	b.t.Helper()
	b.want(200, `"email":"`+email+`"`, "POST", "/web/session", `{"email":"`+email+`","password":"correct horse"}`)
	if b.cookie == nil || strings.Contains(b.text, b.cookie.Value) {
		b.t.Fatalf("logged in with the cookie %v: %s", b.cookie, b.text)
	}
}

// TestCookieSession leads a person from sign-up to an order, in a page: with a second factor,
// by the endpoints of both versions, over a crash, until the session has ended.
func TestCookieSession(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	b := &browser{server: s}
	b.want(200, `{"account":null,"sandbox":true}`, "GET", "/web/session", "")
	b.join("ada@example.org")

	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	if c := b.cookie; c.Name != "__Host-bourse-"+port || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode ||
		c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || len(c.Value) != 64 {
		t.Errorf("the cookie is %+v", c)
	}
	b.want(200, `"frozen":false,"heldUntil":null,"termsAccepted":true,"factors":["EMAIL"],"sandbox":true}`, "GET", "/web/session", "")
	v, err := describe.NewValidator()
	must(t, err)
	must(t, v.Exchange("GET", "/web/session", nil, 200, []byte(b.text)))

	// The faucet, an order and a withdrawal's fee, by V2, V1 and both.
	b.want(200, `{"asset":"USDT","amount":"50000"}`, "POST", "/web/api/wallet/v2/faucet", `{"asset":"USDT"}`)
	b.want(200, `"symbol":"USDT"`, "GET", "/web/api/wallet/v2/balances?nonZero", "")
	b.want(200, `"status":"OPEN"`, "POST", "/web/api/spot/open_orders/new",
		`{"pair":"BTC/USDT","type":"LIMIT","side":"BUY","time_in_force":"GTC","price":"50000","amount":"0.1","resp_type":"ACK"}`)
	b.want(200, `"locked":"5000"`, "GET", "/web/api/wallet/v2/balances/USDT", "")
	b.want(200, `"success":true`, "POST", "/web/api/wallet/balances", `{"offset":0}`)

	// A second factor confirms the same request, in the page as elsewhere.
	const cases = `{"cases":{"LOGIN":true}}`
	b.want(511, `"REQUIRE_2FA"`, "PATCH", "/web/api/account/v2/mfa/cases", cases)
	b.want(200, `"LOGIN"`, "PATCH", "/web/api/account/v2/mfa/cases",
		`{"cases":{"LOGIN":true},"code2FA":"`+b.code("ada@example.org")+`"}`)

	// The session is in the journal; only the cookie's name has the new port.
	s.kill()
	s.start()
	_, port, err = net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	b.cookie.Name = "__Host-bourse-" + port
	b.want(200, `"email":"ada@example.org"`, "GET", "/web/session", "")

	b.want(200, `{}`, "DELETE", "/web/session", "")
	if b.cookie != nil {
		t.Error("logging out left the cookie")
	}
	b.want(200, `"UNAUTHORIZED"`, "POST", "/web/api/spot/open_orders", `{"offset":0}`)
	b.want(401, `"UNAUTHORIZED"`, "GET", "/web/api/wallet/v2/balances", "")
	const logIn = `{"email":"ada@example.org","password":"correct horse","remember":true`
	b.want(511, `"REQUIRE_2FA"`, "POST", "/web/session", logIn+`}`)
	b.want(200, `"account":`, "POST", "/web/session", logIn+`,"code2FA":"`+b.code("ada@example.org")+`"}`)
	if b.cookie == nil || b.cookie.MaxAge < 29*24*3600 {
		t.Errorf("a session to remember has the cookie %v", b.cookie)
	}
	b.want(403, `"ALREADY_LOGGED_IN"`, "POST", "/web/session", logIn+`}`)
}

// TestCookieMeansNothingElsewhere wants the cookie to open the paths for pages alone, and those
// to take nothing else; and an ended session to leave no page stuck.
func TestCookieMeansNothingElsewhere(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	b := &browser{server: s}
	b.join("ada@example.org")
	b.want(401, `"UNAUTHORIZED"`, "GET", "/wallet/v2/balances", "")
	b.want(200, `"MISSING_DATA"`, "POST", "/spot/open_orders", `{"offset":0}`)

	// A key is refused below /web, and as a cookie it is no session.
	_, key := s.customer("bob")
	if a := s.rest("GET", "/web/api/wallet/v2/balances", key, nil); a.Status != 400 || a.Error.Code != "VALIDATION_ERROR" {
		t.Errorf("a key below /web: %+v", a)
	}
	a, err := post(http.DefaultClient, s.url, "/web/api/spot/open_orders", map[string]any{"api_key": key, "offset": 0})
	if err != nil || a.Success || a.Code != "UNAUTHORIZED" {
		t.Errorf("a key in a body below /web: %+v %v", a, err)
	}
	thief := &browser{server: s, cookie: &http.Cookie{Name: b.cookie.Name, Value: key}}
	thief.want(200, `{"account":null,"sandbox":true}`, "GET", "/web/session", "")
	if thief.cookie != nil {
		t.Error("a key stays in the cookie")
	}

	// No endpoint there hands out the secret of a session.
	const logIn = `{"email":"ada@example.org","password":"correct horse"}`
	guest := &browser{server: s}
	guest.want(404, `"INVALID_ENDPOINT"`, "POST", "/web/api/account/login", logIn)
	guest.want(404, `"INVALID_ENDPOINT"`, "POST", "/web/api/account/session/check", `{"api_key":"`+key+`"}`)
	guest.want(405, `"METHOD_NOT_ALLOWED"`, "POST", "/web/api/account/v2/sessions", logIn)
	guest.want(405, `"METHOD_NOT_ALLOWED"`, "POST", "/web/api/account/v2/sessions/passkey", `{}`)

	// Ended from elsewhere, the session is none, and its cookie goes.
	ended := *b.cookie
	other := s.rest("POST", "/account/v2/sessions", "", map[string]any{"email": "ada@example.org", "password": "correct horse"}).Key
	if a := s.rest("DELETE", "/account/v2/sessions", other, nil); a.Status != 200 {
		t.Fatalf("ending all sessions: %+v", a)
	}
	b.want(401, `"UNAUTHORIZED"`, "GET", "/web/api/wallet/v2/balances", "")
	if b.cookie != nil {
		t.Error("the cookie of an ended session stays")
	}
	b.cookie = &ended
	b.logIn("ada@example.org")
}

// dial opens a stream as a page does.
func (b *browser) dial(origin string) (net.Conn, error) {
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	if b.cookie != nil {
		h.Set("Cookie", b.cookie.Name+"="+b.cookie.Value)
	}
	d := ws.Dialer{Header: ws.HandshakeHeaderHTTP(h)}
	conn, _, _, err := d.Dial(b.t.Context(), "ws"+strings.TrimPrefix(b.url, "http")+"/web/stream")
	if err == nil {
		b.t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

// said sends a request on a stream, and returns the answer.
func (b *browser) said(conn net.Conn, request string) string {
	b.t.Helper()
	must(b.t, wsutil.WriteClientText(conn, []byte(request)))
	text, err := wsutil.ReadServerText(conn)
	must(b.t, err)
	return string(text)
}

// TestCookieStream wants a page's stream to be its account's until the session ends, a guest's
// to be nobody's, and a foreign page to get none.
func TestCookieStream(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	b, guest := &browser{server: s}, &browser{server: s}
	b.join("ada@example.org")

	for _, origin := range []string{"", "null", "http://evil.example", "http://127.0.0.1:1", strings.Replace(s.url, "http", "https", 1)} {
		var refused ws.StatusError
		if _, err := b.dial(origin); !errors.As(err, &refused) || refused != 403 {
			t.Errorf("origin %q: %v", origin, err)
		}
	}

	const own = `{"op":"sub","id":1,"streams":["myOrders"]}`
	nobodys, err := guest.dial(s.url)
	must(t, err)
	if got := guest.said(nobodys, own); !strings.Contains(got, `"success":false`) || !strings.Contains(got, `"UNAUTHORIZED"`) {
		t.Errorf("a guest's subscription: %s", got)
	}
	if got := guest.said(nobodys, `{"op":"sub","id":2,"streams":["BTC/USDT@trades"]}`); strings.Contains(got, `"UNAUTHORIZED"`) {
		t.Errorf("a guest's public subscription: %s", got)
	}

	conn, err := b.dial(s.url)
	must(t, err)
	if got := b.said(conn, own); !strings.Contains(got, `"success":true`) {
		t.Fatalf("subscribed: %s", got)
	}
	b.want(200, `"account"`, "GET", "/web/session", "")
	b.want(200, `"amount"`, "POST", "/web/api/wallet/v2/faucet", `{"asset":"USDT"}`)
	b.want(200, `"OPEN"`, "POST", "/web/api/spot/open_orders/new",
		`{"pair":"BTC/USDT","type":"LIMIT","side":"BUY","time_in_force":"GTC","price":"50000","amount":"0.1","resp_type":"ACK"}`)
	text, err := wsutil.ReadServerText(conn)
	if err != nil || !bytes.Contains(text, []byte("50000")) {
		t.Errorf("a message of the own order: %s %v", text, err)
	}

	b.want(200, `{}`, "DELETE", "/web/session", "")
	var closed wsutil.ClosedError
	if text, err := wsutil.ReadServerText(conn); !errors.As(err, &closed) || closed.Code != ws.StatusPolicyViolation {
		t.Errorf("the stream of an ended session: %s %v", text, err)
	}
}

// TestProductionHasNoSandbox asks an exchange with real money for what a sandbox has.
func TestProductionHasNoSandbox(t *testing.T) {
	s := &server{t: t, data: t.TempDir()}
	s.startAs("serve")
	t.Cleanup(s.kill)
	for _, r := range [][2]string{
		{"GET", "/dev/mail?to=ada@example.org"}, {"GET", "/dev/mail"}, {"GET", "/dev/"},
		{"POST", "/wallet/v2/faucet"}, {"POST", "/web/api/wallet/v2/faucet"},
	} {
		var body map[string]any
		if r[0] == "POST" {
			body = map[string]any{"asset": "BTC"}
		}
		if a := s.rest(r[0], r[1], "", body, "Content-Type", "application/json"); a.Status != 404 || a.Error.Code != "INVALID_ENDPOINT" {
			t.Errorf("%s %s: %+v", r[0], r[1], a)
		}
	}
	b := &browser{server: s}
	b.want(200, `{"account":null,"sandbox":false}`, "GET", "/web/session", "")
}

// TestPasskeyInAPage logs a page in by a passkey alone: the cookie is set as after a password, no answer has the secret, and
// what the challenge was answered with once, or from another origin, is worth nothing.
func TestPasskeyInAPage(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	d := authenticator.New("http://localhost:" + port)
	b := &browser{server: s}
	b.join("ada@example.org")

	const add = "/web/api/account/v2/mfa/passkeys"
	b.want(511, `"REQUIRE_2FA"`, "PUT", add, `{}`)
	b.want(200, `"passkey"`, "PUT", add, `{"code2FA":"`+b.code("ada@example.org")+`"}`)
	made, err := d.Create(b.passkey())
	must(t, err)
	b.want(200, `"number":1`, "POST", add, `{"name":"phone","passkey":`+string(made)+`}`)

	const logIn = "/web/session/passkey"
	b.want(403, `"ALREADY_LOGGED_IN"`, "PUT", logIn, `{}`)
	b.want(200, `{}`, "DELETE", "/web/session", "")
	b.want(200, `"passkey"`, "PUT", logIn, `{}`)
	v, err := describe.NewValidator()
	must(t, err)
	must(t, v.Exchange("PUT", logIn, []byte(`{}`), 200, []byte(b.text)))

	foreign := *d
	foreign.Origin = "http://localhost:1"
	lie, err := foreign.Get(b.passkey())
	must(t, err)
	assertion, err := d.Get(b.passkey())
	must(t, err)
	b.want(401, `"LOGIN_FAILED"`, "POST", logIn, `{"assertion":`+string(lie)+`}`)
	body := `{"assertion":` + string(assertion) + `,"remember":true}`
	b.want(200, `"factors":["WEBAUTHN","EMAIL"]`, "POST", logIn, body)
	must(t, v.Exchange("POST", logIn, []byte(body), 200, []byte(b.text)))
	if b.cookie == nil || b.cookie.MaxAge < 29*24*3600 || strings.Contains(b.text, b.cookie.Value) {
		t.Fatalf("logged in with the cookie %v: %s", b.cookie, b.text)
	}
	b.want(200, `"symbol"`, "GET", "/web/api/wallet/v2/balances", "")
	b.want(200, `{}`, "DELETE", "/web/session", "")
	b.want(401, `"LOGIN_FAILED"`, "POST", logIn, body)
}

// passkey returns what the last answer asks a passkey.
func (b *browser) passkey() []byte {
	b.t.Helper()
	var answer struct{ Passkey json.RawMessage }
	must(b.t, json.Unmarshal([]byte(b.text), &answer))
	return answer.Passkey
}
