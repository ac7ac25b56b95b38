package operatorv1_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account/authenticator"
	"github.com/bourse-exchange/bourse/internal/api/operatorv1"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// TestSessions accepts an invitation with a passkey, logs in, and out.
func TestSessions(t *testing.T) {
	e := newExchange(t)
	p := e.staff()[0]
	p.wants("GET /session", "", 200, `"name":"First","role":"owner","expires":`)
	stolen := *p
	p.wants("DELETE /session", "", 200, "{}")
	if p.cookie != "" {
		t.Error("the cookie stays")
	}
	p.wants("GET /session", "", 200, `{"operator":null,"sandbox":false}`)
	p.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	stolen.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")

	p.logIn()
	e.now += 10*bourse.Hour - bourse.Second
	p.wants("GET /withdrawals", "", 200, "")
	e.now += bourse.Second
	p.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")

	p.logIn()
	oldest := *p
	for range 8 {
		p.logIn()
	}
	oldest.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	p.wants("GET /withdrawals", "", 200, "")
	e.start()
	p.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
}

// TestLyingLogIns wants assertions that are not the operators' own, fresh and first to begin nothing.
func TestLyingLogIns(t *testing.T) {
	e := newExchange(t)
	p := e.staff()[0]
	p.cookie = ""
	options := p.options(p.ask("PUT /session", "{}"))
	once := adding("{}", "assertion", p.get(options))
	for what, lie := range map[string]func(*authenticator.Device){
		"unverified":    func(d *authenticator.Device) { d.Unverified = true },
		"another page":  func(d *authenticator.Device) { d.Origin = "https://trade.example.com" },
		"below":         func(d *authenticator.Device) { d.Origin = "https://x.desk.example.com" },
		"another party": func(d *authenticator.Device) { d.Party = "example.com" },
		"framed":        func(d *authenticator.Device) { d.Framed = true },
		"other text":    func(d *authenticator.Device) { d.Stale = true },
		"nobody":        func(d *authenticator.Device) { d.Handle = []byte("0123456789abcdef") },
		"own challenge": func(d *authenticator.Device) { d.Challenge = "AAAA" },
	} {
		liar := *p
		device := *p.device
		lie(&device)
		liar.device = &device
		liar.wants("POST /session", adding("{}", "assertion", liar.get(options)), 401, "LOGIN_FAILED")
		if liar.cookie != "" {
			t.Errorf("%s begins a session", what)
		}
	}
	p.wants("POST /session", once, 200, `"operator":1`)
	p.cookie = ""
	p.wants("POST /session", once, 401, "LOGIN_FAILED") // a second time

	late := adding("{}", "assertion", p.get(p.options(p.ask("PUT /session", "{}"))))
	e.now += 5 * bourse.Minute
	p.wants("POST /session", late, 401, "LOGIN_FAILED")
	early := adding("{}", "assertion", p.get(p.options(p.ask("PUT /session", "{}"))))
	e.start()
	p.wants("POST /session", early, 401, "LOGIN_FAILED") // of another process
}

