package accountv2_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

// options returns the options for a browser in an answer, at its top or in its error.
func (e *exchange) options(status int, body string) []byte {
	e.Helper()
	var answer struct {
		Passkey json.RawMessage `json:"passkey"`
		Error   struct {
			Passkey json.RawMessage `json:"passkey"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		e.Fatal(err)
	}
	if len(answer.Passkey)+len(answer.Error.Passkey) == 0 {
		e.Fatalf("no options: %d %s", status, body)
	}
	return append(answer.Passkey, answer.Error.Passkey...)
}

// asks sends a request and returns the options for a browser in its answer.
func (e *exchange) asks(what, body string, key account.Secret) []byte {
	e.Helper()
	got := e.ask(what, body, key)
	return e.options(got.Code, got.Body.String())
}

// withObject adds a field with a JSON value to a body.
func withObject(body, field string, value []byte) string {
	return strings.TrimSuffix(body, "}") + map[bool]string{true: "", false: ","}[body == "{}"] + fmt.Sprintf("%q:%s}", field, value)
}

// get signs options with a device.
func (e *exchange) get(d *authenticator.Device, options []byte) []byte {
	e.Helper()
	assertion, err := d.Get(options)
	if err != nil {
		e.Fatal(err)
	}
	return assertion
}

// asserted sends a request, has a device confirm it, and returns the confirmed body.
func (e *exchange) asserted(d *authenticator.Device, what, body string, key account.Secret) string {
	e.Helper()
	return withObject(body, "assertion2FA", e.get(d, e.asks(what, body, key)))
}

// register adds a passkey, the account's first one unless some device confirms it.
func (e *exchange) register(d, by *authenticator.Device, name string, session account.Secret) string {
	e.Helper()
	body := `{}`
	if by != nil {
		body = e.asserted(by, "PUT /mfa/passkeys", body, session)
	} else {
		e.fails("PUT /mfa/passkeys", body, session, 511, "REQUIRE_2FA")
		body = with(body, "code2FA", e.code(ada))
	}
	made, err := d.Create(e.asks("PUT /mfa/passkeys", body, session))
	if err != nil {
		e.Fatal(err)
	}
	return e.ask("POST /mfa/passkeys", withObject(`{"name":"`+name+`"}`, "passkey", made), session).Body.String()
}

// logInWith logs in with a passkey.
func (e *exchange) logInWith(d *authenticator.Device) account.Secret {
	e.Helper()
	body := withObject(`{}`, "assertion", e.get(d, e.asks("PUT /sessions/passkey", `{}`, "")))
	return account.Secret(e.want("POST /sessions/passkey", body, "", 200, `{"apiKey":"SECRET"}`))
}

// TestPasskeys adds, uses and removes passkeys of both algorithms, one of which counts.
func TestPasskeys(t *testing.T) {
	e := newExchange(t)
	session, other := e.join(ada), e.logIn(ada)
	phone, stick := authenticator.New(origin), authenticator.New(origin)
	phone.Algorithm, phone.Synced = authenticator.ES256, true
	stick.Algorithm, stick.Counts, stick.Counter = authenticator.EdDSA, true, 7

	e.want("GET /mfa/passkeys", "", session, 200, `{"passkeys":[],"more":false}`)
	const first = `{"number":1,"name":"phone","synced":true,"created":1700000000,"lastUse":null}`
	if got := e.register(phone, nil, "phone", session); got != first {
		t.Errorf("made %s", got)
	}
	e.lastLetter(ada, "A passkey was added.")
	e.fails("GET /email", "", other, 403, "INVALID_KEY") // other sessions end
	e.now = e.now.Add(time.Second)
	const second = `{"number":2,"name":"stick","synced":false,"created":1700000001,"lastUse":null}`
	if got := e.register(stick, phone, "stick", session); got != second {
		t.Errorf("made %s", got)
	}
	used := strings.Replace(first, "null", "1700000001", 1)
	e.want("GET /mfa/passkeys", "", session, 200, `{"passkeys":[`+used+`,`+second+`],"more":false}`)
	e.want("GET /mfa/passkeys?limit=1", "", session, 200, `{"passkeys":[`+used+`],"more":true}`)
	if got := e.ask("GET /mfa/providers", "", session).Body.String(); !strings.Contains(got, `"WEBAUTHN":{"description":"Passkeys","configured":true,"enabled":true}`) {
		t.Errorf("providers: %s", got)
	}

	e.fails("DELETE /mfa/passkeys/3", `{}`, session, 404, "NOT_FOUND")
	e.fails("DELETE /mfa/passkeys/4294967298", `{}`, session, 404, "NOT_FOUND")
	e.want("DELETE /mfa/passkeys/1", e.asserted(stick, "DELETE /mfa/passkeys/1", `{}`, session), session, 200, `{}`)
	e.fails("DELETE /mfa/passkeys/1", `{}`, session, 404, "NOT_FOUND")
	e.want("DELETE /mfa/passkeys/2", e.asserted(stick, "DELETE /mfa/passkeys/2", `{}`, session), session, 200, `{}`)
	e.lastLetter(ada, "A passkey was removed.")
	e.confirmed("PATCH /mfa/cases", `{"cases":{"API_KEY":true}}`, session, cases(false, false, true)) // by mail again
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		e.fails(method+" /mfa/providers/WEBAUTHN", `{}`, session, 405, "METHOD_NOT_ALLOWED")
	}
}

// TestAlgorithms makes a passkey of each algorithm, and logs in with it.
func TestAlgorithms(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	var by *authenticator.Device
	for _, algorithm := range []int{authenticator.EdDSA, authenticator.ES256, authenticator.RS256} {
		d := authenticator.New(origin)
		d.Algorithm = algorithm
		if got := e.register(d, by, "key", session); !strings.HasPrefix(got, `{"number":`) {
			t.Fatalf("algorithm %d: %s", algorithm, got)
		}
		e.logInWith(d)
		by = d
	}
}

// TestWeakerFactors wants codes to do nothing but log in, once there is a passkey.
func TestWeakerFactors(t *testing.T) {
	e := newExchange(t)
	e.accounts.AlwaysConfirm = true
	session := e.join(ada)
	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":true,"API_KEY":true}}`, session, cases(true, false, true))
	d := authenticator.New(origin)
	e.register(d, nil, "phone", session)

	letters := e.letters[ada]
	for what, body := range map[string]string{
		"POST /api-keys":        `{"description":"one"}`,
		"PUT /email":            `{"email":"` + countess + `","password":"` + password + `"}`,
		"PUT /password":         `{"oldPassword":"` + password + `","password":"` + battery + `"}`,
		"PATCH /mfa/cases":      `{"cases":{"API_KEY":false}}`,
		"PUT /mfa/providers/GA": `{}`, "PUT /mfa/passkeys": `{}`, "DELETE /mfa/passkeys/1": `{}`,
	} {
		for _, body := range []string{body, with(body, "code2FA", "123456")} {
			got := e.ask(what, body, session)
			if text := got.Body.String(); got.Code != 511 || !strings.Contains(text, `"msg":"your passkey","provider":"WEBAUTHN","passkey":{`) {
				t.Errorf("%s %s: %d %s", what, body, got.Code, text)
			}
		}
	}
	if e.letters[ada] != letters {
		t.Errorf("%d codes were mailed", e.letters[ada]-letters)
	}

	// A key that can withdraw is confirmed whatever the cases are.
	off := `{"cases":{"API_KEY":false}}`
	e.want("PATCH /mfa/cases", e.asserted(d, "PATCH /mfa/cases", off, session), session, 200, cases(true, false, false))
	e.fails("POST /api-keys", `{"description":"one","scopes":["withdraw"]}`, session, 511, "REQUIRE_2FA")
	e.want("POST /api-keys", `{"description":"one"}`, session, 200,
		`{"keyid":1,"apiKey":"SECRET","secret":null,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)

	in := `{"email":"` + ada + `","password":"` + password + `"}`
	got := e.ask("POST /sessions", in, "")
	if text := got.Body.String(); got.Code != 511 || !strings.Contains(text, `"msg":"a***@example.com","provider":"EMAIL","passkey":{`) {
		t.Errorf("log-in: %d %s", got.Code, text)
	}
	both := with(withObject(in, "assertion2FA", e.get(d, e.options(got.Code, got.Body.String()))), "code2FA", e.code(ada))
	e.fails("POST /sessions", both, "", 400, "VALIDATION_ERROR")
	e.want("POST /sessions", with(in, "code2FA", e.code(ada)), "", 200, `{"apiKey":"SECRET"}`)
	e.want("POST /sessions", e.asserted(d, "POST /sessions", in, ""), "", 200, `{"apiKey":"SECRET"}`)
}

// lies are assertions that confirm nothing, by what is wrong with them.
var lies = map[string]func(*authenticator.Device){
	"another origin":         func(d *authenticator.Device) { d.Origin = "http://localhost:8081" },
	"an origin's path":       func(d *authenticator.Device) { d.Origin += "/x" },
	"an origin's case":       func(d *authenticator.Device) { d.Origin = "HTTP://localhost:8080" },
	"a frame":                func(d *authenticator.Device) { d.Framed = true },
	"another party":          func(d *authenticator.Device) { d.Party = "example.com" },
	"another challenge":      func(d *authenticator.Device) { d.Challenge = strings.Repeat("A", 43) },
	"no challenge":           func(d *authenticator.Device) { d.Challenge = "=" },
	"another ceremony":       func(d *authenticator.Device) { d.Type = "webauthn.create" },
	"a wrong signature":      func(d *authenticator.Device) { d.Stale = true },
	"nobody verified":        func(d *authenticator.Device) { d.Unverified = true },
	"nobody there":           func(d *authenticator.Device) { d.Absent = true },
	"another kind of key":    func(d *authenticator.Device) { d.Synced = true },
	"another holder":         func(d *authenticator.Device) { d.Handle = []byte("somebody else's handle.!") },
	"a counter that returns": func(d *authenticator.Device) { d.Counter = 1 },
}

// TestLies has a device confirm a request and a log-in with something wrong, and once honestly.
func TestLies(t *testing.T) {
	for what, lie := range lies {
		t.Run(what, func(t *testing.T) {
			e := newExchange(t)
			session := e.join(ada)
			d := authenticator.New(origin)
			d.Counts, d.Counter = true, 10
			e.register(d, nil, "phone", session)

			const change, body = "PATCH /mfa/cases", `{"cases":{"API_KEY":true}}`
			liar := *d
			lie(&liar)
			e.fails(change, e.asserted(&liar, change, body, session), session, 403, "INVALID_2FA")
			in := withObject(`{}`, "assertion", e.get(&liar, e.asks("PUT /sessions/passkey", `{}`, "")))
			e.fails("POST /sessions/passkey", in, "", 401, "LOGIN_FAILED")

			e.want(change, e.asserted(d, change, body, session), session, 200, cases(false, false, true))
			e.logInWith(d)
		})
	}
}

// TestLyingRegistrations has a device make a passkey with something wrong.
func TestLyingRegistrations(t *testing.T) {
	for what, lie := range lies {
		if what == "another kind of key" || what == "another holder" || what == "a counter that returns" || what == "a wrong signature" {
			continue // there is nothing yet to differ from, and nothing is signed
		}
		if what == "another ceremony" {
			lie = func(d *authenticator.Device) { d.Type = "webauthn.get" }
		}
		t.Run(what, func(t *testing.T) {
			e := newExchange(t)
			session := e.join(ada)
			d := authenticator.New(origin)
			lie(d)
			if got := e.register(d, nil, "phone", session); !strings.HasPrefix(got, `{"error":{"code":"INVALID_2FA"`) {
				t.Error(got)
			}
			e.want("GET /mfa/passkeys", "", session, 200, `{"passkeys":[],"more":false}`)
		})
	}
}

// TestOneAssertionOneRequest wants an assertion to confirm the request that it was made for,
// once, within its time, for its account.
func TestOneAssertionOneRequest(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	d := authenticator.New(origin) // without a counter, which would hide a replay
	e.register(d, nil, "phone", session)
	const change, on, off = "PATCH /mfa/cases", `{"cases":{"API_KEY":true}}`, `{"cases":{"API_KEY":false}}`

	assertion := e.get(d, e.asks(change, on, session))
	e.asks(change, off, session) // also asked for
	e.fails(change, withObject(off, "assertion2FA", assertion), session, 403, "INVALID_2FA")
	e.fails(change+"?x=1", withObject(on, "assertion2FA", assertion), session, 511, "REQUIRE_2FA") // never asked for
	e.want(change, withObject(on, "assertion2FA", assertion), session, 200, cases(false, false, true))
	e.fails(change, withObject(on, "assertion2FA", assertion), session, 511, "REQUIRE_2FA")
	e.fails(change, withObject(on, "assertion2FA", assertion), session, 403, "INVALID_2FA")

	late := e.asserted(d, change, off, session)
	e.now = e.now.Add(5 * time.Minute)
	e.fails(change, late, session, 511, "REQUIRE_2FA")

	// A passkey of another account signs the challenge, and is refused.
	theirs, thief := e.join(mallory), authenticator.New(origin)
	e.fails("PUT /mfa/passkeys", `{}`, theirs, 511, "REQUIRE_2FA")
	made, err := thief.Create(e.asks("PUT /mfa/passkeys", with(`{}`, "code2FA", e.code(mallory)), theirs))
	if err != nil {
		t.Fatal(err)
	}
	e.want("POST /mfa/passkeys", withObject(`{"name":"x"}`, "passkey", made), theirs, 200,
		`{"number":1,"name":"x","synced":false,"created":1700000300,"lastUse":null}`)
	var asked map[string]any
	if err := json.Unmarshal(e.asks(change, off, session), &asked); err != nil {
		t.Fatal(err)
	}
	delete(asked, "allowCredentials")
	options, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	e.fails(change, withObject(off, "assertion2FA", e.get(thief, options)), session, 403, "INVALID_2FA")
	for range 4 { // the fifth wrong assertion ends the request
		e.fails(change, withObject(off, "assertion2FA", e.get(thief, options)), session, 403, "INVALID_2FA")
	}
	e.fails(change, withObject(off, "assertion2FA", e.get(d, options)), session, 511, "REQUIRE_2FA")
}

// TestPasskeyIsMadeOnce wants a passkey to be made by the session that asked, once and in time.
func TestPasskeyIsMadeOnce(t *testing.T) {
	e := newExchange(t)
	session, other := e.join(ada), e.logIn(ada)
	d := authenticator.New(origin)
	post := func(made []byte) string { return withObject(`{"name":"x"}`, "passkey", made) }
	prepare := func() []byte {
		e.fails("PUT /mfa/passkeys", `{}`, session, 511, "REQUIRE_2FA")
		made, err := d.Create(e.asks("PUT /mfa/passkeys", with(`{}`, "code2FA", e.code(ada)), session))
		if err != nil {
			t.Fatal(err)
		}
		return made
	}

	made := prepare()
	e.fails("POST /mfa/passkeys", post(made), other, 405, "NOT_CONFIGURED")
	newer := prepare()
	e.fails("POST /mfa/passkeys", post(made), session, 403, "INVALID_2FA") // it was asked for before
	e.now = e.now.Add(5 * time.Minute)
	e.fails("POST /mfa/passkeys", post(newer), session, 405, "NOT_CONFIGURED")

	made = prepare()
	e.want("POST /mfa/passkeys", post(made), session, 200, `{"number":1,"name":"x","synced":false,"created":1700000300,"lastUse":null}`)
	e.fails("POST /mfa/passkeys", post(made), session, 405, "NOT_CONFIGURED")
	for i := range 9 {
		e.register(authenticator.New(origin), d, fmt.Sprint(i), session)
	}
	e.fails("PUT /mfa/passkeys", `{}`, session, 406, "NOT_ACCEPTABLE")
}

// TestPasskeyLogIn logs in with a passkey and nothing else.
func TestPasskeyLogIn(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	d := authenticator.New(origin)
	e.register(d, nil, "phone", session)
	if who := e.ask("GET /email", "", e.logInWith(d)); !strings.Contains(who.Body.String(), ada) {
		t.Errorf("it is %s", who.Body)
	}

	in := withObject(`{"remember":true}`, "assertion", e.get(d, e.asks("PUT /sessions/passkey", `{}`, "")))
	key := account.Secret(e.want("POST /sessions/passkey", in, "", 200, `{"apiKey":"SECRET"}`))
	e.fails("POST /sessions/passkey", in, "", 401, "LOGIN_FAILED") // once
	if got := e.ask("GET /sessions/current", "", key).Body.String(); !strings.Contains(got, `"expires":1702592000,`) {
		t.Error(got)
	}

	late := withObject(`{}`, "assertion", e.get(d, e.asks("PUT /sessions/passkey", `{}`, "")))
	e.now = e.now.Add(5 * time.Minute)
	e.fails("POST /sessions/passkey", late, "", 401, "LOGIN_FAILED")

	// What confirms a request begins no session, and the other way round.
	const change, body = "PATCH /mfa/cases", `{"cases":{"API_KEY":true}}`
	asked := e.asks(change, body, key)
	e.fails("POST /sessions/passkey", withObject(`{}`, "assertion", e.get(d, asked)), "", 401, "LOGIN_FAILED")
	e.fails(change, withObject(body, "assertion2FA", e.get(d, e.asks("PUT /sessions/passkey", `{}`, ""))), key, 403, "INVALID_2FA")

	e.want("DELETE /mfa/passkeys/1", e.asserted(d, "DELETE /mfa/passkeys/1", `{}`, key), key, 200, `{}`)
	gone := withObject(`{}`, "assertion", e.get(d, e.asks("PUT /sessions/passkey", `{}`, "")))
	e.fails("POST /sessions/passkey", gone, "", 401, "LOGIN_FAILED")
	if got := e.ask("GET /activity?limit=9", "", key).Body.String(); strings.Count(got, "LOGIN_FAILED") != 2 { // of those whose holder is known
		t.Errorf("failures are not told: %s", got)
	}
}

// TestMalformedPasskeys sends what no browser sends.
func TestMalformedPasskeys(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	d := authenticator.New(origin)
	e.register(d, nil, "phone", session)
	good := string(e.get(d, e.asks("PUT /sessions/passkey", `{}`, "")))
	for _, bad := range []string{
		`7`, `"x"`, `[]`, `{}`, `{"id":"AA"}`, `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`,
		strings.Replace(good, `"public-key"`, `"password"`, 1), strings.Replace(good, `"id":"`, `"id":"AAAA`, 1),
		strings.Replace(good, `"authenticatorData":"`, `"authenticatorData":"AAAA`, 1),
		strings.Replace(good, `"clientDataJSON":"`, `"clientDataJSON":"AAAA`, 1),
		strings.Replace(good, `{`, `{"more":"`+strings.Repeat("x", 8<<10)+`",`, 1),
	} {
		e.fails("POST /sessions/passkey", withObject(`{}`, "assertion", []byte(bad)), "", 400, "VALIDATION_ERROR")
		e.fails("PUT /mfa/passkeys", withObject(`{}`, "assertion2FA", []byte(bad)), session, 400, "VALIDATION_ERROR")
		e.fails("POST /mfa/passkeys", withObject(`{"name":"x"}`, "passkey", []byte(bad)), session, 400, "VALIDATION_ERROR")
	}
	for _, name := range []string{`""`, `"\u0000"`, `7`, `"` + strings.Repeat("x", 129) + `"`} {
		got := e.ask("POST /mfa/passkeys", `{"name":`+name+`,"passkey":`+good+`}`, session)
		if got.Code != 400 {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	e.fails("POST /mfa/passkeys", `{"name":"x"}`, session, 400, "MISSING_DATA")
	e.fails("POST /sessions/passkey", `{}`, "", 400, "MISSING_DATA")

	e.accounts.SetParty(nil)
	e.fails("PUT /sessions/passkey", `{}`, "", 405, "NOT_CONFIGURED")
	e.fails("POST /sessions/passkey", withObject(`{}`, "assertion", []byte(good)), "", 405, "NOT_CONFIGURED")
	e.fails("PUT /mfa/passkeys", `{}`, session, 405, "NOT_CONFIGURED")
	e.fails("PATCH /mfa/cases", `{"cases":{"API_KEY":true}}`, session, 405, "NOT_CONFIGURED") // no weaker factor instead
}
