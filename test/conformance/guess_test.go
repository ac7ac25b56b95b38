package conformance

import "strconv"

// waitsAnHour checks that a refusal tells the wait of a limit that has just been spent: an
// hour, less what the machine took.
func (x *exam) waitsAnHour(a *answer) {
	x.Helper()
	const hour, took = 3600, 600
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || wait > hour || wait < hour-took {
		x.Errorf("Retry-After is %q, want about an hour", a.header.Get("Retry-After"))
	}
}

func guessedPasswords(x *exam) {
	p := x.person()
	logIn := fields{"email": p.email, "password": goodPassword}
	x.covers("ACC-LOG-3")
	past := x.past()
	for range 9 {
		past.refuses(past.rest("POST", "/sessions", "", logIn.with("password", "wrong horse")), 401, "LOGIN_FAILED")
	}
	x.refuses(x.rest("POST", "/sessions", "", logIn.with("password", "wrong horse")), 401, "LOGIN_FAILED")
	x.refuses(x.rest("POST", "/sessions", "", logIn), 429, "RATE_LIMIT")
	x.gives(p.ask("GET", "/email", nil), `{"email":"#text","pendingChange":null}`)
}

func guessedCodes(x *exam) {
	p := x.person()
	past := *p
	past.x = x.past()
	change := fields{"cases": fields{"LOGIN": true}}
	x.covers("ACC-FAC-8")
	for range 2 { // five wrong attempts are allowed for each code
		past.x.refuses(past.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
		wrong := change.with("code2FA", otherCode(p.code()))
		for range 5 {
			past.x.refuses(past.ask("PATCH", "/mfa/cases", wrong), 403, "INVALID_2FA")
		}
	}
	x.refuses(p.ask("PATCH", "/mfa/cases", change.with("code2FA", p.code())), 429, "RATE_LIMIT")
	x.covers("REST-ERR-6")
	locked := p.ask("PATCH", "/mfa/cases", change)
	x.refuses(locked, 429, "RATE_LIMIT")
	x.waitsAnHour(locked)
}

func confirmedLogIn(x *exam) {
	p := x.person()
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"LOGIN": true}})
	guest := &person{x: x, email: p.email}
	x.covers("ACC-CASE-2")
	x.refuses(guest.ask("POST", "/sessions", fields{"email": p.email, "password": "wrong horse"}), 401, "LOGIN_FAILED")
	guest.confirmed("/sessions", fields{"email": p.email, "password": goodPassword}, "remember", true, `{"apiKey":"#text"}`)
}

func confirmedKey(x *exam) {
	p := x.person()
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"API_KEY": true}})
	x.covers("ACC-CASE-2")
	x.refuses(p.ask("POST", "/api-keys", fields{"description": ""}), 400, "VALIDATION_ERROR")
	p.confirmed("/api-keys", fields{"description": "one"}, "scopes", []string{"withdraw"},
		`{"keyid":"#id","apiKey":"#text","secret":null,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	key := first(p.behind("GET", "/api-keys", nil).get("apiKeys").items).get("keyid").text
	x.refuses(p.ask("PATCH", "/api-keys/"+key, fields{"ips": []string{}}), 511, "REQUIRE_2FA")
}

// confirmed posts a request that demands a code, tries every wrong code, then the right
// one. A request with another value of the field needs another code.
func (p *person) confirmed(path string, body fields, field string, value any, pattern string) {
	p.x.Helper()
	p.x.refuses(p.ask("POST", path, body), 511, "REQUIRE_2FA")
	code := p.code()
	p.x.refuses(p.ask("POST", path, body.with("code2FA", otherCode(code))), 403, "INVALID_2FA")
	p.x.refuses(p.ask("POST", path, body.with(field, value).with("code2FA", code)), 511, "REQUIRE_2FA")
	p.x.gives(p.ask("POST", path, body.with("code2FA", code)), pattern)
	if path == "/api-keys" { // refused because it exists already
		p.x.refuses(p.ask("POST", path, body.with("code2FA", code)), 409, "CONFLICT")
		return
	}
	p.x.refuses(p.ask("POST", path, body.with("code2FA", code)), 511, "REQUIRE_2FA")
}
