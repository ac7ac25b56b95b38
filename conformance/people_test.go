package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

var restChecks = []check{
	bearerKeys, scopesOfV2, errorsOfV2, parametersOfV2, pagesOfV2, cursorsOfV2, idsOfV2,
}

var peopleChecks = []check{
	signingUp, signingUpAgain, captchaOff, loggingIn, sessionsListed, sessionsEnded, keysMade, keysChanged, keyMadeOnce,
	addressChanged, passwordChanged, passwordReset, confirmedByMail, wrongCodes, codesOfAnApplication, casesSwitched, activityListed,
}

func TestREST(t *testing.T)   { examine(t, restChecks) }
func TestPeople(t *testing.T) { examine(t, peopleChecks) }

// rest sends a request below /account/v2, with a key unless it is empty. Headers
// are names and values.
func (x *exam) rest(method, path, key string, body fields, headers ...string) *answer {
	x.Helper()
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			x.broken("%v", err)
		}
		text = string(b)
	}
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return x.send(method, "/account/v2"+path, text, header)
}

// gives wants status 200 and an answer.
func (x *exam) gives(a *answer, pattern string) {
	x.Helper()
	if a.status != http.StatusOK {
		x.Errorf("status %d %s, want 200", a.status, a.body)
		return
	}
	x.match(a.value, pattern)
}

// refuses wants a status and a code.
func (x *exam) refuses(a *answer, status int, code string) {
	x.Helper()
	if a.status != status {
		x.Errorf("status %d %s, want %d", a.status, a.body, status)
	}
	x.match(a.value, `{"error":{"code":"`+code+`","msg":"#text"}}`)
}

const goodPassword = "correct horse"

// person is somebody who signed up.
type person struct {
	x     *exam
	email string
	// key is that of a session.
	key string
}

// stranger returns somebody who has not signed up.
func (x *exam) stranger() *person {
	return &person{x: x, email: fmt.Sprintf("p%d-%s@example.com", accounts.Add(1), x.exchange.pool.run)}
}

// person signs somebody up and logs in, past any proxy.
func (x *exam) person() *person {
	x.Helper()
	p := x.stranger()
	p.behind(http.MethodPost, "/signup", fields{"email": p.email, "password": goodPassword})
	p.behind(http.MethodPatch, "/signup", fields{"email": p.email, "code": p.code()})
	p.key = p.session()
	return p
}

// session logs in, past any proxy.
func (p *person) session() string {
	p.x.Helper()
	guest := person{x: p.x, email: p.email}
	return guest.behind(http.MethodPost, "/sessions", fields{"email": p.email, "password": goodPassword}).get("apiKey").text
}

// behind asks the exchange itself.
func (p *person) behind(method, path string, body fields) *value {
	p.x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		p.x.broken("%v", err)
	}
	header := http.Header{}
	if p.key != "" {
		header.Set("Authorization", "Bearer "+p.key)
	}
	a, err := p.x.exchange.send(method, p.x.exchange.url+"/account/v2"+path, string(b), header)
	if err != nil || a.status != http.StatusOK {
		p.x.broken("%s %s: %v %s", method, path, err, a.body)
	}
	return a.value
}

// code returns the code that was mailed last.
func (p *person) code() string {
	p.x.Helper()
	return text(p.x.operate("mail", "last", p.email)["code"])
}

func (p *person) ask(method, path string, body fields) *answer {
	p.x.Helper()
	return p.x.rest(method, path, p.key, body)
}

// confirm asks, and again with the code that is mailed, past any proxy.
func (p *person) confirm(method, path string, body fields) *value {
	p.x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		p.x.broken("%v", err)
	}
	header := http.Header{"Authorization": {"Bearer " + p.key}}
	if _, err := p.x.exchange.send(method, p.x.exchange.url+"/account/v2"+path, string(b), header); err != nil {
		p.x.broken("%s %s: %v", method, path, err)
	}
	return p.behind(method, path, body.with("code2FA", p.code()))
}

