package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var account1Checks = []check{
	secretsInBodies, sessionChecked, loggedInV1, confirmedLogInV1, guessedPasswordsV1, loggedOutV1, keysV1, keysChangedV1,
	keysNeedSession, keysConfirmedV1,
}

func TestAccountV1(t *testing.T) { examine(t, account1Checks) }

// v1 sends a request below /account.
func (x *exam) v1(path string, body fields) *answer {
	x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		x.broken("%v", err)
	}
	return x.send(http.MethodPost, "/account"+path, string(b), nil)
}

// v1 sends a request with the person's session.
func (p *person) v1(path string, body fields) *answer {
	p.x.Helper()
	return p.x.v1(path, body.with("api_key", p.key))
}

// logIn returns a log-in of the person.
func (p *person) logIn() fields { return fields{"email": p.email, "password": goodPassword} }

const (
	sessionBegun = `{"success":true,"api_key":"#secret"}`
	wrongLogIn   = "E-mail or password is wrong"
)

func secretsInBodies(x *exam) {
	p := x.person()
	x.covers("ACV-TRN-1", "ACV-TRN-2")
	x.answers(x.send(http.MethodGet, "/account/session/check", `{"api_key":"`+p.key+`"}`, nil), `{"success":true,"valid":true}`)
	for _, path := range []string{
		"/session/check?api_key=" + p.key, "/login?email=" + p.email + "&password=correct%20horse", "/logout?api_key=" + p.key,
	} {
		x.fails(x.send(http.MethodGet, "/account"+path, "", nil), "Request must be one JSON object")
		x.failed(x.send(http.MethodPost, "/account"+path, "{}", nil))
	}
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
}

func sessionChecked(x *exam) {
	p, a := x.person(), x.account()
	revoked, id := a.newKey("read")
	x.operate("key", "revoke", id)
	x.covers("ACV-CHK-1")
	for _, key := range []string{p.key, a.key} {
		x.answers(x.v1("/session/check", fields{"api_key": key}), `{"success":true,"valid":true}`)
	}
	for _, key := range []string{"", "x", strings.Repeat("0", 64), strings.Repeat("é", 32), p.key[:63], p.key + "0", revoked} {
		x.answers(x.v1("/session/check", fields{"api_key": key}), `{"success":true,"valid":false}`)
	}
	x.fails(x.v1("/session/check", fields{}), "Missing data: api_key")
	for _, bad := range []any{7, true, []string{p.key}} {
		x.failsNaming(x.v1("/session/check", fields{"api_key": bad}), "api_key")
	}
}

func loggedInV1(x *exam) {
	p := x.person()
	x.covers("ACV-LOG-1")
	a := x.v1("/login", p.logIn().with("remember", true))
	x.answers(a, sessionBegun)
	key := a.value.get("api_key").text
	x.gives(x.rest("GET", "/email", key, nil), `{"email":"#text","pendingChange":null}`)
	x.succeeds(x.wallet("/balances", fields{"api_key": key}))
	x.gives(x.rest("GET", "/sessions", key, nil),
		`{"sessions":[`+fmt.Sprintf(sessionForm, false)+`,`+fmt.Sprintf(sessionForm, true)+`],"more":false}`)
	x.same("kinds", p.ask("GET", "/activity", nil).value.get("entries").column("kind"), "LOGIN", "LOGIN", "SIGNUP")
	x.covers("ACV-LOG-2")
	x.fails(x.v1("/login", p.logIn().with("password", "wrong horse")), wrongLogIn)
	x.fails(x.v1("/login", x.stranger().logIn()), wrongLogIn)
	x.fails(x.v1("/login", fields{"email": p.email}), "Missing data: password")
	x.failsNaming(x.v1("/login", p.logIn().with("remember", "yes")), "remember")
	x.failsNaming(x.v1("/login", p.logIn().with("code_2fa", "12345")), "code_2fa")
}

func confirmedLogInV1(x *exam) {
	p := x.person()
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"LOGIN": true}})
	x.covers("ACV-LOG-3")
	x.fails(x.v1("/login", p.logIn().with("password", "wrong horse")), wrongLogIn)
	x.match(x.v1("/login", p.logIn()).value, needsFactor)
	code := p.code()
	x.fails(x.v1("/login", p.logIn().with("code_2fa", otherCode(code))), "The code is wrong")
	x.match(x.v1("/login", p.logIn().with("remember", true).with("code_2fa", code)).value, needsFactor)
	x.answers(x.v1("/login", p.logIn().with("code_2fa", code)), sessionBegun)
	x.match(x.v1("/login", p.logIn().with("code_2fa", code)).value, needsFactor)
}

func guessedPasswordsV1(x *exam) {
	p := x.person()
	wrong := p.logIn().with("password", "wrong horse")
	x.covers("ACV-LOG-4")
	past := x.past()
	for range 5 {
		past.refuses(past.rest("POST", "/sessions", "", wrong), 401, "LOGIN_FAILED")
	}
	for range 4 {
		past.fails(past.v1("/login", wrong), wrongLogIn)
	}
	x.fails(x.v1("/login", wrong), wrongLogIn)
	closed := x.v1("/login", p.logIn())
	x.equal("status", fmt.Sprint(closed.status), "429")
	x.waitsAnHour(closed)
	x.refuses(x.rest("POST", "/sessions", "", p.logIn()), 429, "RATE_LIMIT")
}

