package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

// The words of production.txt are those of operators.txt, and:
//
//	sign NAME as LIE  has a lying device with the passkey sign: those of lies, or puppet's own
//	key NAME          has a program ask, with a key of the owner: reads, operates, elsewhere or ended
//	socket VERB JSON  asks the operators' socket
//	told TEXT         wants its answer, or its refusal, to contain the text
//
// <<NAME act>> and <<NAME digest>> are those of the acts that add the operators puppet and glass.

// The names of the exchange, whose listeners are on loopback, behind a proxy that ends TLS.
const (
	customersHost = "exchange.example.com"
	deskHost      = "desk.example.com"
)

// goods are what a production exchange has.
const goods = `
assets:
  - {symbol: AAA, name: First, scale: 8, enabled: true}
  - {symbol: BBB, name: Second, scale: 8, enabled: true}
networks:
  - symbol: AAA
    name: First
    enabled: true
    assets:
      - {asset: AAA, precision: 8, confirms: 2, min_deposit: "1", min_withdrawal: "1", fee_min: "0.1", fee_max: "1", enabled: true}
markets:
  - {base: AAA, quote: BBB, base_precision: 2, quote_precision: 2, min_order: "1", initial_price: "10", maker_fee: "0", taker_fee: "0", band: "10", enabled: true}
tiers: [{name: basic}, {name: known}]
`

// house is a production exchange with one owner: others who were invited wait.
type house struct {
	*desk
	owner *clerk
	known map[string]string
}

// TestProduction attacks a production exchange with an owner: each listener with the cookies, keys and pages of the
// other, the owner who tries to be two, and the machine's socket.
func TestProduction(t *testing.T) {
	h := openHouse(t)
	h.refusesLies(t)
	before := h.state(t, "owner")
	for _, c := range readCases(t, "production.txt") {
		t.Run(strings.ReplaceAll(c.name, "/", "|"), func(t *testing.T) {
			a := &attack{T: t, siege: &siege{exchange: h.x, known: h.known}, hostileCase: c}
			r := &raid{visit: &visit{line: &line{attack: a}, to: h.address}, desk: h.desk}
			defer r.close()
			a.each(r.do)
		})
	}
	if now := h.state(t, "owner"); now != before {
		t.Errorf("the raids changed operators or accounts:\n%s\nwere\n%s", now, before)
	}
	h.logsOut(t)
	if failed, err := h.x.failures(); err != nil || len(failed) > 0 {
		t.Errorf("requests that failed: %v %v", failed, err)
	}
}

// openHouse makes a production exchange with a customer and its first owner.
func openHouse(t *testing.T) *house {
	t.Helper()
	post, letters := postOffice(t)
	x := another(t, attacked.binary, "serve", "--admin-listen=127.0.0.1:0", "--admin-url=https://"+deskHost, "--public-url=https://"+customersHost,
		"--passkeys-id="+customersHost, "--smtp-address="+post, "--smtp-from=post@"+customersHost, "--smtp-plain", "--no-captcha", "--min-free=0",
		"--limits-source-requests=0", "--limits-failed-auth=0")
	found := regexp.MustCompile(`serving operators" address=(\S+)`).FindStringSubmatch(x.log.Text())
	if found == nil {
		t.Fatalf("no listener of operators:\n%s", x.log.Text())
	}
	h := &house{desk: &desk{x: x, address: found[1], host: deskHost, customers: customersHost, people: map[string]*clerk{}}}

	must := func(verb string, args fields, into any) {
		t.Helper()
		if err := x.operate(verb, args, into); err != nil {
			t.Fatal(err)
		}
	}
	must("catalogue/apply", fields{"document": goods}, nil)
	customer := x.open(t)
	page := x.member(t, "customer@example.com", func() string { return <-letters })

	var invited, late struct{ Code string }
	must("operator/invite", fields{"email": "owner@example.com", "role": "owner"}, &invited)
	must("operator/invite", fields{"email": "late@example.com", "role": "owner"}, &late)
	h.owner = h.person("owner")
	h.owner.accept(t, invited.Code)
	h.owner.logIn(t)
	if status, body := h.person("late").register(t, late.Code); status == http.StatusOK || !strings.Contains(string(body), "OPERATORS_ONLY") {
		t.Errorf("an owner whom the machine invited before there was one: %d %s", status, body)
	}

	name, secret, _ := strings.Cut(h.owner.cookie, "=")
	h.known = map[string]string{
		"desk": h.address, "customers": x.address, "customer's key": customer.key, "customer": page.name + "=" + page.secret,
		"customer's secret": page.secret, "owner": h.owner.cookie, "owner's secret": secret, "invited": invited.Code,
		"ended": h.endedSession(t), "unknown": strings.Repeat("0123456789abcdef", 4),
	}
	if name != "__Host-bourse-operator" || page.name != "__Host-bourse" {
		t.Errorf("the cookies are %s and %s", name, page.name)
	}
	h.makeKeys(t)
	h.invite(t)
	return h
}

// lies are devices with the owner's passkey.
var lies = map[string]func(*authenticator.Device){
	"framed":     func(d *authenticator.Device) { d.Framed = true },
	"unverified": func(d *authenticator.Device) { d.Unverified = true },
	// the page or the name of the customers, and the machine's
	"page":    func(d *authenticator.Device) { d.Origin = "https://" + customersHost },
	"name":    func(d *authenticator.Device) { d.Party = customersHost },
	"domain":  func(d *authenticator.Device) { d.Party = "example.com" },
	"machine": func(d *authenticator.Device) { d.Origin = "http://localhost" },
}

// person returns a person with a device and no session.
func (h *house) person(name string) *clerk {
	c := &clerk{desk: h.desk, device: authenticator.New("https://" + deskHost)}
	h.people[name] = c
	return c
}