// TestInvitationsByHTTP wants one invitation to be good for one passkey, made for it.
func TestInvitationsByHTTP(t *testing.T) {
	e := newExchange(t)
	code, err := e.Operators.Invite(t.Context(), &operator.Invitation{Email: "ann@example.org", Role: bourse.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	p := &person{exchange: e, device: authenticator.New("https://trade.example.com")}
	body := fmt.Sprintf(`{"code":%q}`, string(code))
	options := p.options(p.ask("PUT /invitations/accept", body))
	if want := `"name":"Agora operators"`; !strings.Contains(string(options), want) {
		t.Errorf("options without %s: %s", want, options)
	}
	made, err := p.device.Create(options)
	if err != nil {
		t.Fatal(err)
	}
	p.wants("POST /invitations/accept", adding(body, "passkey", string(made)), 403, "FORBIDDEN") // by a customers' page
	p.wants("PUT /invitations/accept", `{"code":"00"}`, 404, "NOT_FOUND")
	p.wants("PUT /invitations/accept", `{}`, 400, "MISSING_DATA")

	p.device = authenticator.New(origin)
	if made, err = p.device.Create(options); err != nil {
		t.Fatal(err)
	}
	var accepted struct {
		Operator    int
		Fingerprint string
	}
	w := p.ask("POST /invitations/accept", adding(body, "passkey", string(made)))
	if err := json.Unmarshal(w.Body.Bytes(), &accepted); err != nil || w.Code != 200 || accepted.Operator != 1 {
		t.Fatalf("accept: %d %s %v", w.Code, w.Body, err)
	}
	p.wants("POST /invitations/accept", adding(body, "passkey", string(made)), 404, "NOT_FOUND")

	p.logIn()
	p.wants("GET /operators", "", 200, `"fingerprint":"`+accepted.Fingerprint+`"`)
}

// TestDoors wants other hosts, origins, keys and cookies to open nothing.
func TestDoors(t *testing.T) {
	e := newExchange(t)
	p := e.staff()[0]
	for _, c := range []struct {
		host, origin, name, value string
		want                      int
	}{
		{"desk.example.com", origin, "", "", 200},
		{"DESK.example.com:443", origin, "", "", 200},
		{"desk.example.com", "", "Sec-Fetch-Site", "same-origin", 200},
		{"exchange.example.com", origin, "", "", 403},
		{"127.0.0.1:8090", origin, "", "", 403},
		{"localhost", "", "", "", 403},
		{"desk.example.com.evil.example", origin, "", "", 403},
		{"", origin, "", "", 403},
		{"desk.example.com", "https://exchange.example.com", "", "", 403},
		{"desk.example.com", "http://desk.example.com", "", "", 403},
		{"desk.example.com", "null", "", "", 403},
		{"desk.example.com", "", "Sec-Fetch-Site", "same-site", 403},
		{"desk.example.com", "", "X-Forwarded-Host", "evil.example", 200},
		{"desk.example.com", "", "Authorization", "Bearer " + p.cookie, 400},
		{"desk.example.com", "", "Bourse-Key", p.cookie, 400},
		{"desk.example.com", "", "Cookie", "__Host-bourse=" + p.cookie, 401},
		{"desk.example.com", "", "Cookie", cookie + "=x; " + cookie + "=" + p.cookie, 401},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, origin+operatorv1.Prefix+"/withdrawals", nil)
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.name != "Cookie" {
			r.AddCookie(&http.Cookie{Name: cookie, Value: p.cookie})
		}
		if c.name != "" {
			r.Header.Set(c.name, c.value)
		}
		w := httptest.NewRecorder()
		if e.handler.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, origin+operatorv1.Prefix+"/fees/collect", strings.NewReader("reason=x"))
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	if e.handler.ServeHTTP(w, r); w.Code != 400 {
		t.Errorf("a form of a page: %d %s", w.Code, w.Body)
	}
}

// TestActs approves withdrawals: alone up to the limit, above it by two, and never twice.
func TestActs(t *testing.T) {
	e := newExchange(t)
	first := e.withdraw(4)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator, bourse.RoleOperator, bourse.RoleViewer)
	ann, bob, cy, dee, viewer := staff[0], staff[1], staff[2], staff[3], staff[4]

	limit := ann.waits(ann.confirmed("PUT /assets/ATOM/approval-limit", `{"amount":"1","reason":"small ones"}`, 200, ""))
	ann.wants(fmt.Sprintf("POST /acts/%d/approve", limit.Act),
		ann.asserted(fmt.Sprintf("POST /acts/%d/approve", limit.Act), fmt.Sprintf(`{"digest":%q}`, limit.Digest)), 406, "SAME_OPERATOR")
	cy.approves(limit, 406) // no owner
	viewer.approves(limit, 406)
	bob.approves(act{limit.Act, strings.Repeat("0", 64)}, 406)
	if got := bob.approves(limit, 200); got != fmt.Sprintf(`{"act":%d,"status":"done"}`, limit.Act) {
		t.Error(got)
	}
	bob.approves(limit, 406) // it waits no more

	approve := func(i int) string { return fmt.Sprintf("POST /withdrawals/%d/approve", int(first)+i) }
	viewer.wants(approve(0), `{"reason":"x"}`, 403, "it takes the role operator")
	cy.wants(approve(0), `{}`, 400, "reason")
	cy.wants(approve(0), `{"reason":" "}`, 400, "reason")
	cy.wants(approve(0), `{"reason":"`+strings.Repeat("x", 501)+`"}`, 400, "reason")
	cy.wants(approve(0), `{"reason":"x","code2FA":"123456"}`, 400, "passkey")
	cy.confirmed(approve(0), `{"reason":"known customer"}`, 200, fmt.Sprintf(`{"xid":%d}`, first))
	if !e.View.Leaving()[0].Approved {
		t.Error("it was not approved")
	}
	second := cy.waits(cy.confirmed(approve(1), `{"reason":"one more"}`, 200, ""))
	cy.approves(second, 406)
	if e.View.Leaving()[1].Approved {
		t.Error("one operator approved above the limit")
	}
	dee.approves(second, 200)
	if !e.View.Leaving()[1].Approved {
		t.Error("two operators did not approve")
	}

	third := cy.waits(cy.confirmed(approve(2), `{"reason":"and one"}`, 200, ""))
	dee.confirmed(fmt.Sprintf("POST /acts/%d/drop", third.Act), fmt.Sprintf(`{"digest":%q}`, third.Digest), 406, "") // neither hers nor an owner
	ann.confirmed(fmt.Sprintf("POST /acts/%d/drop", third.Act), fmt.Sprintf(`{"digest":%q}`, third.Digest), 200, "")
	dee.confirmed(fmt.Sprintf("POST /withdrawals/%d/deny", int(first)+3), `{"reason":"a thief's"}`, 200, "")
	if n := len(e.View.Leaving()); n != 3 {
		t.Errorf("%d withdrawals are open", n)
	}
	viewer.wants("GET /acts", "", 200, `{"acts":[]}`)
	viewer.wants("GET /log", "", 200, "decide-withdrawal")
}

