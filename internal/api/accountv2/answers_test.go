package accountv2_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/bourse-exchange/bourse/internal/account"
)

func TestSignUp(t *testing.T) {
	e := newExchange(t)
	e.drawn(ada)
	e.fails("GET /signup/captcha", "", "", 400, "MISSING_DATA")
	e.fails("GET /signup/captcha?email=nobody", "", "", 400, "VALIDATION_ERROR")
	e.fails("POST /signup", `{"email":"`+ada+`"}`, "", 400, "MISSING_DATA")
	e.fails("POST /signup", `{"email":"`+ada+`","password":"1234567"}`, "", 400, "VALIDATION_ERROR")
	for _, half := range []string{"captchaChallenge", "captchaResponse"} {
		e.fails("POST /signup", with(`{"email":"`+ada+`","password":"`+password+`"}`, half, "x"), "", 400, "MISSING_DATA")
	}
	e.want("POST /signup", `{"email":"`+ada+`","password":"`+password+`"}`, "", 200, `{}`)
	code := e.code(ada)
	e.fails("PATCH /signup", `{"email":"`+ada+`","code":"12345"}`, "", 400, "VALIDATION_ERROR")
	e.fails("PATCH /signup", `{"email":"`+ada+`","code":"`+other(code)+`"}`, "", 401, "INVALID_VERIFICATION_CODE")
	e.want("PATCH /signup", `{"email":"`+ada+`","code":"`+code+`"}`, "", 200, `{}`)
	e.fails("PATCH /signup", `{"email":"`+ada+`","code":"`+code+`"}`, "", 401, "INVALID_VERIFICATION_CODE")
	e.want("POST /signup", `{"email":"`+ada+`","password":"`+password+`"}`, "", 200, `{}`)
	key := e.logIn(ada)
	e.fails("POST /signup", `{"email":"`+mallory+`","password":"`+password+`"}`, key, 403, "ALREADY_LOGGED_IN")

	e.accounts.Captcha = true
	e.drawn(mallory)
	up := `{"email":"` + mallory + `","password":"` + password + `"}`
	e.want("POST /signup", up, "", 400, `{"error":{"code":"MISSING_DATA","msg":"Missing data: captchaChallenge"}}`)
	up = with(up, "captchaChallenge", "00")
	e.want("POST /signup", up, "", 400, `{"error":{"code":"MISSING_DATA","msg":"Missing data: captchaResponse"}}`)
	e.fails("POST /signup", with(up, "captchaResponse", "123456"), "", 401, "INVALID_VERIFICATION_CODE")
}

// drawn requests a captcha for an address.
func (e *exchange) drawn(email string) {
	e.Helper()
	got := e.ask("GET /signup/captcha?email="+email, "", "")
	if got.Code != 200 || !strings.Contains(got.Body.String(), `"img":"data:image/png;base64,iVBOR`) {
		e.Errorf("%d %.80s", got.Code, got.Body)
	}
}

func TestSessions(t *testing.T) {
	e := newExchange(t)
	one := e.join(ada)
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"wrong horse"}`, "", 401, "LOGIN_FAILED")
	e.fails("POST /sessions", `{"email":"`+mallory+`","password":"wrong horse"}`, "", 401, "LOGIN_FAILED")
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"`+password+`","remember":"yes"}`, "", 400, "VALIDATION_ERROR")
	two := e.logIn(ada)
	foreign := e.join(mallory)
	const show = `{"sid":%d,"lastAct":1700000000,"browser":"Firefox","os":"Linux","device":"Desktop","ip":"192.0.2.7","created":1700000000,"expires":1700086400,"current":%v}`
	first, second := fmt.Sprintf(show, 1, true), fmt.Sprintf(show, 2, false)
	e.want("GET /sessions", "", one, 200, `{"sessions":[`+first+`,`+second+`],"more":false}`)
	e.want("GET /sessions?limit=1", "", one, 200, `{"sessions":[`+first+`],"more":true}`)
	e.want("GET /sessions?limit=1&offset=1", "", one, 200, `{"sessions":[`+second+`],"more":false}`)
	e.want("GET /sessions/current", "", one, 200, first)
	e.want("GET /sessions/2", "", one, 200, second)
	e.fails("GET /sessions/3", "", one, 403, "FORBIDDEN")
	for _, id := range []string{"4", "0", "x", "4294967297", "99999999999999999999"} {
		e.fails("GET /sessions/"+id, "", one, 404, "NOT_FOUND")
		e.fails("DELETE /sessions/"+id, "", one, 404, "NOT_FOUND")
	}
	e.fails("DELETE /sessions/3", "", one, 403, "FORBIDDEN")
	e.want("DELETE /sessions/2", "", one, 200, `{}`)
	e.fails("GET /sessions", "", two, 403, "INVALID_KEY")
	e.fails("GET /sessions/2", "", one, 404, "NOT_FOUND")
	e.want("DELETE /sessions/current", "", one, 200, `{}`)
	e.fails("GET /sessions", "", one, 403, "INVALID_KEY")
	other, again := e.logIn(ada), e.logIn(ada)
	e.want("DELETE /sessions/others", "", again, 200, `{}`)
	e.fails("GET /sessions", "", other, 403, "INVALID_KEY")
	e.want("DELETE /sessions", "", again, 200, `{}`)
	e.fails("GET /sessions", "", again, 403, "INVALID_KEY")
	e.want("GET /sessions/current", "", foreign, 200, fmt.Sprintf(show, 3, true))
}