// otherCode returns a code that is not this one.
func otherCode(code string) string {
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

func bearerKeys(x *exam) {
	p := x.person()
	x.covers("REST-KEY-1")
	x.refuses(x.rest("GET", "/email", "", nil), 401, "UNAUTHORIZED")
	x.gives(p.ask("GET", "/email", nil), `{"email":"`+p.email+`","pendingChange":null}`)
	x.covers("REST-KEY-2")
	bad := "00000000000000000000000000000000000000000000000000000000000000ff"
	x.refuses(x.rest("GET", "/email", bad, nil), 403, "INVALID_KEY")
	x.refuses(x.rest("POST", "/signup", bad, fields{}), 403, "INVALID_KEY")
	x.refuses(x.rest("GET", "/email", "", nil, "Authorization", "Basic "+p.key), 403, "INVALID_KEY")
}

func scopesOfV2(x *exam) {
	p := x.person()
	key := p.behind("POST", "/api-keys", fields{"description": "all", "scopes": []string{"read", "trade", "withdraw"}}).get("apiKey").text
	trade := p.behind("POST", "/api-keys", fields{"description": "trade", "scopes": []string{"trade"}}).get("apiKey").text
	x.covers("REST-KEY-3")
	x.gives(x.rest("GET", "/email", key, nil), `{"email":"#text","pendingChange":null}`)
	x.refuses(x.rest("GET", "/email", trade, nil), 403, "FORBIDDEN")
	x.refuses(x.rest("POST", "/api-keys", key, fields{"description": "more"}), 403, "FORBIDDEN")
	x.covers("REST-KEY-4")
	x.refuses(x.rest("POST", "/sessions", p.key, fields{"email": p.email, "password": goodPassword}), 403, "ALREADY_LOGGED_IN")
}

func errorsOfV2(x *exam) {
	p := x.person()
	x.covers("REST-ERR-1", "REST-ERR-2")
	x.refuses(x.rest("GET", "/nothing", "", nil), 404, "INVALID_ENDPOINT")
	x.refuses(p.ask("POST", "/email/more", nil), 404, "INVALID_ENDPOINT")
	x.covers("REST-ERR-3")
	a := p.ask("POST", "/email", nil)
	x.refuses(a, 405, "METHOD_NOT_ALLOWED")
	x.equal("Allow", a.header.Get("Allow"), "DELETE, GET, PATCH, PUT, OPTIONS")
	x.covers("REST-ERR-4")
	a = p.ask("PUT", "/password", fields{"password": goodPassword})
	x.refuses(a, 400, "MISSING_DATA")
	x.equal("msg", a.value.get("error").get("msg").text, "Missing data: oldPassword")
	x.refuses(p.ask("PUT", "/password", fields{"oldPassword": 7, "password": goodPassword}), 400, "VALIDATION_ERROR")
	for _, body := range []string{`[]`, `{`, `{"email":"a@b.c","email":"a@b.c"}`, `{} {}`} {
		x.refuses(x.send("POST", "/account/v2/signup", body, nil), 400, "VALIDATION_ERROR")
	}
	x.covers("REST-ERR-5")
	x.gives(p.ask("PUT", "/password", fields{"oldPassword": goodPassword, "password": goodPassword}), `{}`)
}

func parametersOfV2(x *exam) {
	p := x.person()
	p.session()
	auth := http.Header{"Authorization": {"Bearer " + p.key}}
	x.covers("REST-PAR-1")
	x.equal("sessions", fmt.Sprint(len(p.behind("GET", "/sessions?limit=1", nil).get("sessions").items)), "1")
	a := x.send("GET", "/account/v2/sessions", `{"limit":0}`, auth)
	x.equal("more", a.value.get("more").String(), "false")
	x.refuses(x.rest("PUT", "/password?oldPassword=a&password=b", p.key, fields{}), 400, "MISSING_DATA")
	x.refuses(p.ask("PUT", "/password", nil), 400, "MISSING_DATA")
	x.refuses(p.ask("DELETE", "/email", nil), 404, "NOT_FOUND")
	x.covers("REST-PAR-2")
	x.refuses(p.ask("GET", "/sessions?limit=1&limit=1", nil), 400, "VALIDATION_ERROR")
	x.refuses(p.ask("GET", "/sessions?Limit=1", nil), 400, "VALIDATION_ERROR")
}

const sessionForm = `{"sid":"#id","lastAct":"#unix","browser":null,"os":null,"device":null,"current":%v}`

func pagesOfV2(x *exam) {
	p := x.person()
	p.session()
	first, second := fmt.Sprintf(sessionForm, true), fmt.Sprintf(sessionForm, false)
	anonymous := func(query string) *answer {
		x.Helper()
		return x.rest("GET", "/sessions"+query, p.key, nil, "User-Agent", "x")
	}
	x.covers("REST-PAGE-1")
	x.named(anonymous(""), `{"sessions":[`+first+`,`+second+`],"more":false}`)
	x.named(anonymous("?limit=1"), `{"sessions":[`+first+`],"more":true}`)
	x.named(anonymous("?limit=1&offset=1"), `{"sessions":[`+second+`],"more":false}`)
	x.named(anonymous("?limit=500&offset=2"), `{"sessions":[],"more":false}`)
	x.covers("REST-PAGE-2")
	x.refuses(anonymous("?limit=0"), 400, "VALIDATION_ERROR")
	x.refuses(anonymous("?limit=-1"), 400, "VALIDATION_ERROR")
	x.refuses(anonymous("?limit=501"), 406, "LIMIT_OUT_OF_RANGE")
}

// named is gives for sessions whose clients are whatever sends these requests.
func (x *exam) named(a *answer, pattern string) {
	x.Helper()
	for _, row := range append([]*value{a.value}, a.value.get("sessions").items...) {
		for i, m := range row.members {
			if m.name == "browser" || m.name == "os" || m.name == "device" {
				if m.value.kind == '"' {
					row.members[i].value = &value{kind: 'n'}
				}
			}
		}
	}
	x.gives(a, pattern)
}

func cursorsOfV2(x *exam) {
	p := x.person()
	p.session()
	x.covers("REST-PAGE-3")
	a := p.ask("GET", "/activity?limit=2", nil)
	x.match(a.value.get("cursor"), `"#id"`)
	x.same("kinds", a.value.get("entries").column("kind"), "LOGIN", "LOGIN")
	a = p.ask("GET", "/activity?limit=2&cursor="+url.QueryEscape(a.value.get("cursor").text), nil)
	x.same("kinds", a.value.get("entries").column("kind"), "SIGNUP")
	x.match(a.value.get("cursor"), `null`)
	x.refuses(p.ask("GET", "/activity?cursor=x", nil), 400, "VALIDATION_ERROR")
}

func idsOfV2(x *exam) {
	p, other := x.person(), x.person()
	id := p.behind("POST", "/api-keys", fields{"description": "mine"}).get("keyid").text
	x.covers("REST-ID-1")
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		x.refuses(other.ask(method, "/api-keys/"+id, nil), 403, "FORBIDDEN")
		x.refuses(other.ask(method, "/api-keys/4000000000", nil), 404, "NOT_FOUND")
	}
}

