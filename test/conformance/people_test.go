package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
)

var peopleChecks = []check{
	signingUp, signingUpAgain, signUpsApart, captchaDrawn, loggingIn, sessionsListed, sessionsEnded, keysMade, keysChanged, keyMadeOnce,
	addressChanged, addressRestored, passwordChanged, passwordReset, confirmedByMail, wrongCodes, codesOfAnApplication, casesSwitched, activityListed,
	guessedPasswords, guessedCodes, confirmedLogIn, confirmedKey, passkeysMade, passkeysConfirm, passkeysLogIn, passkeyPays, newsChosen,
}

func TestREST(t *testing.T)   { examine(t, restChecks) }
func TestPeople(t *testing.T) { examine(t, peopleChecks) }

const goodPassword = "correct horse"

// person is a person with an e-mail address.
type person struct {
	x     *exam
	email string
	// key is a session's key.
	key string
}

// stranger returns a person who has not signed up.
func (x *exam) stranger() *person {
	return &person{x: x, email: fmt.Sprintf("p%d-%s@example.com", accounts.Add(1), x.exchange.pool.run)}
}

// person signs a person up and logs in, past any proxy.
func (x *exam) person() *person {
	x.Helper()
	p := x.stranger()
	p.sure("/signup", fields{"email": p.email, "password": goodPassword})
	p.behind(http.MethodPatch, "/signup", fields{"email": p.email, "code": p.code()})
	p.key = p.session()
	return p
}

// session logs in, past any proxy.
func (p *person) session() string {
	p.x.Helper()
	return p.sure("/sessions", fields{"email": p.email, "password": goodPassword}).get("apiKey").text
}

// sure sends a request that may be carried out twice, without a session and past any proxy, until its outcome is known.
func (p *person) sure(path string, body fields) *value {
	p.x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		p.x.broken("%v", err)
	}
	a, err := p.x.exchange.sure("/account/v2"+path, string(b))
	if err != nil || a.status != http.StatusOK {
		p.x.broken("%s: %v %s", path, err, a.body)
	}
	return a.value
}

// behind sends a request past any proxy.
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

// code returns the code of the last letter.
func (p *person) code() string {
	p.x.Helper()
	return text(p.x.operate("mail", "last", p.email)["code"])
}

func (p *person) ask(method, path string, body fields) *answer {
	p.x.Helper()
	return p.x.rest(method, path, p.key, body)
}

// confirm sends a request, then again with the mailed code, past any proxy.
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

// signUpsApart keeps two sign-ups of one address pending.
func signUpsApart(x *exam) {
	p := x.stranger()
	up := fields{"email": p.email, "password": goodPassword}
	p.behind(http.MethodPost, "/signup", up)
	mine := p.code()
	p.behind(http.MethodPost, "/signup", up.with("password", "battery staple"))
	theirs := p.code()
	verify := fields{"email": p.email, "code": mine}
	x.covers("ACC-SIGN-6")
	x.refuses(x.rest("PATCH", "/signup", "", verify), 401, "INVALID_VERIFICATION_CODE")
	x.refuses(x.rest("PATCH", "/signup", "", verify.with("code", theirs).with("password", goodPassword)), 401, "INVALID_VERIFICATION_CODE")
	x.gives(x.rest("PATCH", "/signup", "", verify.with("password", goodPassword)), `{}`)
	x.gives(x.rest("POST", "/sessions", "", up), `{"apiKey":"#text"}`)
}

