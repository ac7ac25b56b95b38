package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var browserChecks = []check{pageLogsIn, pageRemembers, pageLogsOut, pageAsks, cookieElsewhere, foreignPages, pageStreams, pageTerms}

func TestBrowser(t *testing.T) { examine(t, browserChecks) }

// holderForm is the answer of the session of a page.
const holderForm = `{"account":"#id","email":"#text","expires":"#int","frozen":false,"heldUntil":null,"termsAccepted":true,"factors":["EMAIL"],"sandbox":true}`

// page is a page of the exchange, with the cookie of a session.
type page struct {
	*person
	cookie *http.Cookie
}

// page returns the page of a person who logged in, past any proxy.
func (x *exam) page() *page {
	x.Helper()
	p := &page{person: x.person()}
	body, err := json.Marshal(p.given())
	if err != nil {
		x.broken("%v", err)
	}
	a, err := x.exchange.send(http.MethodPost, x.exchange.url+"/web/session", string(body), http.Header{"Content-Type": {"application/json"}})
	if err != nil || a.status != http.StatusOK {
		x.broken("logging in: %v %s", err, a.body)
	}
	p.keep(a)
	return p
}

// given is what the person types to log in.
func (p *page) given() fields { return fields{"email": p.email, "password": goodPassword} }

// keep keeps the cookie that an answer sets.
func (p *page) keep(a *answer) {
	p.cookie = new(http.Cookie)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		p.cookie = c
	}
}

// ask sends a request with the cookie; headers are names and values.
func (p *page) ask(method, path string, body fields, headers ...string) *answer {
	p.x.Helper()
	if p.cookie != nil {
		headers = append([]string{"Cookie", p.cookie.Name + "=" + p.cookie.Value}, headers...)
	}
	return p.x.v2(method, path, "", body, append([]string{"Content-Type", "application/json"}, headers...)...)
}

func pageLogsIn(x *exam) {
	p := &page{person: x.person()}
	x.covers("ACC-WEB-1")
	a := p.ask("POST", "/web/session", p.given())
	x.gives(a, holderForm)
	x.equal("email", a.value.get("email").text, p.email)
	p.keep(a)
	name, _, _ := strings.Cut(p.cookie.Name, "-bourse")
	x.equal("prefix of the cookie", name, "__Host")
	x.equal("cookie", strings.ReplaceAll(p.cookie.String(), p.cookie.Value, "SECRET"),
		p.cookie.Name+"=SECRET; Path=/; HttpOnly; Secure; SameSite=Strict")
	if secret := p.cookie.Value; len(secret) != 64 || strings.Contains(string(a.body), secret) {
		x.Errorf("the secret %q, the answer %s", secret, a.body)
	}
	x.gives(x.rest("GET", "/email", p.cookie.Value, nil), `{"email":"`+p.email+`","pendingChange":null}`)
	x.refuses(p.ask("POST", "/web/session", p.given()), 403, "ALREADY_LOGGED_IN")

	x.covers("ACC-WEB-2")
	x.gives(p.ask("GET", "/web/session", nil), holderForm)
	x.gives((&page{person: p.person}).ask("GET", "/web/session", nil), `{"account":null,"sandbox":true}`)
}

func pageRemembers(x *exam) {
	p := &page{person: x.person()}
	x.covers("ACC-WEB-1")
	p.keep(p.ask("POST", "/web/session", p.given().with("remember", true)))
	if most := 30 * 24 * 3600; p.cookie.MaxAge > most || p.cookie.MaxAge < most-60 {
		x.Errorf("a session to remember is kept for %d seconds", p.cookie.MaxAge)
	}
	x.refuses((&page{person: p.person}).ask("POST", "/web/session", p.given().with("password", "wrong horse")), 401, "LOGIN_FAILED")
}

func pageLogsOut(x *exam) {
	p := x.page()
	x.covers("ACC-WEB-3")
	a := p.ask("DELETE", "/web/session", nil)
	x.gives(a, `{}`)
	x.equal("cookie", a.header.Get("Set-Cookie"), p.cookie.Name+"=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict")
	a = p.ask("GET", "/web/session", nil)
	x.gives(a, `{"account":null,"sandbox":true}`)
	x.equal("cookie", a.header.Get("Set-Cookie"), p.cookie.Name+"=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict")
	x.refuses(x.rest("GET", "/email", p.cookie.Value, nil), 403, "INVALID_KEY")
}

