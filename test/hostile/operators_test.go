package hostile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

// The words of operators.txt are those of browser.txt, at the operators' listener, and:
//
//	by NAME               sends the cookie of an operator: owner, second, clerk or viewer
//	sign NAME             has the passkey of an operator sign for the request, without sending it
//	keep NAME             keeps the assertion as <<NAME>>
//	at customers          sends the request to the customers' listener
//	act NAME              has the owner order an act that waits, as <<NAME>> and <<NAME digest>>
//
// production_test.go has more.

// desk is the operators' listener with its operators.
type desk struct {
	x *exchange
	// address is dialed.
	address string
	// host and customers are the names by which the operators' and the customers' listener are asked; empty for the
	// addresses.
	host, customers string
	people          map[string]*clerk
}

// clerk is an operator with a device and a session.
type clerk struct {
	*desk
	device *authenticator.Device
	// key is that of a program of the clerk, which has no cookie.
	cookie, key string
}

// served finds the operators' listener in the log.
var served = regexp.MustCompile(`serving operators.* url=http://localhost:(\d+)`)

// desk returns the operators' listener of a sandbox, and invites its operators.
func (x *exchange) desk(t *testing.T) *desk {
	t.Helper()
	found := served.FindStringSubmatch(x.log.Text())
	if found == nil {
		t.Fatalf("no listener of operators:\n%s", x.log.Text())
	}
	d := &desk{x: x, address: "localhost:" + found[1], people: map[string]*clerk{}}
	origin := "http://" + d.address
	for _, one := range [][2]string{{"owner", "owner"}, {"second", "owner"}, {"clerk", "operator"}, {"viewer", "viewer"}} {
		var invited struct{ Code string }
		args := fields{"email": one[0] + "@example.com", "name": one[0], "role": one[1]}
		if err := x.operate("operator/invite", args, &invited); err != nil {
			t.Fatal(err)
		}
		x.keep(invited.Code)
		c := &clerk{desk: d, device: authenticator.New(origin)}
		c.accept(t, invited.Code)
		c.logIn(t)
		d.people[one[0]] = c
	}
	return d
}

// accept accepts an invitation.
func (c *clerk) accept(t *testing.T, code string) {
	t.Helper()
	if status, body := c.register(t, code); status != http.StatusOK {
		t.Fatalf("accept: %d %s", status, body)
	}
}

// register makes a passkey for an invitation and returns the answer to it.
func (c *clerk) register(t *testing.T, code string) (int, []byte) {
	t.Helper()
	status, body, _ := c.ask(t, http.MethodPut, "/invitations/accept", fmt.Sprintf(`{"code":%q}`, code))
	made, err := c.device.Create(options(t, status, body))
	if err != nil {
		t.Fatal(err)
	}
	status, body, _ = c.ask(t, http.MethodPost, "/invitations/accept", fmt.Sprintf(`{"code":%q,"passkey":%s}`, code, made))
	return status, body
}

// logIn begins a session.
func (c *clerk) logIn(t *testing.T) {
	t.Helper()
	c.cookie = ""
	status, body, cookies := c.ask(t, http.MethodPost, "/session", `{"assertion":`+c.sign(t, c.challenge(t))+`}`)
	if status != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("log-in: %d %s", status, body)
	}
	c.cookie = cookies[0].Name + "=" + cookies[0].Value
	c.x.keep(cookies[0].Value)
}

// challenge returns the options of a log-in.
func (c *clerk) challenge(t *testing.T) []byte {
	t.Helper()
	status, body, _ := c.ask(t, http.MethodPut, "/session", "{}")
	return options(t, status, body)
}