// TestAssertionsOfRequests wants an assertion to confirm one request of one operator, once, in time.
func TestAssertionsOfRequests(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOperator)
	ann, cy := staff[0], staff[1]
	const freeze, body = "POST /accounts/1/freeze", `{"reason":"stolen"}`

	good := cy.asserted(freeze, body)
	ann.wants(freeze, good, 403, "INVALID_2FA")                                       // of somebody else
	cy.wants("POST /accounts/1/unfreeze", good, 403, "INVALID_2FA")                   // another path
	cy.wants(freeze+"?x=1", good, 403, "INVALID_2FA")                                 // another query
	cy.wants(freeze, strings.Replace(good, "stolen", "spare", 1), 403, "INVALID_2FA") // another body
	cy.wants(freeze, adding(body, "assertion2FA", `"x"`), 400, "assertion2FA")        // none
	login := cy.get(cy.options((&person{exchange: e, device: cy.device}).ask("PUT /session", "{}")))
	cy.wants(freeze, adding(body, "assertion2FA", login), 403, "INVALID_2FA") // that of a log-in
	cy.wants(freeze, good, 200, `{"account":1,"frozen":true}`)
	cy.wants(freeze, good, 403, "INVALID_2FA") // twice

	late := cy.asserted("POST /accounts/1/unfreeze", body)
	e.now += 5 * bourse.Minute
	cy.wants("POST /accounts/1/unfreeze", late, 403, "INVALID_2FA")
	liar := *cy.device
	liar.Unverified = true
	thief := &person{exchange: e, device: &liar, cookie: cy.cookie}
	thief.wants(freeze, thief.asserted(freeze, body), 403, "INVALID_2FA")
	if standing, _ := e.View.Account(1); !standing.Frozen {
		t.Error("the account thawed")
	}
}

// TestDisabledOperators wants one who was disabled to have no session, and what it ordered to wait
// in vain.
func TestDisabledOperators(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOwner)
	ann, bob, eve := staff[0], staff[1], staff[2]
	fees := eve.waits(eve.confirmed("PUT /accounts/1/fees", `{"maker_fee":"0","taker_fee":"0","reason":"a friend"}`, 200, ""))
	change := ann.waits(ann.confirmed("PATCH /operators/3", `{"enabled":false,"reason":"left"}`, 200, ""))
	bob.approves(change, 200)
	eve.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	eve.cookie = ""
	eve.wants("POST /session", adding("{}", "assertion", eve.get(eve.options(eve.ask("PUT /session", "{}")))), 401, "LOGIN_FAILED")
	bob.approves(fees, 406)
}