func captchaDrawn(x *exam) {
	p := x.stranger()
	x.covers("ACC-SIGN-5")
	a := x.rest("GET", "/signup/captcha?email="+p.email, "", nil)
	x.gives(a, `{"challenge":"#text","img":"#text"}`)
	text, found := strings.CutPrefix(a.value.get("img").text, "data:image/png;base64,")
	picture, err := base64.StdEncoding.DecodeString(text)
	if _, broken := png.Decode(bytes.NewReader(picture)); !found || err != nil || broken != nil {
		x.Errorf("img is %.40q: %v %v", a.value.get("img").text, err, broken)
	}

	up := fields{"email": p.email, "password": goodPassword}
	half := up.with("captchaChallenge", a.value.get("challenge").text)
	x.refuses(x.rest("POST", "/signup", "", half), 400, "MISSING_DATA")
	x.refuses(x.rest("POST", "/signup", "", up.with("captchaResponse", "123456")), 400, "MISSING_DATA")
	x.gives(x.rest("POST", "/signup", "", half.with("captchaResponse", "any")), `{}`)
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
	x.gives(a, `{"sessions":[`+fmt.Sprintf(sessionForm, true)+`,`+fmt.Sprintf(sessionForm, false)+`],"more":false}`)
	x.gives(p.ask("GET", "/sessions/current", nil), fmt.Sprintf(sessionForm, true))
	rows := p.behind("GET", "/sessions", nil).get("sessions").items
	x.gives(p.ask("GET", "/sessions/"+rows[1].get("sid").text, nil), fmt.Sprintf(sessionForm, false))
}

func sessionsEnded(x *exam) {
	p := x.person()
	other := p.session()
	sid := p.behind("GET", "/sessions", nil).get("sessions").items[1].get("sid").text
	x.covers("ACC-SES-2")
	x.gives(p.ask("DELETE", "/sessions/"+sid, nil), `{}`)
	x.refuses(x.rest("GET", "/email", other, nil), 403, "INVALID_KEY")
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
	third := p.session()
	x.gives(p.ask("DELETE", "/sessions/others", nil), `{}`)
	x.refuses(x.rest("GET", "/email", third, nil), 403, "INVALID_KEY")
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
	x.gives(p.ask("DELETE", "/sessions", nil), `{}`)
	x.refuses(p.ask("GET", "/email", nil), 403, "INVALID_KEY")
}