func signingUp(x *exam) {
	p := x.stranger()
	x.covers("ACC-SIGN-4")
	for _, password := range []string{"1234567", string(make([]byte, 255))} {
		x.refuses(x.rest("POST", "/signup", "", fields{"email": p.email, "password": password}), 400, "VALIDATION_ERROR")
	}
	x.covers("ACC-SIGN-1")
	x.gives(x.rest("POST", "/signup", "", fields{"email": p.email, "password": goodPassword}), `{}`)
	code := p.code()
	x.covers("ACC-SIGN-4")
	x.refuses(x.rest("PATCH", "/signup", "", fields{"email": p.email, "code": "12345"}), 400, "VALIDATION_ERROR")
	x.covers("ACC-SIGN-2")
	x.refuses(x.rest("PATCH", "/signup", "", fields{"email": p.email, "code": otherCode(code)}), 401, "INVALID_VERIFICATION_CODE")
	x.covers("ACC-SIGN-1")
	x.gives(x.rest("PATCH", "/signup", "", fields{"email": p.email, "code": code}), `{}`)
	x.covers("ACC-SIGN-2")
	x.refuses(x.rest("PATCH", "/signup", "", fields{"email": p.email, "code": code}), 401, "INVALID_VERIFICATION_CODE")
}

func signingUpAgain(x *exam) {
	p := x.person()
	x.covers("ACC-SIGN-3")
	x.gives(x.rest("POST", "/signup", "", fields{"email": p.email, "password": goodPassword}), `{}`)
	x.equal("mailed code", p.code(), "")
}

func captchaOff(x *exam) {
	x.covers("ACC-SIGN-5")
	x.gives(x.rest("GET", "/signup/captcha?email=a@example.com", "", nil), `{"challenge":null,"img":null}`)
}

