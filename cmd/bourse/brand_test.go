package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// branded is a brand in the form of the settings; terms and logo are files beside it.
const branded = `
name: Agora & Söhne
logo: %[1]s/logo.svg
colours: {dark: {accent: "#c79bff"}, light: {accent: "#6b2fb3"}}
terms: {version: 2026-01, file: %[1]s/terms.md}
privacy: {address: "https://example.com/privacy"}
support: mailto:help@example.com
letters: {sign-up: {subject: Welcome to Agora, text: "Type {code}, please."}}
`

// writeBrand writes a brand and its files, and returns the brand's file and text.
func writeBrand(t *testing.T) (file, text string) {
	t.Helper()
	dir := t.TempDir()
	file, text = filepath.Join(dir, "brand.yaml"), fmt.Sprintf(branded, dir)
	write(t, file, text)
	write(t, filepath.Join(dir, "logo.svg"), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>`)
	write(t, filepath.Join(dir, "terms.md"), "# Terms of Agora\n\nBe kind. <script>alert(1)</script>\n")
	return file, text
}

// ours is our own name as a word. The program, its library and the names on the wire, which
// clients are written for, are no names of the exchange.
var ours = regexp.MustCompile(`\bBourse\b(?:-(?:Key|Timestamp|Window|Signature)\b)?`)

// TestBrand serves a brand, and finds our name in nothing that customers see: every page and
// file, the documentation, errors, and letters.
func TestBrand(t *testing.T) {
	file, _ := writeBrand(t)
	s := start(t, filepath.Join(t.TempDir(), "data"), "--brand", file, "--block-time=0", "--catalogue=demo")
	seen := &visitor{server: s, client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}

	index := seen.get("/", "text/html")
	for _, want := range []string{"<title>Agora &amp; Söhne</title>", "/assets/brand-", "&#34;version&#34;:&#34;2026-01&#34;"} {
		if !strings.Contains(index, want) {
			t.Errorf("the page lacks %s:\n%s", want, index)
		}
	}
	for _, path := range []string{
		"/", "/docs", "/docs/docs.css", "/llms.txt", "/terms", "/nowhere", "/spot/nowhere", "/wallet/v2/nowhere", "/web/session",
		"/web/status", "/web/markets", "/spot/config", "/healthz", "/dev/mail?to=ada@example.org", "/binance/api/v3/exchangeInfo",
	} {
		seen.get(path, "text/html")
		seen.get(path, "application/json")
	}
	if seen.pages < 60 {
		t.Errorf("only %d documents were seen", seen.pages)
	}
	if terms := seen.get("/terms", "text/html"); !strings.Contains(terms, "Be kind.") || strings.Contains(terms, "<script") || !strings.Contains(terms, "2026-01") {
		t.Errorf("the terms are\n%s", terms)
	}
	if css := seen.get("/docs/docs.css", "*/*"); !strings.Contains(css, "--accent: #c79bff") {
		t.Error("the documentation has our colours")
	}

	s.rest("POST", "/account/v2/signup", "", map[string]any{"email": "ada@example.org", "password": "correct horse battery"})
	letters := seen.get("/dev/mail?to=ada@example.org", "application/json")
	for _, want := range []string{"Welcome to Agora", ", please.", `Agora & Söhne\nhelp@example.com`} {
		if !strings.Contains(letters, want) {
			t.Errorf("the letter lacks %q: %s", want, letters)
		}
	}
}

// visitor reads what an exchange serves, and all that it names.
type visitor struct {
	*server
	client *http.Client
	// pages is the number of documents, known their addresses.
	pages int
	known map[string]bool
}

// named are addresses of the exchange in a document or a script.
var named = regexp.MustCompile(`(?:(?:href|src)="|["'./])((?:/docs/|/?assets/)[A-Za-z0-9_.-]+)`)

// get reads a document and, once each, those that it names; it wants our name in none.
func (v *visitor) get(path, accept string) string {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.url+path, nil)
	must(v.t, err)
	req.Header.Set("Accept", accept)
	res, err := v.client.Do(req)
	must(v.t, err)
	body, err := io.ReadAll(res.Body)
	must(v.t, errors.Join(err, res.Body.Close()))
	text := string(body)
	v.pages++

	for _, found := range ours.FindAllString(text, -1) {
		if found == "Bourse" {
			v.t.Errorf("%s names Bourse", path)
		}
	}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		below := "/" + strings.TrimPrefix(m[1], "/")
		if v.known == nil {
			v.known = map[string]bool{}
		}
		if !v.known[below] {
			v.known[below] = true
			v.get(below, "*/*")
		}
	}
	return text
}

// TestBrandOfSettings wants the block in a configuration file to be what a file alone is, and a
// bad one to stop the start with its reason.
func TestBrandOfSettings(t *testing.T) {
	_, text := writeBrand(t)
	var block map[string]any
	must(t, yaml.Unmarshal([]byte(text), &block))
	whole, err := yaml.Marshal(map[string]any{"data": "/d", "brand": block})
	must(t, err)

	config := filepath.Join(t.TempDir(), "c.yaml")
	write(t, config, string(whole))
	c, err := parse(t, "serve", "--config", config)
	if err != nil || c.Serve.Brand.name() != "Agora & Söhne" || c.Serve.Brand.Terms.Version != "2026-01" || len(c.Serve.Brand.Logo.Body) == 0 {
		t.Errorf("%+v, %v", c.Serve.Brand.Brand, err)
	}

	for block, says := range map[string]string{
		"brand: {colours: {dark: {accent: '#33415c'}}}": "line 2: --brand: brand: colours: dark: accent #33415c on bg",
		"brand: {nom: X}":                  "field nom not found",
		"brand: {logo: /nowhere/logo.svg}": "no such file",
		"brand: /nowhere.yaml":             "no such file",
	} {
		write(t, config, "data: /d\n"+block+"\n")
		if _, stderr, code := run(t, "serve", "--config", config); code != exitUsage || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", block, code, stderr)
		}
	}

	large := filepath.Join(t.TempDir(), "large.yaml")
	must(t, os.WriteFile(large, make([]byte, maxFile+1), 0o600))
	if _, stderr, code := run(t, "dev", "--brand", large); code != exitUsage || !strings.Contains(stderr, "more than 1048576 bytes") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestTerms leads a person from a sign-up that accepts the terms over newer ones, which are asked
// for before orders, withdrawals and keys of pages, and of no program's.
func TestTerms(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.yaml"), filepath.Join(dir, "second.yaml")
	write(t, first, "terms: {version: v1, address: 'https://example.com/terms'}\n")
	write(t, second, "terms: {version: v2, address: 'https://example.com/terms'}\n")
	s := start(t, filepath.Join(dir, "data"), "--bots=false", "--block-time=0", "--brand", first)
	b := &browser{server: s}
	const (
		order = `{"pair":"BTC/USDT","type":"LIMIT","side":"BUY","time_in_force":"GTC","price":"50000","amount":"0.1","resp_type":"ACK"}`
		email = "ada@example.org"
	)

	b.want(200, `{}`, "POST", "/web/api/account/v2/signup", `{"email":"`+email+`","password":"correct horse"}`)
	verify := `{"email":"` + email + `","code":"` + b.code(email) + `","terms":"`
	b.want(400, `terms: must be the current version`, "PATCH", "/web/api/account/v2/signup", verify+`v0"}`)
	b.want(200, `{}`, "PATCH", "/web/api/account/v2/signup", verify+`v1"}`)
	b.logIn(email)
	b.want(200, `"termsAccepted":true`, "GET", "/web/session", "")
	b.want(200, `"kind":"TERMS_ACCEPTED"`, "GET", "/web/api/account/v2/activity", "")
	b.want(200, `USDT`, "POST", "/web/api/wallet/v2/faucet", `{"asset":"USDT"}`)
	b.want(200, `"obid":`, "POST", "/web/api/spot/open_orders/new", order)
	b.want(200, `"apiKey"`, "POST", "/web/api/account/v2/api-keys", `{"description":"bot","scopes":["trade"]}`)

	s.kill()
	s.args[len(s.args)-1] = second
	s.start()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	b.cookie.Name = "__Host-bourse-" + port
	b.want(200, `"termsAccepted":false`, "GET", "/web/session", "")
	for path, body := range map[string]string{
		"/web/api/spot/open_orders/new":      order,
		"/web/api/spot/open_orders/replace":  `{}`,
		"/web/api/wallet/transfer":           `{}`,
		"/web/api/wallet/withdraw":           `{}`,
		"/web/api/wallet/v2/io/transactions": `{}`,
		"/web/api/account/v2/api-keys":       `{"description":"x","scopes":["trade"]}`,
		"/web/api/account/api_keys/new":      `{}`,
	} {
		b.ask("POST", path, body)
		if !strings.Contains(b.text, `"TERMS_NOT_ACCEPTED"`) {
			t.Errorf("%s without the terms: %s", path, b.text)
		}
	}
	b.want(200, `"obids":[`, "POST", "/web/api/spot/open_orders/cancel_all", `{}`)

	b.want(400, `terms: must be the current version`, "POST", "/web/terms", `{"version":"v1"}`)
	b.want(200, `{}`, "POST", "/web/terms", `{"version":"v2"}`)
	b.want(200, `{}`, "POST", "/web/terms", `{"version":"v2"}`)
	b.want(200, `"obid":`, "POST", "/web/api/spot/open_orders/new", order)
	b.want(200, `"kind":"TERMS_ACCEPTED"`, "GET", "/web/api/account/v2/activity?limit=1", "")

	// A key that an operator made trades without accepted terms. After a kill the terms are still accepted.
	account, key := s.customer("bot")
	a, err := post(http.DefaultClient, s.url, "/spot/open_orders/new", map[string]any{
		"api_key": key, "pair": "BTC/USDT", "type": "LIMIT", "side": "BUY", "time_in_force": "GTC", "price": "50000", "amount": "0.1",
	})
	if err != nil || !a.Success {
		t.Errorf("account %d by a key: %+v %v", account, a, err)
	}
	s.kill()
	s.start()
	_, port, err = net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	b.cookie.Name = "__Host-bourse-" + port
	b.want(200, `"termsAccepted":true`, "GET", "/web/session", "")
}