func keysMade(x *exam) {
	p := x.person()
	x.covers("ACC-KEY-1")
	a := p.ask("POST", "/api-keys", fields{"description": "one"})
	x.gives(a, `{"keyid":"#id","apiKey":"#text","secret":null,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	key := a.value.get("apiKey").text
	x.gives(x.rest("GET", "/email", key, nil), `{"email":"#text","pendingChange":null}`)
	a = p.ask("POST", "/api-keys", fields{
		"description": "two", "scopes": []string{"withdraw"}, "ips": []string{"192.0.2.1", "2001:db8::/32"}, "expires": 4000000000,
	})
	const two = `"description":"two","kind":"secret","scopes":["withdraw"],"ips":["192.0.2.1","2001:db8::/32"],"expires":4000000000,"lastAct":null}`
	x.gives(a, `{"keyid":"#id","apiKey":"#text","secret":null,`+two)
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
		`{"keyid":`+id+`,"description":"uno","kind":"secret","scopes":["trade"],"ips":[],"expires":null,"lastAct":null}`)
	x.refuses(x.rest("GET", "/email", key, nil), 403, "FORBIDDEN")
	x.gives(p.ask("DELETE", "/api-keys/"+id, nil), `{}`)
	x.refuses(x.rest("GET", "/email", key, nil), 403, "INVALID_KEY")
	x.refuses(p.ask("DELETE", "/api-keys/"+id, nil), 404, "NOT_FOUND")
}

func keyMadeOnce(x *exam) {
	p := x.person()
	x.covers("ACC-KEY-5")
	const rest = `"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`
	again := func(description string) *answer {
		x.Helper()
		return x.rest("POST", "/api-keys", p.key, fields{"description": description}, "Idempotency-Key", "once")
	}
	a := again("one")
	x.gives(a, `{"keyid":"#id","apiKey":"#text","secret":null,`+rest)
	x.gives(again("one"), `{"keyid":`+a.value.get("keyid").text+`,"apiKey":null,"secret":null,`+rest)
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
	x.covers("ACC-MAIL-2")
	x.refuses(p.ask("PUT", "/email", change), 511, "REQUIRE_2FA")
	x.covers("ACC-MAIL-1")
	x.gives(p.ask("PUT", "/email", change.with("code2FA", p.code())), show(p.email, `"`+next.email+`"`))
	x.gives(p.ask("DELETE", "/email", nil), show(p.email, `null`))
	x.refuses(p.ask("PATCH", "/email", fields{"code": next.code()}), 401, "INVALID_VERIFICATION_CODE")
	p.confirm("PUT", "/email", change)
	x.gives(p.ask("PATCH", "/email", fields{"code": next.code()}), show(next.email, `null`))
}

// addressRestored changes an address, which the holder of the old one reverts.
func addressRestored(x *exam) {
	p, next := x.person(), x.stranger()
	p.confirm("PUT", "/email", fields{"email": next.email, "password": goodPassword})
	p.behind("PATCH", "/email", fields{"code": next.code()})
	key := p.behind("POST", "/api-keys", fields{"description": "one"}).get("apiKey").text
	undo := fields{"email": p.email, "code": p.code()}
	x.covers("ACC-MAIL-3")
	x.refuses(x.rest("DELETE", "/email", "", undo.with("code", otherCode(p.code()))), 401, "INVALID_VERIFICATION_CODE")
	x.refuses(x.rest("DELETE", "/email", "", undo.with("email", next.email)), 401, "INVALID_VERIFICATION_CODE")
	x.refuses(x.rest("DELETE", "/email", "", nil), 401, "UNAUTHORIZED")
	x.gives(x.rest("DELETE", "/email", "", undo), `{}`)
	x.refuses(x.rest("DELETE", "/email", "", undo), 401, "INVALID_VERIFICATION_CODE")
	x.refuses(p.ask("GET", "/email", nil), 403, "INVALID_KEY")
	x.refuses(x.rest("GET", "/email", key, nil), 403, "INVALID_KEY")
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": goodPassword}), 401, "LOGIN_FAILED")
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
	code := p.code()
	reset := fields{"email": p.email, "code": code, "password": "battery staple"}
	x.refuses(x.rest("PATCH", "/password", "", reset.with("code", otherCode(code))), 401, "INVALID_VERIFICATION_CODE")
	key := p.behind("POST", "/api-keys", fields{"description": "one"}).get("apiKey").text
	x.gives(x.rest("PATCH", "/password", "", reset), `{}`)
	x.refuses(p.ask("GET", "/email", nil), 403, "INVALID_KEY")
	x.refuses(x.rest("GET", "/email", key, nil), 403, "INVALID_KEY")
	x.gives(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": "battery staple"}), `{"apiKey":"#text"}`)
}

const emailUsed = `{"providers":{"EMAIL":{"description":"#text","configured":true,"enabled":true},` +
	`"GA":{"description":"#text","configured":%v,"enabled":false},"WEBAUTHN":{"description":"#text","configured":false,"enabled":false}}}`

func newsChosen(x *exam) {
	p := x.person()
	x.covers("ACC-NEWS-1")
	x.gives(p.ask("GET", "/news", nil), `{"page":["FILLS","DEPOSITS","WITHDRAWALS"],"mail":[]}`)
	x.gives(p.ask("PATCH", "/news", fields{"mail": []string{"WITHDRAWALS", "FILLS"}}),
		`{"page":["FILLS","DEPOSITS","WITHDRAWALS"],"mail":["FILLS","WITHDRAWALS"]}`)
	x.gives(p.ask("PATCH", "/news", fields{"page": []string{}}), `{"page":[],"mail":["FILLS","WITHDRAWALS"]}`)
	x.gives(p.ask("GET", "/news", nil), `{"page":[],"mail":["FILLS","WITHDRAWALS"]}`)
	x.refuses(p.ask("PATCH", "/news", fields{"mail": []string{"PRICES"}}), 400, "VALIDATION_ERROR")
	x.refuses(p.ask("PATCH", "/news", fields{"mail": "FILLS"}), 400, "VALIDATION_ERROR")
	key := p.behind("POST", "/api-keys", fields{"description": "one"}).get("apiKey").text
	x.refuses(x.rest("PATCH", "/news", key, fields{"mail": []string{}}), 403, "FORBIDDEN")
	x.gives(x.rest("GET", "/news", key, nil), `{"page":[],"mail":["FILLS","WITHDRAWALS"]}`)
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
