package conformance

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

// device returns a person's device, whose browser is at the exchange's page.
func (x *exam) device() *authenticator.Device {
	x.Helper()
	u, err := url.Parse(x.exchange.url)
	if err != nil {
		x.broken("%v", err)
	}
	port := u.Port()
	if x.exchange.cluster != nil {
		port = x.exchange.cluster.port()
	}
	return authenticator.New("http://localhost:" + port)
}

// made makes a passkey for the options in an answer.
func (x *exam) made(d *authenticator.Device, options *value) json.RawMessage {
	x.Helper()
	made, err := d.Create([]byte(options.get("passkey").String()))
	if err != nil {
		x.Fatalf("the options are %s: %v", options, err)
	}
	return made
}

// asserted answers the options in an answer.
func (x *exam) asserted(d *authenticator.Device, options *value) json.RawMessage {
	x.Helper()
	assertion, err := d.Get([]byte(options.get("passkey").String()))
	if err != nil {
		x.Fatalf("the options are %s: %v", options, err)
	}
	return assertion
}

// asks checks that a request is to be confirmed by a passkey, and returns the error.
func (x *exam) asks(a *answer, provider string) *value {
	x.Helper()
	x.equal("status", fmt.Sprint(a.status), "511")
	refusal := a.value.get("error")
	x.match(refusal, `{"code":"REQUIRE_2FA","msg":"#text","provider":"`+provider+`","passkey":{"challenge":"#text","rpId":"#text",`+
		`"userVerification":"required","timeout":300000,"allowCredentials":[{"type":"public-key","id":"#text"}]}}`)
	return refusal
}

// passkey adds a passkey, past any proxy.
func (p *person) passkey() *authenticator.Device {
	p.x.Helper()
	d := p.x.device()
	made := p.x.made(d, p.confirm("PUT", "/mfa/passkeys", fields{}))
	p.behind("POST", "/mfa/passkeys", fields{"name": "phone", "passkey": made})
	return d
}

const (
	passkeyForm = `{"number":"#id","name":"phone","synced":false,"created":"#unix","lastUse":null}`
	askedForm   = `{"passkey":{"challenge":"#text","rpId":"#text","userVerification":"required","timeout":300000,"allowCredentials":[]}}`
)

func passkeysMade(x *exam) {
	p := x.person()
	other, d := p.session(), x.device()
	x.covers("ACC-KEYS-1")
	x.refuses(p.ask("PUT", "/mfa/passkeys", nil), 511, "REQUIRE_2FA")
	options := p.ask("PUT", "/mfa/passkeys", fields{"code2FA": p.code()})
	add := fields{"name": "phone", "passkey": x.made(d, options.value)}
	x.refuses(p.ask("POST", "/mfa/passkeys", add.with("name", "")), 400, "VALIDATION_ERROR")
	x.refuses(x.rest("POST", "/mfa/passkeys", other, add), 405, "NOT_CONFIGURED")
	unasked := x.device()
	unasked.Challenge = "AAAAAAAAAAAAAAAAAAAAAA"
	x.refuses(p.ask("POST", "/mfa/passkeys", add.with("passkey", x.made(unasked, options.value))), 403, "INVALID_2FA")
	x.gives(p.ask("POST", "/mfa/passkeys", add), passkeyForm)
	x.refuses(p.ask("POST", "/mfa/passkeys", add), 405, "NOT_CONFIGURED")

	x.covers("ACC-KEYS-2")
	list := p.ask("GET", "/mfa/passkeys", nil)
	x.gives(list, `{"passkeys":[`+passkeyForm+`],"more":false}`)
	path := "/mfa/passkeys/" + list.value.get("passkeys").items[0].get("number").text
	asked := x.asks(p.ask("DELETE", path, nil), "WEBAUTHN")
	x.gives(p.ask("DELETE", path, fields{"assertion2FA": x.asserted(d, asked)}), `{}`)
	x.gives(p.ask("GET", "/mfa/passkeys", nil), `{"passkeys":[],"more":false}`)
	x.refuses(p.ask("DELETE", path, nil), 404, "NOT_FOUND")
}