func loggingIn(x *exam) {
	p := x.person()
	x.covers("ACC-LOG-1")
	a := x.rest("POST", "/sessions", "", fields{"email": p.email, "password": goodPassword, "remember": true})
	x.gives(a, `{"apiKey":"#text"}`)
	key := a.value.get("apiKey").text
	x.equal("length", fmt.Sprint(len(key)), "64")
	x.equal("success over V1", x.wallet("/balances", fields{"api_key": key}).value.get("success").String(), "true")
	x.covers("ACC-LOG-2")
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": "wrong horse"}), 401, "LOGIN_FAILED")
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": x.stranger().email, "password": "wrong horse"}), 401, "LOGIN_FAILED")
}

func sessionsListed(x *exam) {
	p := x.person()
	p.session()
	x.covers("ACC-SES-1")
	a := p.ask("GET", "/sessions", nil)
	x.named(a, `{"sessions":[`+fmt.Sprintf(sessionForm, true)+`,`+fmt.Sprintf(sessionForm, false)+`],"more":false}`)
	x.named(p.ask("GET", "/sessions/current", nil), fmt.Sprintf(sessionForm, true))
	rows := p.behind("GET", "/sessions", nil).get("sessions").items
	x.named(p.ask("GET", "/sessions/"+rows[1].get("sid").text, nil), fmt.Sprintf(sessionForm, false))
}

func sessionsEnded(x *exam) {
	p := x.person()
	other := p.session()
	sid := p.behind("GET", "/sessions", nil).get("sessions").items[1].get("sid").text
	x.covers("ACC-SES-2")
	x.gives(p.ask("DELETE", "/sessions/"+sid, nil), `{}`)
	x.refuses(x.rest("GET", "/email", other, nil), 403, "INVALID_KEY")
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
	x.gives(p.ask("DELETE", "/sessions", nil), `{}`)
	x.refuses(p.ask("GET", "/email", nil), 403, "INVALID_KEY")
}