// TestEnabledAgain wants the sessions of one who was disabled to stay ended.
func TestEnabledAgain(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOwner)
	ann, bob, eve := staff[0], staff[1], staff[2]
	for _, enabled := range []bool{false, true} {
		body := fmt.Sprintf(`{"enabled":%t,"reason":"on leave"}`, enabled)
		bob.approves(ann.waits(ann.confirmed("PATCH /operators/3", body, 200, "")), 200)
	}
	eve.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	eve.logIn()
	eve.wants("GET /withdrawals", "", 200, "")
	ann.wants("GET /withdrawals", "", 200, "")
}

// TestDisabledWhileLoggingIn disables and enables an operator between the passkey's answer and the
// session, and wants none to begin.
func TestDisabledWhileLoggingIn(t *testing.T) {
	e := newExchange(t)
	eve := e.staff(bourse.RoleOwner, bourse.RoleViewer)[2]
	eve.cookie = ""
	body := adding("{}", "assertion", eve.get(eve.options(eve.ask("PUT /session", "{}"))))
	def := e.View.Operators()[2]
	e.uses = func() {
		e.uses = nil
		e.tells(def, false)
		e.tells(def, true)
	}
	eve.wants("POST /session", body, 401, "LOGIN_FAILED")
	eve.logIn()
}

// TestRoleAlone wants a new role to leave an operator enabled.
func TestRoleAlone(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOwner)
	ann, bob, eve := staff[0], staff[1], staff[2]
	change := ann.waits(ann.confirmed("PATCH /operators/3", `{"role":"viewer","reason":"moved"}`, 200, ""))
	bob.approves(change, 200)
	eve.wants("GET /withdrawals", "", 200, "")
}

// TestOwnersInvite has two owners let a third person in.
func TestOwnersInvite(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator)
	ann, bob, cy := staff[0], staff[1], staff[2]
	const invitation = `{"email":"new@example.org","name":"New","role":"operator","reason":"hired"}`
	cy.wants("POST /operators", invitation, 403, "it takes the role owner")
	answer := ann.confirmed("POST /operators", invitation, 200, "")
	_, code, _ := strings.Cut(answer, `"code":"`)
	code, _, _ = strings.Cut(code, `"`)

	p, accepted := e.accept(code)
	waiting := e.View.Acts()[0]
	if !strings.HasPrefix(accepted, fmt.Sprintf(`{"act":%d,"fingerprint":"`, waiting.ID)) || len(e.View.Operators()) != 3 {
		t.Errorf("accepted: %s", accepted)
	}
	p.wants("POST /session", adding("{}", "assertion", p.get(p.options(p.ask("PUT /session", "{}")))), 401, "LOGIN_FAILED")
	if m, _ := e.letters.Last("new@example.org"); !strings.Contains(m.Text, "as operator of Agora") {
		t.Errorf("the invited person was told %q", m.Text)
	}
	bob.wants("GET /acts", "", 200, `"email":"new@example.org"`) // else an owner approves whomever the other one invited
	bob.approves(act{uint64(waiting.ID), fmt.Sprintf("%x", waiting.Digest)}, 200)
	p.logIn()
	p.wants("GET /session", "", 200, `"operator":4,"email":"new@example.org","name":"New","role":"operator"`)
	p.wants("GET /operators", "", 200, `"email":"new@example.org"`)
}

// TestTiersByHTTP gives an account a tier, for a reason that the log tells.
func TestTiersByHTTP(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	cy.wants("PUT /accounts/1/tier", cy.asserted("PUT /accounts/1/tier", `{"tier":"none","reason":"x"}`), 400, "no tier")
	cy.confirmed("PUT /accounts/1/tier", `{"tier":"known","reason":"documents seen"}`, 200, `{"account":1,"tier":"known"}`)
	if standing, _ := e.View.Account(1); standing.Tier != 1 {
		t.Errorf("tier %d", standing.Tier)
	}
	cy.wants("GET /log", "", 200, "of operator 2 done: account-tier account=1 tier=1: documents seen")
}