func passkeysConfirm(x *exam) {
	p := x.person()
	d := p.passkey()
	change := fields{"cases": fields{"LOGIN": true}}
	x.covers("ACC-KEYS-4")
	asked := x.asks(p.ask("PATCH", "/mfa/cases", change), "WEBAUTHN")
	x.equal("msg", asked.get("msg").text, "your passkey")
	x.asks(p.ask("PATCH", "/mfa/cases", change.with("code2FA", "123456")), "WEBAUTHN")

	x.covers("ACC-KEYS-3")
	assertion := x.asserted(d, asked)
	both := change.with("assertion2FA", assertion).with("code2FA", "123456")
	x.refuses(p.ask("PATCH", "/mfa/cases", both), 400, "VALIDATION_ERROR")
	other := fields{"cases": fields{"LOGIN": false}}
	x.asks(p.ask("PATCH", "/mfa/cases", other.with("assertion2FA", assertion)), "WEBAUTHN")
	x.refuses(p.ask("PATCH", "/mfa/cases", other.with("assertion2FA", assertion)), 403, "INVALID_2FA")
	x.gives(p.ask("PATCH", "/mfa/cases", change.with("assertion2FA", assertion)), casesAre(true, false, false))
	x.asks(p.ask("PATCH", "/mfa/cases", change.with("assertion2FA", assertion)), "WEBAUTHN")

	in := fields{"email": p.email, "password": goodPassword}
	asked = x.asks(x.rest("POST", "/sessions", "", in), "EMAIL")
	x.gives(x.rest("POST", "/sessions", "", in.with("assertion2FA", x.asserted(d, asked))), `{"apiKey":"#secret"}`)
}

func passkeysLogIn(x *exam) {
	p := x.person()
	d := p.passkey()
	x.covers("ACC-KEYS-5")
	asked := x.rest("PUT", "/sessions/passkey", "", nil)
	x.gives(asked, askedForm)
	in := fields{"assertion": x.asserted(d, asked.value)}
	a := x.rest("POST", "/sessions/passkey", "", in)
	x.gives(a, `{"apiKey":"#secret"}`)
	x.gives(x.rest("GET", "/email", a.value.get("apiKey").text, nil), `{"email":"`+p.email+`","pendingChange":null}`)
	x.refuses(x.rest("POST", "/sessions/passkey", "", in), 401, "LOGIN_FAILED")

	handle := d.Handle
	d.Handle = []byte("nobody")
	asked = x.rest("PUT", "/sessions/passkey", "", nil)
	x.refuses(x.rest("POST", "/sessions/passkey", "", fields{"assertion": x.asserted(d, asked.value)}), 401, "LOGIN_FAILED")

	x.covers("ACC-PASS-2")
	d.Handle = handle
	x.gives(x.rest("DELETE", "/password", "", fields{"email": p.email}), `{}`)
	x.gives(x.rest("PATCH", "/password", "", fields{"email": p.email, "code": p.code(), "password": "battery staple"}), `{}`)
	asked = x.rest("PUT", "/sessions/passkey", "", nil)
	x.refuses(x.rest("POST", "/sessions/passkey", "", fields{"assertion": x.asserted(d, asked.value)}), 401, "LOGIN_FAILED")
}

// passkeyPays confirms a transfer with a passkey, which V1 refers to V2.
func passkeyPays(x *exam) {
	p, rich, other := x.person(), x.known("10 USDT"), x.known()
	if given := rich.v2("POST", "/io/transactions", gift(p.email, "5")); given.status != 200 {
		x.broken("no money: %s", given.body)
	}
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"WITHDRAWAL": true}})
	d, session := p.passkey(), &account{x: x, key: p.key}

	x.covers("WAL-FAC-1")
	v1 := session.wallet("/transfer", fields{"asset": "USDT", "email": other.email, "amount": "1"})
	x.match(v1.value, `{"success":false,"error":"#text","code":"REQUIRE_2FA","need_2fa":true,"provider_2fa":"WEBAUTHN"}`)

	x.covers("ACC-KEYS-4")
	asked := x.asks(session.v2("POST", "/io/transactions", gift(other.email, "1")), "WEBAUTHN")
	x.covers("ACC-KEYS-3")
	body := gift(other.email, "1").with("assertion2FA", x.asserted(d, asked))
	x.asks(session.v2("POST", "/io/transactions", body.with("amount", "2")), "WEBAUTHN")
	x.equal("status", fmt.Sprint(session.v2("POST", "/io/transactions", body).status), "200")
	x.asks(session.v2("POST", "/io/transactions", body), "WEBAUTHN")
}
