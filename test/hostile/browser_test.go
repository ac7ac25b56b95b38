package hostile

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The words of browser.txt. A request has the headers of a page of ours with a live session,
// unless the lines after it say otherwise; it is sent at the first expectation:
//
//	ask METHOD PATH BODY  asks; a body is JSON
//	header NAME: VALUE    puts a header into the request, or another one's place
//	also NAME: VALUE      adds one
//	without NAME          leaves one out
//	status N...           wants one of these statuses
//	says TEXT             wants the answer to contain the text
//	hides TEXT            wants it not to
//	has NAME: VALUE       wants a header in the answer
//	hasnt NAME            wants none of the name
//
// No answer may let a page of another origin read it.

func TestBrowser(t *testing.T) {
	p := attacked.page(t, "page@example.com")
	lay(t, "browser.txt", func(a *attack) {
		a.known["session"], a.known["cookie"] = p.secret, p.name+"="+p.secret
		a.known["name"] = p.name
		(&visit{line: &line{attack: a}}).visit()
	})

	// What foreign pages asked for in the name of the session has had no effect.
	if got := p.open(t); got != 1 {
		t.Errorf("%d open orders of the page's account, want the one that it placed", got)
	}
}

// page is a page of the exchange with a session, and an open order.
type page struct {
	x            *exchange
	name, secret string
}

// page opens an account, logs in, and places an order.
func (x *exchange) page(t *testing.T, email string) *page {
	t.Helper()
	p := x.member(t, email, func() string {
		var letter struct{ Code string }
		if err := x.operate("mail/last", fields{"email": email}, &letter); err != nil {
			t.Fatal(err)
		}
		return letter.Code
	})
	p.ask(t, http.MethodPost, "/web/api/wallet/v2/faucet", `{"asset":"USDT"}`)
	p.ask(t, http.MethodPost, "/web/api/spot/open_orders/new",
		`{"pair":"BTC/USDT","type":"LIMIT","side":"BUY","time_in_force":"GTC","price":"100","amount":"0.1"}`)
	return p
}

// member opens an account with the code of a letter, and logs in.
func (x *exchange) member(t *testing.T, email string, code func() string) *page {
	t.Helper()
	person := `{"email":"` + email + `","password":"correct horse"`
	p := &page{x: x}
	p.ask(t, http.MethodPost, "/web/api/account/v2/signup", person+`}`)
	p.ask(t, http.MethodPatch, "/web/api/account/v2/signup", `{"email":"`+email+`","code":"`+code()+`"}`)
	for _, c := range p.ask(t, http.MethodPost, "/web/session", person+`}`) {
		p.name, p.secret = c.Name, c.Value
	}
	x.keep(p.secret)
	return p
}

// ask sends a request of the page, which must be taken, and returns the cookies that it sets.
func (p *page) ask(t *testing.T, method, path, body string) []*http.Cookie {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.x.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.secret != "" {
		req.AddCookie(&http.Cookie{Name: p.name, Value: p.secret})
	}
	res, err := p.x.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, res.Status)
	}
	return res.Cookies()
}

// open returns the number of open orders of the page's account.
func (p *page) open(t *testing.T) int {
	t.Helper()
	var shown struct{ Account int }
	if err := p.x.operate("account/show", fields{"account": "page@example.com"}, &shown); err != nil {
		t.Fatal(err)
	}
	var key struct {
		Secret string `json:"api_key"`
	}
	args := fields{"account": shown.Account, "name": "look", "scopes": "read", "addresses": "", "expires": ""}
	if err := p.x.operate("key/create", args, &key); err != nil {
		t.Fatal(err)
	}
	a := &account{x: p.x, id: shown.Account, key: key.Secret, client: p.x.client}
	return len(a.must(t, "/open_orders", fields{"offset": 0}).Orders)
}

// visit is a request of a browser.
type visit struct {
	*line
	// to is the HOST:PORT that is asked; empty for the exchange's own.
	to            string
	path, content string
	headers       [][2]string
	sent          bool
}

// visit carries out a case.
func (v *visit) visit() {
	defer func() {
		if v.conn != nil {
			_ = v.conn.Close()
		}
	}()
	v.each(v.do)
	if v.last == nil {
		v.fail("the case expects nothing")
	}
}

func (v *visit) do(word, text string) {
	v.Helper()
	switch word {
	case "ask":
		method, rest, _ := strings.Cut(text, " ")
		path, body, _ := strings.Cut(rest, " ")
		v.method, v.path, v.content, v.sent = method, path, body, false
		v.headers = [][2]string{{"Host", cmp.Or(v.to, v.address)}, {"Cookie", v.known["cookie"]}, {"Sec-Fetch-Site", "same-origin"}}
		if body != "" {
			v.headers = append(v.headers, [2]string{"Content-Type", "application/json"})
		}
	case "header", "without", "also":
		name, value, _ := strings.Cut(text, ": ")
		if word != "also" {
			v.headers = slices.DeleteFunc(v.headers, func(h [2]string) bool { return h[0] == name })
		}
		if word != "without" {
			v.headers = append(v.headers, [2]string{name, value})
		}
	default:
		v.send()
		v.expect(word, text)
	}
}

// send sends the request, once, and reads the answer.
func (v *visit) send() {
	v.Helper()
	if v.sent {
		return
	}
	if v.conn != nil {
		_ = v.conn.Close()
		v.conn = nil
	}
	v.open(cmp.Or(v.to, v.address))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", v.method, v.path)
	for _, h := range v.headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if v.content != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(v.content))
	}
	v.write(b.String() + "\r\n" + v.content)
	v.read()
	v.sent = true
	if got, open := v.last.Header["Access-Control-Allow-Origin"]; open && (v.to != "" || strings.HasPrefix(v.path, "/web")) {
		v.fail("pages of %q may read the answer", got)
	}
}

func (v *visit) expect(word, text string) {
	v.Helper()
	switch word {
	case "status":
		if got := fmt.Sprint(v.last.StatusCode); !slices.Contains(strings.Fields(text), got) {
			v.fail("status %s: %.300s", got, v.body)
		}
	case "says", "hides":
		if strings.Contains(string(v.body), text) != (word == "says") {
			v.fail("%.300s", v.body)
		}
	default:
		v.see(word, text)
	}
}