// TestUnknownClients lists sessions of clients that say little or nothing of themselves.
func TestUnknownClients(t *testing.T) {
	e := newExchange(t)
	e.join(ada)
	body := `{"email":"` + ada + `","password":"` + password + `"}`
	for _, c := range []struct{ agent, browser string }{{"", "Unknown"}, {"Go-http-client/1.1", "Go-http-client"}} {
		key := e.want("POST /sessions", body, "", 200, `{"apiKey":"SECRET"}`, "User-Agent: "+c.agent)
		got := e.ask("GET /sessions/current", "", account.Secret(key)).Body.String()
		if want := `"browser":"` + c.browser + `","os":"Unknown","device":"Unknown"`; !strings.Contains(got, want) {
			t.Errorf("agent %q: %s, want %s", c.agent, got, want)
		}
	}
}

func TestKeys(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	foreign := e.join(mallory)
	const make1 = `{"description":"one"}`
	const one = `"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`
	key := account.Secret(e.want("POST /api-keys", make1, session, 200, `{"keyid":1,"apiKey":"SECRET","secret":null,`+one))
	e.want("GET /api-keys/1", "", session, 200, `{"keyid":1,`+one)
	e.fails("POST /api-keys", make1, session, 409, "CONFLICT")
	for _, bad := range []string{
		`{"description":" "}`, `{"description":"x","scopes":["root"]}`, `{"description":"x","scopes":[]}`, `{"description":"x","scopes":"read"}`,
		`{"description":"x","scopes":["account"]}`, `{"description":"x","ips":["nowhere"]}`, `{"description":"x","expires":1}`, `{"description":7}`,
		`{"description":"` + strings.Repeat("x", 129) + `"}`,
	} {
		e.fails("POST /api-keys", bad, session, 400, "VALIDATION_ERROR")
	}
	e.fails("POST /api-keys", `{}`, session, 400, "MISSING_DATA")
	const make2 = `{"description":"two","scopes":["withdraw"],"ips":["192.0.2.7","2001:db8::/32"],"expires":1700000100}`
	const two = `{"keyid":2,"apiKey":"SECRET","secret":null,"description":"two","kind":"secret","scopes":["withdraw"],"ips":["192.0.2.7","2001:db8::/32"],"expires":1700000100,"lastAct":null}`
	e.want("POST /api-keys", make2, session, 200, two)
	e.want("GET /api-keys?offset=1", "", session, 200, `{"apiKeys":[`+strings.Replace(two, `"apiKey":"SECRET","secret":null,`, "", 1)+`],"more":false}`)
	e.want("GET /api-keys/1", "", key, 200, `{"keyid":1,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.want("PATCH /api-keys/1", `{"description":"uno","scopes":["read"],"ips":["192.0.2.0/24"]}`, session, 200,
		`{"keyid":1,"description":"uno","kind":"secret","scopes":["read"],"ips":["192.0.2.0/24"],"expires":null,"lastAct":null}`)
	e.fails("PATCH /api-keys/1", `{"description":"two"}`, session, 409, "CONFLICT")
	e.fails("PATCH /api-keys/1", `{"expires":1}`, session, 400, "VALIDATION_ERROR")
	e.want("PATCH /api-keys/1", `{"ips":["198.51.100.1"]}`, session, 200,
		`{"keyid":1,"description":"uno","kind":"secret","scopes":["read"],"ips":["198.51.100.1"],"expires":null,"lastAct":null}`)
	e.fails("GET /api-keys", "", key, 403, "INVALID_KEY")
	for _, what := range []string{"GET", "PATCH", "DELETE"} {
		e.fails(what+" /api-keys/1", "", foreign, 403, "FORBIDDEN")
		e.fails(what+" /api-keys/9", "", foreign, 404, "NOT_FOUND")
		e.fails(what+" /api-keys/4294967297", "", foreign, 404, "NOT_FOUND")
	}
	e.want("DELETE /api-keys/1", "", session, 200, `{}`)
	e.fails("DELETE /api-keys/1", "", session, 404, "NOT_FOUND")
	e.fails("GET /api-keys/1", "", session, 404, "NOT_FOUND")
	e.want("POST /api-keys", make1, session, 200, `{"keyid":3,"apiKey":"SECRET","secret":null,`+one)
}

// TestKeyOnce asks for a key under a name as often as it takes.
func TestKeyOnce(t *testing.T) {
	e := newExchange(t)
	session, foreign := e.join(ada), e.join(mallory)
	const rest = `"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`
	const once = "Idempotency-Key: request-1"
	e.want("POST /api-keys", `{"description":"one"}`, session, 200, `{"keyid":1,"apiKey":"SECRET","secret":null,`+rest, once)
	for _, same := range []string{`{"description":"one"}`, ` { "description" : "one" } `, `{"description":"one","code2FA":"123456"}`} {
		e.want("POST /api-keys", same, session, 200, `{"keyid":1,"apiKey":null,"secret":null,`+rest, once)
	}
	e.fails("POST /api-keys", `{"description":"two"}`, session, 409, "CONFLICT", once)
	e.fails("POST /api-keys", `{"description":"two"}`, session, 400, "VALIDATION_ERROR", "Idempotency-Key: "+strings.Repeat("x", 37))
	e.want("POST /api-keys", `{"description":"one"}`, foreign, 200, `{"keyid":2,"apiKey":"SECRET","secret":null,`+rest, once)
}

func TestEmail(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	elsewhere := e.logIn(ada)
	const next = "countess@example.com"
	const change = `{"email":"` + next + `","password":"` + password + `"}`
	e.want("GET /email", "", session, 200, `{"email":"ada@example.com","pendingChange":null}`)
	e.fails("PUT /email", `{"email":"`+next+`","password":"wrong horse"}`, session, 401, "WRONG_PASSWORD")
	e.fails("DELETE /email", "", session, 404, "NOT_FOUND")
	e.confirmed("PUT /email", change, session, `{"email":"ada@example.com","pendingChange":"countess@example.com"}`)
	e.want("DELETE /email", "", session, 200, `{"email":"ada@example.com","pendingChange":null}`)
	e.fails("PATCH /email", `{"code":"`+e.code(next)+`"}`, session, 401, "INVALID_VERIFICATION_CODE")
	e.confirmed("PUT /email", change, session, `{"email":"ada@example.com","pendingChange":"countess@example.com"}`)
	e.fails("PATCH /email", `{"code":"`+other(e.code(next))+`"}`, session, 401, "INVALID_VERIFICATION_CODE")
	e.fails("PATCH /email", `{}`, session, 400, "MISSING_DATA")
	e.want("PATCH /email", `{"code":"`+e.code(next)+`"}`, session, 200, `{"email":"countess@example.com","pendingChange":null}`)
	e.fails("GET /email", "", elsewhere, 403, "INVALID_KEY")
}

func TestPassword(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	elsewhere := e.logIn(ada)
	e.fails("PUT /password", `{"oldPassword":"wrong horse","password":"battery staple"}`, session, 401, "WRONG_PASSWORD")
	e.fails("PUT /password", `{"oldPassword":"`+password+`","password":"`+strings.Repeat("x", 255)+`"}`, session, 400, "VALIDATION_ERROR")
	e.want("PUT /password", `{"oldPassword":"`+password+`","password":"battery staple"}`, session, 200, `{}`)
	e.fails("GET /email", "", elsewhere, 403, "INVALID_KEY")
	e.want("GET /email", "", session, 200, `{"email":"ada@example.com","pendingChange":null}`)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	e.want("DELETE /password", `{"email":"`+mallory+`"}`, "", 200, `{}`)
	reset := `{"email":"` + ada + `","code":"` + e.code(ada) + `","password":"` + password + `"}`
	e.fails("PATCH /password", strings.Replace(reset, e.code(ada), other(e.code(ada)), 1), "", 401, "INVALID_VERIFICATION_CODE")
	e.want("PATCH /password", reset, "", 200, `{}`)
	e.fails("GET /email", "", session, 403, "INVALID_KEY")
	e.logIn(ada)
}

// applicationSecret returns the secret among the texts of a prepared key, where it is last.
func applicationSecret(key string) string { return key[len(key)-32:] }

// totpCode returns the code of an authenticator application.
func (e *exchange) totpCode(key string) string {
	e.Helper()
	code, err := totp.GenerateCode(applicationSecret(key), e.now)
	if err != nil {
		e.Fatal(err)
	}
	return code
}

func TestSecondFactor(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	const mail = `{"providers":{"EMAIL":{"description":"One-time codes by e-mail","configured":true,"enabled":true},` +
		`"GA":{"description":"Authenticator application","configured":%v,"enabled":false},"WEBAUTHN":{"description":"Passkeys","configured":false,"enabled":false}}}`
	e.want("GET /mfa/providers", "", session, 200, fmt.Sprintf(mail, false))
	e.fails("PUT /mfa/providers/EMAIL", "", session, 405, "ALREADY_CONFIGURED")
	e.fails("POST /mfa/providers/EMAIL", "", session, 405, "ALREADY_CONFIGURED")
	e.fails("DELETE /mfa/providers/EMAIL", "", session, 405, "METHOD_NOT_ALLOWED")
	e.fails("DELETE /mfa/providers/GA", "", session, 405, "NOT_CONFIGURED")
	e.fails("POST /mfa/providers/GA", `{"code2FA":"123456"}`, session, 405, "NOT_CONFIGURED")
	e.fails("POST /mfa/providers/GA", `{}`, session, 405, "NOT_CONFIGURED")
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		e.fails(method+" /mfa/providers/SMS", "", session, 404, "NOT_FOUND")
	}
	url := e.confirmed("PUT /mfa/providers/TOTP", `{}`, session,
		`{"url":"otpauth://totp/Bourse:ada@example.com?algorithm=SHA1&digits=6&issuer=Bourse&period=30&SECRET","secret":"SECRET"}`)
	e.want("GET /mfa/providers", "", session, 200, fmt.Sprintf(mail, true))
	for _, none := range []string{"", `{}`, `{"code2FA":null}`, `{"code2FA":""}`} {
		e.want("POST /mfa/providers/GA", none, session, 511, `{"error":{"code":"REQUIRE_2FA","msg":"your authenticator app"}}`)
	}
	e.fails("POST /mfa/providers/GA", `{"code2FA":"`+other(e.totpCode(url))+`"}`, session, 403, "INVALID_2FA")
	e.want("POST /mfa/providers/GA", `{"code2FA":"`+e.totpCode(url)+`"}`, session, 200, `{}`)
	e.want("GET /mfa/providers", "", session, 200, `{"providers":{"EMAIL":{"description":"One-time codes by e-mail","configured":true,"enabled":false},`+
		`"GA":{"description":"Authenticator application","configured":true,"enabled":true},"WEBAUTHN":{"description":"Passkeys","configured":false,"enabled":false}}}`)
	e.fails("PUT /mfa/providers/GA", "", session, 405, "ALREADY_CONFIGURED")
	e.want("POST /mfa/providers/EMAIL", "", session, 511,
		`{"error":{"code":"REQUIRE_2FA","msg":"your authenticator app"}}`)
	e.now = e.now.Add(time.Minute)
	e.want("POST /mfa/providers/EMAIL", `{"code2FA":"`+e.totpCode(url)+`"}`, session, 200, `{}`)
	e.want("DELETE /mfa/providers/GA", "", session, 511, `{"error":{"code":"REQUIRE_2FA","msg":"a***@example.com"}}`)
	e.want("DELETE /mfa/providers/GA", `{"code2FA":"`+e.code(ada)+`"}`, session, 200, `{}`)
}

// cases returns the answer about cases.
func cases(logIn, withdrawal, key bool) string {
	return fmt.Sprintf(`{"cases":{"LOGIN":{"description":"Logging in","enabled":%v},`+
		`"WITHDRAWAL":{"description":"Withdrawals and transfers","enabled":%v},`+
		`"API_KEY":{"description":"New API keys","enabled":%v}}}`, logIn, withdrawal, key)
}

// TestCases switches cases on, and checks that their requests demand a code, once nothing
// else is wrong.
func TestCases(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.want("GET /mfa/cases", "", session, 200, cases(false, false, false))
	e.fails("PATCH /mfa/cases", `{}`, session, 400, "MISSING_DATA")
	for _, bad := range []string{`{"cases":["LOGIN"]}`, `{"cases":{"LOGIN":1}}`, `{"cases":{"TRADE":true}}`, `{"cases":{"":true}}`, `{"cases":{"LOGIN,API_KEY":true}}`, `{"cases":{"login":true}}`,
		`{"cases":{"LOGIN":{"enabled":true}}}`} {
		e.fails("PATCH /mfa/cases", bad, session, 400, "VALIDATION_ERROR")
	}
	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":true,"WITHDRAWAL":true}}`, session, cases(true, true, false))
	logIn := `{"email":"` + ada + `","password":"` + password + `"}`
	e.fails("POST /sessions", strings.Replace(logIn, "correct", "corrupt", 1), "", 401, "LOGIN_FAILED")
	e.confirmed("POST /sessions", logIn, "", `{"apiKey":"SECRET"}`)
	e.fails("POST /sessions", logIn, "", 511, "REQUIRE_2FA")
	e.fails("POST /sessions", with(strings.Replace(logIn, "}", `,"remember":true}`, 1), "code2FA", e.code(ada)), "", 511, "REQUIRE_2FA")
	e.fails("POST /sessions", with(logIn, "code2FA", "12345"), "", 400, "VALIDATION_ERROR")

	// A key that can withdraw without a code needs a code itself.
	e.want("POST /api-keys", `{"description":"one"}`, session, 200,
		`{"keyid":1,"apiKey":"SECRET","secret":null,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.fails("POST /api-keys", `{"description":"two","scopes":["withdraw"]}`, session, 511, "REQUIRE_2FA")
	e.fails("PATCH /api-keys/1", `{"scopes":["withdraw"]}`, session, 511, "REQUIRE_2FA")
	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":false,"WITHDRAWAL":false,"API_KEY":true}}`, session, cases(false, false, true))
	e.fails("POST /api-keys", `{"description":"one"}`, session, 409, "CONFLICT")
	e.confirmed("POST /api-keys", `{"description":"two"}`, session,
		`{"keyid":2,"apiKey":"SECRET","secret":null,"description":"two","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.want("PATCH /api-keys/1", `{"description":"uno"}`, session, 200,
		`{"keyid":1,"description":"uno","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.fails("PATCH /api-keys/1", `{"ips":[]}`, session, 511, "REQUIRE_2FA")
}

func TestActivity(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"wrong horse"}`, "", 401, "LOGIN_FAILED")
	const row = `{"time":1700000000,"kind":"%s","ip":"192.0.2.7","device":"Firefox, Linux, Desktop","detail":null}`
	e.want("GET /activity", "", session, 200, fmt.Sprintf(`{"entries":[`+row+`,`+row+`,`+row+`],"cursor":null}`, "LOGIN_FAILED", "LOGIN", "SIGNUP"))
	e.want("GET /activity?limit=2", "", session, 200, fmt.Sprintf(`{"entries":[`+row+`,`+row+`],"cursor":2}`, "LOGIN_FAILED", "LOGIN"))
	e.want("GET /activity?limit=2&cursor=2", "", session, 200, fmt.Sprintf(`{"entries":[`+row+`],"cursor":null}`, "SIGNUP"))
}
