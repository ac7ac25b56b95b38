package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

var restChecks = []check{
	formsOfV2, bearerKeys, scopesOfV2, errorsOfV2, parametersOfV2, pagesOfV2, cursorsOfV2, idsOfV2,
}

// rest sends a request below /account/v2.
func (x *exam) rest(method, path, key string, body fields, headers ...string) *answer {
	x.Helper()
	return x.v2(method, "/account/v2"+path, key, body, headers...)
}

// v2 sends a V2 request, with a key unless it is empty. headers are names and values.
func (x *exam) v2(method, path, key string, body fields, headers ...string) *answer {
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
	return x.send(method, path, text, header)
}

// gives expects status 200 and an answer.
func (x *exam) gives(a *answer, pattern string) {
	x.Helper()
	if a.status != http.StatusOK {
		x.Errorf("status %d %s, want 200", a.status, a.body)
		return
	}
	x.match(a.value, pattern)
}

// refuses expects a status and a code.
func (x *exam) refuses(a *answer, status int, code string) {
	x.Helper()
	if a.status != status {
		x.Errorf("status %d %s, want %d", a.status, a.body, status)
	}
	x.match(a.value, `{"error":{"code":"#code","msg":"#text"}}`)
	x.equal("code", a.value.get("error").get("code").text, code)
}

// formsOfV2 checks only the forms of answers, as every check does.
func formsOfV2(x *exam) {
	x.covers("REST-FORM-1")
	a := x.account("1 BTC")
	for _, path := range []string{"/assets/BTC", "/balances?nonZero", "/io/networks", "/io/deposit/BTC/BTC", "/io/fees/USDT", "/ledger"} {
		a.v2("GET", path, nil)
	}
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
	for _, path := range []string{
		"/nothing", "/account", "/account/v3/email", "/wallet/v2", "/wallet/v2/../assets", "/spots", "/metrics", "/healthz/x",
		"/docs/nothing", "/icons/NOSUCH.svg",
	} {
		a := x.send("GET", path, "", nil)
		x.refuses(a, 404, "INVALID_ENDPOINT")
		x.equal("Content-Type", a.header.Get("Content-Type"), "application/json")
	}
	for _, path := range []string{"/spot", "/spot/nothing", "/wallet/nothing", "/wallet/v2x"} {
		x.noEndpoint(x.send("GET", path, "", nil))
	}
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

// sessionForm is the pattern of a session of this program.
const sessionForm = `{"sid":"#id","lastAct":"#unix","browser":"#text","os":"Unknown","device":"Unknown","ip":"#text",` +
	`"created":"#unix","expires":"#unix","current":%v}`

func pagesOfV2(x *exam) {
	p := x.person()
	p.session()
	first, second := fmt.Sprintf(sessionForm, true), fmt.Sprintf(sessionForm, false)
	anonymous := func(query string) *answer {
		x.Helper()
		return x.rest("GET", "/sessions"+query, p.key, nil, "User-Agent", "x")
	}
	x.covers("REST-PAGE-1")
	x.gives(anonymous(""), `{"sessions":[`+first+`,`+second+`],"more":false}`)
	x.gives(anonymous("?limit=1"), `{"sessions":[`+first+`],"more":true}`)
	x.gives(anonymous("?limit=1&offset=1"), `{"sessions":[`+second+`],"more":false}`)
	x.gives(anonymous("?limit=500&offset=2"), `{"sessions":[],"more":false}`)
	x.covers("REST-PAGE-2")
	x.refuses(anonymous("?limit=0"), 400, "VALIDATION_ERROR")
	x.refuses(anonymous("?limit=-1"), 400, "VALIDATION_ERROR")
	x.refuses(anonymous("?limit=501"), 406, "LIMIT_OUT_OF_RANGE")
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