func pageAsks(x *exam) {
	p := x.page()
	x.covers("ACC-WEB-4")
	x.gives(p.ask("GET", "/web/api/account/v2/email", nil), `{"email":"`+p.email+`","pendingChange":null}`)
	x.gives(p.ask("GET", "/web/api/wallet/v2/balances?nonZero", nil), `{"balances":[],"more":false}`)
	x.gives(p.ask("POST", "/web/api/spot/open_orders", fields{"offset": 0}), `{"success":true,"orders":[]}`)
	x.gives(p.ask("POST", "/web/api/wallet/transactions", fields{"offset": 0}), `{"success":true,"transactions":[]}`)
	x.gives(p.ask("POST", "/web/api/info/v2/popup", fields{}), `{"success":true,"popups":[]}`)
	a := p.ask("GET", "/web/api/spot/time", nil)
	x.equal("status", fmt.Sprint(a.status), "405")
	x.equal("code", a.value.get("code").text, "METHOD_NOT_ALLOWED")
	x.equal("Allow", a.header.Get("Allow"), "POST, OPTIONS")

	guest := &page{person: p.person}
	x.refuses(guest.ask("GET", "/web/api/account/v2/email", nil), 401, "UNAUTHORIZED")
	x.match(guest.ask("POST", "/web/api/spot/open_orders", fields{"offset": 0}).value,
		`{"success":false,"error":"#text","code":"UNAUTHORIZED"}`)
	x.refuses(guest.ask("GET", "/web/api/account/v2/email", nil, "Authorization", "Bearer "+p.key), 400, "VALIDATION_ERROR")
	x.refuses(guest.ask("POST", "/web/api/account/login", p.given()), 404, "INVALID_ENDPOINT")
	x.refuses(guest.ask("POST", "/web/api/account/v2/sessions", p.given()), 405, "METHOD_NOT_ALLOWED")
}

func cookieElsewhere(x *exam) {
	p := x.page()
	x.covers("ACC-WEB-5")
	x.refuses(p.ask("GET", "/account/v2/email", nil), 401, "UNAUTHORIZED")
	x.match(p.ask("POST", "/spot/open_orders", fields{"offset": 0}).value, `{"success":false,"error":"#text","code":"MISSING_DATA"}`)
}

func foreignPages(x *exam) {
	p := x.page()
	const path = "/web/api/spot/open_orders/cancel_all"
	x.covers("ACC-WEB-6")
	for _, a := range []*answer{
		p.ask("POST", path, fields{}, "Sec-Fetch-Site", "cross-site"),
		p.ask("POST", path, fields{}, "Sec-Fetch-Site", "same-site"),
		p.ask("POST", path, fields{}, "Origin", "https://a.example"),
		p.ask("DELETE", "/web/session", nil, "Origin", "null"),
		p.ask("GET", "/web/session", nil, "Sec-Fetch-Site", "same-site"),
	} {
		x.refuses(a, 403, "FORBIDDEN")
		x.equal("Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "")
	}
	x.refuses(p.ask("POST", path, fields{}, "Content-Type", "text/plain"), 400, "VALIDATION_ERROR")
	a := p.ask("GET", "/web/session", nil)
	x.gives(a, holderForm)
	x.equal("Access-Control-Allow-Origin", a.header.Get("Access-Control-Allow-Origin"), "")
}

func pageStreams(x *exam) {
	p := x.page()
	x.covers("ACC-WEB-7")
	for _, origin := range []string{"https://a.example", "null", ""} {
		if s, err := x.dial("/web/stream", p.dialed(origin)); err == nil {
			x.Errorf("a page of %q has the stream %v", origin, s)
		}
	}
	own := fields{"streams": []string{"myOrders"}}
	s, err := x.dial("/web/stream", p.dialed(x.url))
	if err != nil {
		x.Fatalf("our own page has no stream: %v", err)
	}
	s.succeeds(s.ask("sub", own))

	guest := &page{person: p.person}
	if s, err = x.dial("/web/stream", guest.dialed(x.url)); err != nil {
		x.Fatalf("a guest has no stream: %v", err)
	}
	s.fails(s.ask("sub", own))
}

// pageTerms wants terms that are not the current ones to be refused. Whether there are any is the
// exchange's.
func pageTerms(x *exam) {
	p := x.page()
	x.covers("ACC-WEB-8")
	x.refuses(p.ask("POST", "/web/terms", fields{"version": "no-such-version"}), 400, "VALIDATION_ERROR")
	x.refuses(p.ask("POST", "/web/terms", fields{}), 400, "MISSING_DATA")
	x.refuses((&page{person: p.person}).ask("POST", "/web/terms", fields{"version": "1"}), 401, "UNAUTHORIZED")
	x.refuses(x.rest("PATCH", "/signup", "", fields{"email": p.email, "code": "000000", "terms": "no-such-version"}), 400, "VALIDATION_ERROR")
}

// dialed are the headers of a page of an origin that asks for a stream.
func (p *page) dialed(origin string) http.Header {
	h := http.Header{}
	if origin != "" {
		h.Set("Origin", origin)
	}
	if p.cookie != nil {
		h.Set("Cookie", p.cookie.Name+"="+p.cookie.Value)
	}
	return h
}