func keysMade(x *exam) {
	p := x.person()
	x.covers("ACC-KEY-1")
	a := p.ask("POST", "/api-keys", fields{"description": "one"})
	x.gives(a, `{"keyid":"#id","apiKey":"#text","description":"one","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	key := a.value.get("apiKey").text
	x.gives(x.rest("GET", "/email", key, nil), `{"email":"#text","pendingChange":null}`)
	a = p.ask("POST", "/api-keys", fields{
		"description": "two", "scopes": []string{"withdraw"}, "ips": []string{"192.0.2.1", "2001:db8::/32"}, "expires": 4000000000,
	})
	const two = `"description":"two","scopes":["withdraw"],"ips":["192.0.2.1","2001:db8::/32"],"expires":4000000000,"lastAct":null}`
	x.gives(a, `{"keyid":"#id","apiKey":"#text",`+two)
	x.covers("ACC-KEY-2")
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "one"}), 409, "CONFLICT")
	x.covers("ACC-KEY-3")
	x.gives(p.ask("GET", "/api-keys?offset=1", nil), `{"apiKeys":[{"keyid":"#id",`+two+`],"more":false}`)
	id := p.behind("GET", "/api-keys?offset=1", nil).get("apiKeys").items[0].get("keyid").text
	x.gives(p.ask("GET", "/api-keys/"+id, nil), `{"keyid":`+id+`,`+two)
}

func keysChanged(x *exam) {
	p := x.person()
	made := p.behind("POST", "/api-keys", fields{"description": "one"})
	id, key := made.get("keyid").text, made.get("apiKey").text
	x.covers("ACC-KEY-4")
	x.gives(p.ask("PATCH", "/api-keys/"+id, fields{"description": "uno", "scopes": []string{"trade"}}),
		`{"keyid":`+id+`,"description":"uno","scopes":["trade"],"ips":[],"expires":null,"lastAct":null}`)
	x.refuses(x.rest("GET", "/email", key, nil), 403, "FORBIDDEN")
	x.gives(p.ask("DELETE", "/api-keys/"+id, nil), `{}`)
	x.refuses(x.rest("GET", "/email", key, nil), 403, "INVALID_KEY")
	x.refuses(p.ask("DELETE", "/api-keys/"+id, nil), 404, "NOT_FOUND")
}

func keyMadeOnce(x *exam) {
	p := x.person()
	x.covers("ACC-KEY-5")
	const rest = `"description":"one","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`
	again := func(description string) *answer {
		x.Helper()
		return x.rest("POST", "/api-keys", p.key, fields{"description": description}, "Idempotency-Key", "once")
	}
	a := again("one")
	x.gives(a, `{"keyid":"#id","apiKey":"#text",`+rest)
	x.gives(again("one"), `{"keyid":`+a.value.get("keyid").text+`,"apiKey":null,`+rest)
	x.refuses(again("two"), 409, "CONFLICT")
}

func addressChanged(x *exam) {
	p, next := x.person(), x.stranger()
	show := func(email, pending string) string { return `{"email":"` + email + `","pendingChange":` + pending + `}` }
	change := fields{"email": next.email, "password": goodPassword}
	x.covers("ACC-PASS-1")
	x.refuses(p.ask("PUT", "/email", change.with("password", "wrong horse")), 401, "WRONG_PASSWORD")
	x.covers("ACC-MAIL-1")
	x.gives(p.ask("GET", "/email", nil), show(p.email, `null`))
	x.gives(p.ask("PUT", "/email", change), show(p.email, `"`+next.email+`"`))
	x.gives(p.ask("DELETE", "/email", nil), show(p.email, `null`))
	x.refuses(p.ask("PATCH", "/email", fields{"code": next.code()}), 401, "INVALID_VERIFICATION_CODE")
	x.gives(p.ask("PUT", "/email", change), show(p.email, `"`+next.email+`"`))
	x.gives(p.ask("PATCH", "/email", fields{"code": next.code()}), show(next.email, `null`))
}

func passwordChanged(x *exam) {
	p := x.person()
	other := p.session()
	x.covers("ACC-PASS-1")
	x.refuses(p.ask("PUT", "/password", fields{"oldPassword": "wrong horse", "password": "battery staple"}), 401, "WRONG_PASSWORD")
	x.gives(p.ask("PUT", "/password", fields{"oldPassword": goodPassword, "password": "battery staple"}), `{}`)
	x.refuses(x.rest("GET", "/email", other, nil), 403, "INVALID_KEY")
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": goodPassword}), 401, "LOGIN_FAILED")
}

func passwordReset(x *exam) {
	p := x.person()
	x.covers("ACC-PASS-2")
	x.gives(x.rest("DELETE", "/password", "", fields{"email": p.email}), `{}`)
	x.gives(x.rest("DELETE", "/password", "", fields{"email": x.stranger().email}), `{}`)
	reset := fields{"email": p.email, "code": p.code(), "password": "battery staple"}
	x.refuses(x.rest("PATCH", "/password", "", reset.with("code", otherCode(p.code()))), 401, "INVALID_VERIFICATION_CODE")
	x.gives(x.rest("PATCH", "/password", "", reset), `{}`)
	x.refuses(p.ask("GET", "/email", nil), 403, "INVALID_KEY")
	x.gives(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": "battery staple"}), `{"apiKey":"#text"}`)
}

const emailUsed = `{"providers":{"EMAIL":{"description":"#text","configured":true,"enabled":true},` +
	`"TOTP":{"description":"#text","configured":%v,"enabled":false}}}`

func confirmedByMail(x *exam) {
	p := x.person()
	cases := func(login bool) fields { return fields{"cases": fields{"LOGIN": login}} }
	x.covers("ACC-FAC-4")
	x.refuses(p.ask("PATCH", "/mfa/cases", fields{"cases": fields{"TRADE": true}}), 400, "VALIDATION_ERROR")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(true).with("code2FA", "12345")), 400, "VALIDATION_ERROR")
	x.covers("ACC-FAC-1")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(true)), 511, "REQUIRE_2FA")
	code := p.code()
	x.covers("ACC-FAC-3")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(false).with("code2FA", code)), 511, "REQUIRE_2FA")
	x.covers("ACC-FAC-1")
	const on = `{"cases":{"LOGIN":true,"WITHDRAWAL":false,"API_KEY":false}}`
	x.gives(p.ask("PATCH", "/mfa/cases", cases(true).with("code2FA", code)), on)
	x.covers("ACC-FAC-3")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(true).with("code2FA", code)), 511, "REQUIRE_2FA")
}