// sign returns an assertion of the clerk's device.
func (c *clerk) sign(t *testing.T, options []byte) string {
	t.Helper()
	signed, err := c.device.Get(options)
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

// ask sends a request of the console.
func (c *clerk) ask(t *testing.T, method, path, body string) (int, []byte, []*http.Cookie) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.address+"/operator/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = cmp.Or(c.host, c.address)
	req.Header.Set("Content-Type", "application/json")
	if c.cookie != "" {
		req.Header.Set("Cookie", c.cookie)
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.x.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out bytes.Buffer
	if _, err := out.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, out.Bytes(), res.Cookies()
}

// TestOperators attacks the operators' listener: from the pages and with the sessions of customers,
// with assertions that are not of the request, and by operators who may not.
func TestOperators(t *testing.T) {
	d, p := attacked.desk(t), attacked.customer(t)
	before := d.state(t, "viewer")
	lay(t, "operators.txt", func(a *attack) {
		for name, c := range d.people {
			a.known[name] = c.cookie
		}
		a.known["desk"], a.known["customers"], a.known["customer"] = d.address, a.address, p
		r := &raid{visit: &visit{line: &line{attack: a}, to: d.address}, desk: d}
		defer r.close()
		a.each(r.do)
	})
	if now := d.state(t, "viewer"); now != before {
		t.Errorf("the raids changed operators or accounts:\n%s\nwere\n%s", now, before)
	}
}

// customer returns the cookie of a customer's session.
func (x *exchange) customer(t *testing.T) string {
	t.Helper()
	p := x.page(t, "customer@example.com")
	return p.name + "=" + p.secret
}

// state returns what no case may change, as an operator reads it.
func (d *desk) state(t *testing.T, reader string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range []string{"/operators", "/accounts/1", "/accounts/1/balances"} {
		status, body, _ := d.people[reader].ask(t, http.MethodGet, path, "")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		all.Write(body)
	}
	return all.String()
}

// raid is a running case.
type raid struct {
	*visit
	desk *desk
	// signed is the last assertion.
	signed string
	// ordered are the acts of the case.
	ordered []string
	// told is the last answer of the socket.
	told string
}

// close ends the case: the acts that it ordered wait still, and are dropped.
func (r *raid) close() {
	for _, name := range r.ordered {
		r.drop(name)
	}
	if r.conn != nil {
		_ = r.conn.Close()
	}
	if r.last == nil && r.told == "" {
		r.fail("the case expects nothing")
	}
}

func (r *raid) do(word, text string) {
	r.Helper()
	switch word {
	case "by":
		r.headers = slices.DeleteFunc(r.headers, func(h [2]string) bool { return h[0] == "Cookie" })
		r.headers = append(r.headers, [2]string{"Cookie", r.person(text).cookie})
	case "sign":
		name, device, _ := strings.Cut(text, " as ")
		r.sign(r.person(name), r.person(cmp.Or(device, name)))
	case "keep":
		r.known[text] = r.signed
	case "ask":
		r.visit.do(word, text)
		r.visit.do("header", "Host: "+cmp.Or(r.desk.host, r.to))
	case "at":
		r.to = ""
		r.visit.do("header", "Host: "+cmp.Or(r.desk.customers, r.address))
	case "act":
		r.order(text)
	case "key":
		r.visit.do("without", "Cookie")
		r.visit.do("header", "Authorization: Bearer "+r.known["key "+text])
	case "socket":
		r.operates(text)
	case "told":
		if !strings.Contains(r.told, text) {
			r.fail("%.300s", r.told)
		}
	default:
		r.visit.do(word, text)
	}
}

func (r *raid) person(name string) *clerk {
	r.Helper()
	c := r.desk.people[name]
	if c == nil {
		r.fail("nobody has this name")
	}
	return c
}

// sign asks for the challenge of a clerk's request and adds an assertion over it, by a device.
func (r *raid) sign(c, device *clerk) {
	r.Helper()
	status, body, _ := c.ask(r.T, r.method, strings.TrimPrefix(r.path, "/operator/v1"), r.content)
	if status != http.StatusNetworkAuthenticationRequired {
		r.fail("no passkey is asked for: %d %s", status, body)
	}
	asked := options(r.T, status, body)
	if device != c {
		asked = forAnyKey(r.T, asked)
	}
	r.signed = device.sign(r.T, asked)
	r.content = strings.TrimSuffix(r.content, "}") + `,"assertion2FA":` + r.signed + "}"
}

// forAnyKey returns options that a device with any passkey signs for.
func forAnyKey(t *testing.T, options []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(options, &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "allowCredentials")
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// operates calls a verb of the socket.
func (r *raid) operates(text string) {
	r.Helper()
	verb, args, _ := strings.Cut(text, " ")
	var answer json.RawMessage
	if err := r.desk.x.operate(verb, json.RawMessage(args), &answer); err != nil {
		r.told = err.Error()
	} else {
		r.told = string(answer)
	}
}

// order has the owner order an act that takes two: the fee rates of account 1.
func (r *raid) order(name string) {
	r.Helper()
	c := r.person("owner")
	status, answer := c.confirm(r.T, http.MethodPut, "/accounts/1/fees", `{"maker_fee":"0","taker_fee":"0","reason":"a friend"}`)
	var waits struct {
		Acts []struct {
			Act    uint64
			Digest string
		}
	}
	if err := json.Unmarshal(answer, &waits); err != nil || status != http.StatusOK || len(waits.Acts) != 1 {
		r.fail("no act waits: %d %s", status, answer)
	}
	r.known[name], r.known[name+" digest"] = fmt.Sprint(waits.Acts[0].Act), waits.Acts[0].Digest
	r.ordered = append(r.ordered, name)
}

// drop ends an act, which must wait still.
func (r *raid) drop(name string) {
	r.Helper()
	c := r.person("owner")
	path, body := "/acts/"+r.known[name]+"/drop", fmt.Sprintf(`{"digest":%q}`, r.known[name+" digest"])
	if status, answer := c.confirm(r.T, http.MethodPost, path, body); status != http.StatusOK {
		r.Errorf("the act did not wait any more: %d %s", status, answer)
	}
}

// confirm sends a request with an assertion over it.
func (c *clerk) confirm(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	status, asked, _ := c.ask(t, method, path, body)
	signed := c.sign(t, options(t, status, asked))
	status, answer, _ := c.ask(t, method, path, strings.TrimSuffix(body, "}")+`,"assertion2FA":`+signed+"}")
	return status, answer
}

// TestOperatorsFlood has one source ask for log-ins and guess invitations until it is refused. An
// operator behind the same address goes on working, and nothing is begun or found.
func TestOperatorsFlood(t *testing.T) {
	x := another(t, attacked.binary, "dev", "--bots=false", "--limits=production", "--admin-listen=127.0.0.1:0")
	d := x.desk(t)
	stranger, clerk := &clerk{desk: d}, d.people["clerk"]

	const most = 20_000
	for _, flood := range []struct{ method, path, body string }{
		{http.MethodPut, "/session", "{}"},
		{http.MethodPost, "/session", `{"assertion":` + clerk.sign(t, stranger.challenge(t)) + `}`},
		{http.MethodPut, "/invitations/accept", `{"code":"` + strings.Repeat("0", 64) + `"}`},
	} {
		seen := map[int]int{}
		for i := 0; i < most && seen[http.StatusTooManyRequests] < 100; i++ {
			status, body, cookies := stranger.ask(t, flood.method, flood.path, flood.body)
			seen[status]++
			if len(cookies) > 0 && seen[http.StatusOK] > 1 || bytes.Contains(body, []byte("email")) && flood.path != "/session" {
				t.Fatalf("%s %s: %d %s", flood.method, flood.path, status, body)
			}
		}
		if seen[http.StatusTooManyRequests] < 100 || seen[http.StatusInternalServerError] > 0 {
			t.Errorf("%s %s: the answers are %v", flood.method, flood.path, seen)
		}
	}

	if status, body, _ := clerk.ask(t, http.MethodGet, "/withdrawals", ""); status != http.StatusOK {
		t.Errorf("the operator reads: %d %s", status, body)
	}
	if status, body := clerk.confirm(t, http.MethodPut, "/networks/BTC/withdrawals", `{"paused":true,"reason":"a flood"}`); status != http.StatusOK {
		t.Errorf("the operator acts: %d %s", status, body)
	}
}
