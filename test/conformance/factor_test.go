package conformance

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"
)

// otherCode returns a different code.
func otherCode(code string) string {
	if len(code) > 6 { // a code that reverts a change of address
		return "2222-2222-2222-2222"
	}
	if code == "123456" {
		return "654321"
	}
	return "123456"
}

func confirmedByMail(x *exam) {
	p := x.person()
	cases := func(login bool) fields { return fields{"cases": fields{"LOGIN": login}} }
	x.covers("ACC-FAC-4")
	x.refuses(p.ask("PATCH", "/mfa/cases", fields{"cases": fields{"TRADE": true}}), 400, "VALIDATION_ERROR")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(true).with("code2FA", "12345")), 400, "VALIDATION_ERROR")
	x.covers("ACC-FAC-1")
	asked := p.ask("PATCH", "/mfa/cases", cases(true))
	x.refuses(asked, 511, "REQUIRE_2FA")
	code := p.code()
	x.covers("ACC-FAC-9")
	_, domain, _ := strings.Cut(p.email, "@")
	x.equal("msg", asked.value.get("error").get("msg").text, p.email[:1]+"***@"+domain)
	x.covers("ACC-FAC-3")
	x.refuses(p.ask("PATCH", "/mfa/cases", cases(false).with("code2FA", code)), 511, "REQUIRE_2FA")
	x.covers("ACC-FAC-1")
	x.gives(p.ask("PATCH", "/mfa/cases", cases(true).with("code2FA", code)), casesAre(true, false, false))
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

// applicationCode returns the code of an authenticator application, a number of time
// steps from now.
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
	for _, name := range []string{"GA", "TOTP"} {
		x.refuses(p.ask("DELETE", "/mfa/providers/"+name, nil), 405, "NOT_CONFIGURED")
		x.refuses(p.ask("POST", "/mfa/providers/"+name, nil), 405, "NOT_CONFIGURED")
	}
	x.refuses(p.ask("POST", "/mfa/providers/EMAIL", nil), 405, "ALREADY_CONFIGURED")
	x.covers("ACC-FAC-6")
	x.refuses(p.ask("PUT", "/mfa/providers/GA", nil), 511, "REQUIRE_2FA")
	a := p.ask("PUT", "/mfa/providers/GA", fields{"code2FA": p.code()})
	x.gives(a, `{"url":"#text","secret":"#text"}`)
	address := a.value.get("url").text
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "otpauth" {
		x.Fatalf("url is %q", address)
	}
	x.equal("secret", a.value.get("secret").text, u.Query().Get("secret"))
	x.gives(p.ask("GET", "/mfa/providers", nil), fmt.Sprintf(emailUsed, true))
	x.refuses(p.ask("POST", "/mfa/providers/GA", nil), 511, "REQUIRE_2FA")
	x.refuses(p.ask("POST", "/mfa/providers/GA", fields{}), 511, "REQUIRE_2FA")
	x.refuses(p.ask("POST", "/mfa/providers/GA", fields{"code2FA": ""}), 511, "REQUIRE_2FA")
	// The previous step's code leaves the current one and the next unused.
	x.gives(p.ask("POST", "/mfa/providers/TOTP", fields{"code2FA": x.applicationCode(address, -1)}), `{}`)
	x.covers("ACC-FAC-5")
	x.refuses(p.ask("PUT", "/mfa/providers/GA", nil), 405, "ALREADY_CONFIGURED")
	x.covers("ACC-FAC-7")
	change := fields{"cases": fields{"LOGIN": false}}
	x.refuses(p.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
	code := x.applicationCode(address, 0)
	x.gives(p.ask("PATCH", "/mfa/cases", change.with("code2FA", code)), casesAre(false, false, false))
	x.refuses(p.ask("PATCH", "/mfa/cases", change), 511, "REQUIRE_2FA")
	x.refuses(p.ask("PATCH", "/mfa/cases", change.with("code2FA", code)), 403, "INVALID_2FA")
	asked := p.ask("POST", "/mfa/providers/EMAIL", nil)
	x.refuses(asked, 511, "REQUIRE_2FA")
	x.covers("ACC-FAC-9")
	x.equal("msg", asked.value.get("error").get("msg").text, "your authenticator app")
	x.covers("ACC-FAC-7")
	x.gives(p.ask("POST", "/mfa/providers/EMAIL", fields{"code2FA": x.applicationCode(address, 1)}), `{}`)
	x.gives(p.ask("GET", "/mfa/providers", nil), fmt.Sprintf(emailUsed, true))
}

// casesAre returns the pattern of the cases.
func casesAre(logIn, withdrawal, key bool) string {
	return fmt.Sprintf(`{"cases":{"LOGIN":{"description":"#text","enabled":%v},`+
		`"WITHDRAWAL":{"description":"#text","enabled":%v},"API_KEY":{"description":"#text","enabled":%v}}}`,
		logIn, withdrawal, key)
}

func casesSwitched(x *exam) {
	p := x.person()
	x.covers("ACC-CASE-1")
	x.gives(p.ask("GET", "/mfa/cases", nil), casesAre(false, false, false))
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"LOGIN": true, "WITHDRAWAL": true}})
	x.gives(p.ask("GET", "/mfa/cases", nil), casesAre(true, true, false))
	x.covers("ACC-CASE-2")
	x.refuses(x.rest("POST", "/sessions", "", fields{"email": p.email, "password": goodPassword}), 511, "REQUIRE_2FA")
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "two", "scopes": []string{"withdraw"}}), 511, "REQUIRE_2FA")
	p.behind("POST", "/api-keys", fields{"description": "one"})
	p.confirm("PATCH", "/mfa/cases", fields{"cases": fields{"API_KEY": true}})
	x.refuses(p.ask("POST", "/api-keys", fields{"description": "two"}), 511, "REQUIRE_2FA")
}