func loggedOutV1(x *exam) {
	p := x.person()
	other := p.session()
	x.covers("ACV-OUT-1")
	x.answers(x.v1("/logout", fields{"api_key": other}), `{"success":true}`)
	x.fails(x.v1("/logout", fields{"api_key": other}), "Unauthorized")
	x.refuses(x.rest("GET", "/email", other, nil), 403, "INVALID_KEY")
	x.answers(x.v1("/session/check", fields{"api_key": other}), `{"success":true,"valid":false}`)
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
}

func keysV1(x *exam) {
	p := x.person()
	x.covers("ACV-KEY-1")
	x.answers(p.v1("/api_keys/list", fields{}), `{"success":true,"sessions":{}}`)
	x.covers("ACV-KEY-2")
	const one, two = `"description":"one","kind":"secret","scopes":["read","trade"],"ips":[]`,
		`"description":"two","kind":"secret","scopes":["withdraw"],"ips":["192.0.2.1","2001:db8::/32"],"expires":"4000000000.000000"`
	a := p.v1("/api_keys/new", fields{"description": "one"})
	x.answers(a, `{"success":true,"sid":"#id","api_key":"#secret",`+one+`}`)
	b := p.v1("/api_keys/new", fields{
		"description": "two", "scopes": []string{"withdraw"}, "ips": []string{"192.0.2.1", "2001:db8::/32"}, "expires": 4000000000,
	})
	x.answers(b, `{"success":true,"sid":"#id","api_key":"#secret",`+two+`}`)
	x.fails(p.v1("/api_keys/new", fields{"description": "one"}), "description: there is a key with it")
	for name, bad := range map[string]any{
		"description": " ", "scopes": []string{"all"}, "ips": []string{"x"}, "expires": -1, "code_2fa": 123456,
	} {
		x.failsNaming(p.v1("/api_keys/new", fields{"description": "three"}.with(name, bad)), name)
	}
	x.covers("ACV-KEY-1")
	first, second := a.value.get("sid").text, b.value.get("sid").text
	x.answers(p.v1("/api_keys/list", fields{}), `{"success":true,"sessions":{"`+first+`":{`+one+`},"`+second+`":{`+two+`}}}`)
	x.same("keys of V2", p.ask("GET", "/api-keys", nil).value.get("apiKeys").column("keyid"), first, second)
	x.covers("ACV-KEY-2")
	x.succeeds(x.wallet("/balances", fields{"api_key": a.value.get("api_key").text}))
}

func keysChangedV1(x *exam) {
	p := x.person()
	made := p.behind("POST", "/api-keys", fields{"description": "one"})
	sid, key := made.get("keyid").text, made.get("apiKey").text
	x.covers("ACV-KEY-3")
	x.answers(p.v1("/api_keys/edit", fields{"sid": number(sid), "description": "uno", "scopes": []string{"trade"}}),
		`{"success":true,"sid":`+sid+`,"description":"uno","kind":"secret","scopes":["trade"],"ips":[]}`)
	x.fails(x.v1("/api_keys/list", fields{"api_key": key}), "Forbidden: the key has no scope read")
	stranger := x.person()
	for _, path := range []string{"/api_keys/edit", "/api_keys/remove"} {
		x.failed(stranger.v1(path, fields{"sid": number(sid)}))
		x.failed(p.v1(path, fields{"sid": 4503599627370495}))
		x.fails(p.v1(path, fields{}), "Missing data: sid")
		x.failsNaming(p.v1(path, fields{"sid": "x"}), "sid")
	}
	x.answers(p.v1("/api_keys/remove", fields{"sid": sid}), `{"success":true}`)
	x.answers(x.v1("/session/check", fields{"api_key": key}), `{"success":true,"valid":false}`)
	x.failed(p.v1("/api_keys/remove", fields{"sid": sid}))
}

func keysNeedSession(x *exam) {
	p := x.person()
	made := p.behind("POST", "/api-keys", fields{"description": "one", "scopes": []string{"read", "trade", "withdraw"}})
	key, sid := made.get("apiKey").text, made.get("keyid").text
	holder := &person{x: x, email: p.email, key: key}
	x.covers("ACV-KEY-4")
	for path, body := range map[string]fields{
		"/logout": {}, "/api_keys/new": {"description": "two"}, "/api_keys/edit": {"sid": sid, "description": "two"},
		"/api_keys/remove": {"sid": sid},
	} {
		x.fails(holder.v1(path, body), "Forbidden: it needs a session, not an API key")
		x.fails(x.v1(path, body), "Missing data: api_key")
	}
	x.same("keys", members(holder.v1("/api_keys/list", fields{}).value.get("sessions")), sid)
}

func keysConfirmedV1(x *exam) {
	p := x.person()
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"API_KEY": true}})
	x.covers("ACV-KEY-5")
	body := fields{"description": "one"}
	x.failsNaming(p.v1("/api_keys/new", fields{"description": ""}), "description")
	x.match(p.v1("/api_keys/new", body).value, needsFactor)
	code := p.code()
	x.fails(p.v1("/api_keys/new", body.with("code_2fa", otherCode(code))), "The code is wrong")
	made := p.v1("/api_keys/new", body.with("code_2fa", code))
	x.answers(made, `{"success":true,"sid":"#id","api_key":"#secret","description":"one","kind":"secret","scopes":["read","trade"],"ips":[]}`)
	sid := made.value.get("sid").text
	x.succeeds(p.v1("/api_keys/edit", fields{"sid": sid, "description": "uno"}))
	x.match(p.v1("/api_keys/edit", fields{"sid": sid, "scopes": []string{"read"}}).value, needsFactor)
}