func wrongCodes(x *exam) {
	p := x.person()
	change := fields{"cases": fields{"LOGIN": true}}
	x.covers("ACC-FAC-2")
	x.refuses(p.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
	wrong := change.with("code2FA", otherCode(p.code()))
	for range 5 {
		x.refuses(p.ask("PATCH", "/mfa/cases", wrong), 403, "INVALID_2FA")
	}
	x.refuses(p.ask("PATCH", "/mfa/cases", wrong), 511, "REQUIRE_2FA")
}

// applicationCode returns the code that an authenticator application shows so
// many steps from now.
func (x *exam) applicationCode(address string, steps int) string {
	x.Helper()
	u, err := url.Parse(address)
	if err != nil {
		x.broken("%v", err)
	}
	code, err := totp.GenerateCode(u.Query().Get("secret"), time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		x.broken("%v", err)
	}
	return code
}

func codesOfAnApplication(x *exam) {
	p := x.person()
	x.covers("ACC-FAC-5")
	x.gives(p.ask("GET", "/mfa/providers", nil), fmt.Sprintf(emailUsed, false))
	x.refuses(p.ask("DELETE", "/mfa/providers/TOTP", nil), 405, "NOT_CONFIGURED")
	x.refuses(p.ask("POST", "/mfa/providers/EMAIL", nil), 405, "ALREADY_CONFIGURED")
	x.covers("ACC-FAC-6")
	x.refuses(p.ask("PUT", "/mfa/providers/TOTP", nil), 511, "REQUIRE_2FA")
	a := p.ask("PUT", "/mfa/providers/TOTP", fields{"code2FA": p.code()})
	x.gives(a, `{"url":"#text"}`)
	address := a.value.get("url").text
	if p, err := url.Parse(address); err != nil || p.Scheme != "otpauth" {
		x.Fatalf("url is %q", address)
	}
	x.gives(p.ask("GET", "/mfa/providers", nil), fmt.Sprintf(emailUsed, true))
	// The code of the step before leaves those of now and the next one unused.
	x.gives(p.ask("POST", "/mfa/providers/TOTP", fields{"code2FA": x.applicationCode(address, -1)}), `{}`)
	x.covers("ACC-FAC-5")
	x.refuses(p.ask("PUT", "/mfa/providers/GA", nil), 405, "ALREADY_CONFIGURED")
	x.covers("ACC-FAC-7")
	change := fields{"cases": fields{"LOGIN": false}}
	x.refuses(p.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
	code := x.applicationCode(address, 0)
	x.gives(p.ask("PATCH", "/mfa/cases", change.with("code2FA", code)), `{"cases":{"LOGIN":false,"WITHDRAWAL":false,"API_KEY":false}}`)
	x.refuses(p.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
	x.refuses(p.ask("PATCH", "/mfa/cases", change.with("code2FA", code)), 403, "INVALID_2FA")
	x.refuses(p.ask("POST", "/mfa/providers/EMAIL", nil), 511, "REQUIRE_2FA")
	x.gives(p.ask("POST", "/mfa/providers/EMAIL", fields{"code2FA": x.applicationCode(address, 1)}), `{}`)
	x.gives(p.ask("GET", "/mfa/providers", nil), fmt.Sprintf(emailUsed, true))
}

func casesSwitched(x *exam) {
	p := x.person()
	x.covers("ACC-CASE-1")
	x.gives(p.ask("GET", "/mfa/cases", nil), `{"cases":{"LOGIN":false,"WITHDRAWAL":false,"API_KEY":false}}`)
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"LOGIN": true, "WITHDRAWAL": true}})
	x.gives(p.ask("GET", "/mfa/cases", nil), `{"cases":{"LOGIN":true,"WITHDRAWAL":true,"API_KEY":false}}`)
	x.covers("ACC-CASE-2")
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": goodPassword}), 511, "REQUIRE_2FA")
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "two", "scopes": []string{"withdraw"}}), 511, "REQUIRE_2FA")
	p.behind("POST", "/api-keys", fields{"description": "one"})
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"API_KEY": true}})
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "two"}), 511, "REQUIRE_2FA")
}

func activityListed(x *exam) {
	p := x.person()
	x.covers("ACC-ACT-1")
	a := p.ask("GET", "/activity", nil)
	x.same("kinds", a.value.get("entries").column("kind"), "LOGIN", "SIGNUP")
	for _, row := range a.value.get("entries").items {
		x.equal("fields", row.names(), "time kind ip device detail")
		x.match(row.get("time"), `"#unix"`)
		x.match(row.get("ip"), `"#text"`)
	}
}