// TestCatalogueByPreview applies a document by the preview that an owner saw.
func TestCatalogueByPreview(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	document := func(name string) string {
		return fmt.Sprintf(`"document":"assets:\n- {symbol: NEW, name: %s, scale: 8, enabled: true}\n"`, name)
	}
	w := ann.ask("POST /catalogue/preview", "{"+document("New")+"}")
	_, preview, found := strings.Cut(w.Body.String(), `"preview":"`)
	if preview, _, _ = strings.Cut(preview, `"`); !found || !strings.Contains(w.Body.String(), "add asset NEW") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	apply := func(document string) string {
		return fmt.Sprintf(`{%s,"preview":%q,"reason":"listing"}`, document, preview)
	}
	ann.confirmed("POST /catalogue", apply(document("Newer")), 409, "")
	ann.confirmed("POST /catalogue", `{`+document("New")+`,"reason":"listing"}`, 409, "")
	bob.approves(ann.waits(ann.confirmed("POST /catalogue", apply(document("New")), 200, "")), 200)
	if e.View.Catalogue().Asset("NEW") == nil {
		t.Error("the asset is not listed")
	}
	ann.wants("GET /catalogue", "", 200, "NEW")
}

// TestPreviewedChangesAlone renames an asset while a document is applied, and wants no act but those
// that the preview showed.
func TestPreviewedChangesAlone(t *testing.T) {
	e := newExchange(t)
	ann := e.staff(bourse.RoleOwner)[0]
	atom, btc := *e.View.Catalogue().Asset("ATOM"), *e.View.Catalogue().Asset("BTC")
	row := func(a *bourse.Asset, name string) string {
		return fmt.Sprintf("- {symbol: %s, name: %s, scale: %d, enabled: true}\n", a.Symbol, name, a.Scale)
	}
	document, err := json.Marshal("assets:\n" + row(&atom, "Renamed") + row(&btc, btc.Name))
	if err != nil {
		t.Fatal(err)
	}
	w := ann.ask("POST /catalogue/preview", fmt.Sprintf(`{"document":%s}`, document))
	_, preview, _ := strings.Cut(w.Body.String(), `"preview":"`)
	preview, _, _ = strings.Cut(preview, `"`)

	e.meanwhile = func(cmd *bourse.Command) {
		if cmd.Kind != bourse.CommandNote {
			return
		}
		e.meanwhile = nil
		btc.Name = "Another"
		define := bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &btc}
		if _, err := e.Operators.Order(t.Context(), 0, "by the machine", &define); err != nil {
			t.Fatal(err)
		}
		e.now += bourse.Day
		e.do(bourse.Command{Kind: bourse.CommandTick})
	}
	waiting := ann.waits(ann.confirmed("POST /catalogue", fmt.Sprintf(`{"document":%s,"preview":%q,"reason":"a name"}`, document, preview), 200, ""))
	if acts := e.View.Acts(); len(acts) != 1 || uint64(acts[0].ID) != waiting.Act || !strings.Contains(acts[0].What, "Renamed") {
		t.Errorf("acts wait: %+v", acts)
	}
	if e.View.Catalogue().Asset("BTC").Name != "Another" {
		t.Error("the catalogue did not change meanwhile")
	}
}

// TestBrokenGlassIsLate lets an operator in by broken glass a day later, and nobody before.
func TestBrokenGlassIsLate(t *testing.T) {
	e := newExchange(t)
	ann := e.staff()[0]
	code, err := e.Operators.Invite(t.Context(), &operator.Invitation{Email: "b@example.org", Role: bourse.RoleOwner, Reason: "lost"})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := e.accept(string(code))
	logIn := func() string { return adding("{}", "assertion", p.get(p.options(p.ask("PUT /session", "{}")))) }
	waiting := e.View.Acts()[0]
	ann.approves(act{uint64(waiting.ID), fmt.Sprintf("%x", waiting.Digest)}, 406) // no operator's act
	e.now = waiting.Due - bourse.Minute
	e.do(bourse.Command{Kind: bourse.CommandTick})
	p.wants("POST /session", logIn(), 401, "LOGIN_FAILED")
	if letter, _ := e.letters.Last(ann.email()); !strings.Contains(letter.Text, "lost") ||
		!strings.Contains(letter.Text, "b@example.org") {
		t.Errorf("the owner was told %q", letter.Text)
	}
	e.now += bourse.Minute
	e.do(bourse.Command{Kind: bourse.CommandTick})
	p.wants("POST /session", logIn(), 200, `"operator":2`)
}

// email returns the operator's address.
func (p *person) email() string {
	p.Helper()
	listed, err := p.Operators.List(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return listed[p.id-1].Email
}