// endedSession returns the cookie of a session that the owner ended.
func (h *house) endedSession(t *testing.T) string {
	t.Helper()
	twin := *h.owner
	twin.logIn(t)
	if status, body, _ := twin.ask(t, http.MethodDelete, "/session", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	return twin.cookie
}

// makeKeys makes the owner's keys.
func (h *house) makeKeys(t *testing.T) {
	t.Helper()
	for name, terms := range map[string]string{
		"reads": `"scope":"read"`, "operates": `"scope":"operate"`, "elsewhere": `"scope":"operate","addresses":["198.51.100.7"]`,
		"ended": `"scope":"operate","days":1`,
	} {
		status, body := h.owner.confirm(t, http.MethodPost, "/operator-keys", `{"name":"`+name+`",`+terms+`,"reason":"a program"}`)
		var made struct {
			Key    int
			Secret string
		}
		if err := json.Unmarshal(body, &made); err != nil || status != http.StatusOK || made.Secret == "" {
			t.Fatalf("%d %s", status, body)
		}
		h.x.keep(made.Secret)
		h.known["key "+name] = made.Secret
		if name != "ended" {
			continue
		}
		if status, body := h.owner.confirm(t, http.MethodPost, fmt.Sprintf("/operator-keys/%d/end", made.Key), `{"reason":"lost"}`); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
}

// invite has the owner, and the machine by broken glass, invite one more person each. Their passkeys are good for
// nothing as long as the acts wait.
func (h *house) invite(t *testing.T) {
	t.Helper()
	status, body := h.owner.confirm(t, http.MethodPost, "/operators", `{"email":"puppet@example.com","name":"Puppet","role":"owner","reason":"hired"}`)
	var puppet, glass struct{ Code string }
	if err := json.Unmarshal(body, &puppet); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	args := fields{"email": "glass@example.com", "role": "owner", "break_glass": "the owner is away"}
	if err := h.x.operate("operator/invite", args, &glass); err != nil {
		t.Fatal(err)
	}
	h.known["puppet's"] = puppet.Code

	for name, code := range map[string]string{"puppet": puppet.Code, "glass": glass.Code} {
		h.x.keep(code)
		c := h.person(name)
		c.accept(t, code)
		status, body, cookies := c.ask(t, http.MethodPost, "/session", `{"assertion":`+c.sign(t, c.challenge(t))+`}`)
		if status != http.StatusUnauthorized || len(cookies) != 0 {
			t.Errorf("%s begins a session: %d %s", name, status, body)
		}
	}
	h.learnActs(t)
}

// learnActs notes the acts that add puppet, by the owner, and glass, by nobody.
func (h *house) learnActs(t *testing.T) {
	t.Helper()
	status, body, _ := h.owner.ask(t, http.MethodGet, "/acts", "")
	var waits struct {
		Acts []struct {
			Act, By int
			Digest  string
		}
	}
	if err := json.Unmarshal(body, &waits); err != nil || status != http.StatusOK || len(waits.Acts) != 2 {
		t.Fatalf("%d %s", status, body)
	}
	for _, act := range waits.Acts {
		name := map[int]string{0: "glass", 1: "puppet"}[act.By]
		h.known[name+" act"], h.known[name+" digest"] = fmt.Sprint(act.Act), act.Digest
	}
}

// refusesLies wants the owner's passkey to begin no session for a liar.
func (h *house) refusesLies(t *testing.T) {
	t.Helper()
	for name, lie := range lies {
		liar, device := h.person(name), *h.owner.device
		lie(&device)
		liar.device = &device
		status, body, cookies := liar.ask(t, http.MethodPost, "/session", `{"assertion":`+liar.sign(t, liar.challenge(t))+`}`)
		if status != http.StatusUnauthorized || len(cookies) != 0 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// logsOut wants the end of the owner's access to end sessions and keys, and the passkey to begin anew.
func (h *house) logsOut(t *testing.T) {
	t.Helper()
	if status, body := h.owner.confirm(t, http.MethodPost, "/operators/1/log-out", `{"reason":"a stolen laptop"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if status, body, _ := h.owner.ask(t, http.MethodGet, "/withdrawals", ""); status != http.StatusUnauthorized {
		t.Errorf("the session after its end: %d %s", status, body)
	}
	h.owner.logIn(t)
	program := &clerk{desk: h.desk, key: h.known["key reads"]}
	if status, body, _ := program.ask(t, http.MethodGet, "/withdrawals", ""); status != http.StatusForbidden {
		t.Errorf("the key after its end: %d %s", status, body)
	}
}

// letterCode is the code in a letter.
var letterCode = regexp.MustCompile(`code is (\d{6})`)

// postOffice takes letters by SMTP, and sends the codes in them to the channel.
func postOffice(t *testing.T) (address string, codes <-chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	list := make(chan string, 64)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go takeLetters(conn, list)
		}
	}()
	return l.Addr().String(), list
}

// takeLetters speaks SMTP with one client.
func takeLetters(conn net.Conn, codes chan<- string) {
	defer func() { _ = conn.Close() }()
	say := func(line string) { _, _ = fmt.Fprint(conn, line, "\r\n") }
	say("220 post")
	in, letter := bufio.NewScanner(conn), false
	for in.Scan() {
		line := in.Text()
		switch {
		case letter:
			if found := letterCode.FindStringSubmatch(line); found != nil {
				select {
				case codes <- found[1]:
				default: // letters that no test reads
				}
			}
			if letter = line != "."; !letter {
				say("250 taken")
			}
		case line == "DATA":
			letter = true
			say("354 go on")
		case line == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}
