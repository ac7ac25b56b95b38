package operatorv1_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/operatorv1"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// program is a program that has an operator's key.
type program struct {
	*exchange
	id  int
	key string
	// headers are further headers of each request.
	headers map[string]string
}

// makesKey makes a key of an operator; more are further members of the request.
func (p *person) makesKey(scope, more string) *program {
	p.Helper()
	var made struct {
		Key    int    `json:"key"`
		Secret string `json:"secret"`
	}
	body := fmt.Sprintf(`{"name":"monitor","scope":%q%s,"reason":"a monitor"}`, scope, more)
	if err := json.Unmarshal([]byte(p.confirmed("POST /operator-keys", body, 200, "")), &made); err != nil || made.Key == 0 {
		p.Fatalf("no key: %+v %v", made, err)
	}
	return &program{exchange: p.exchange, id: made.Key, key: made.Secret}
}

// ask sends a request with the key.
func (p *program) ask(what, body string) *httptest.ResponseRecorder {
	p.Helper()
	method, path, _ := strings.Cut(what, " ")
	r := httptest.NewRequestWithContext(p.Context(), method, origin+operatorv1.Prefix+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+p.key)
	for name, value := range p.headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	if err := p.documents.Exchange(method, operatorv1.Prefix+path, []byte(body), w.Code, w.Body.Bytes()); err != nil {
		p.Errorf("%s %s is not as described: %v\n%s", what, body, err, w.Body)
	}
	if len(w.Result().Cookies()) > 0 {
		p.Errorf("%s sets a cookie for a key", what)
	}
	return w
}

// wants sends a request with the key and wants an answer; empty takes any.
func (p *program) wants(what, body string, status int, want string) {
	p.Helper()
	if w := p.ask(what, body); w.Code != status || want != "" && !strings.Contains(w.Body.String(), want) {
		p.Errorf("%s %s:\n got %d %s\nwant %d %s", what, body, w.Code, w.Body, status, want)
	}
}

// TestOperatorKeys has a program read and stop things with a key, in the name of its operator.
func TestOperatorKeys(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	reader, worker := cy.makesKey("read", ""), cy.makesKey("operate", `,"days":30`)
	cy.wants("GET /operator-keys", "", 200, fmt.Sprintf(`{"keys":[{"key":1,"operator":2,"name":"monitor","scope":"read","created":%d`, e.now.Seconds()))

	reader.wants("GET /withdrawals", "", 200, "")
	reader.wants("GET /session", "", 200, `"role":"operator"`)
	reader.wants("GET /session", "", 200, `"key":1`)
	reader.wants("POST /accounts/1/freeze", `{"reason":"theft"}`, 403, "the key has the scope read")
	reader.wants("DELETE /session", "", 200, "{}")
	worker.wants("POST /accounts/1/freeze", `{"reason":"theft"}`, 200, `{"account":1,"frozen":true}`)
	if standing, _ := e.View.Account(1); !standing.Frozen {
		t.Error("the account is not frozen")
	}
	worker.wants("PUT /networks/ATOM/withdrawals", `{"paused":true,"reason":"theft"}`, 200, `"paused":true`)
	worker.wants("PUT /markets/ATOM-USDT/state", `{"state":"halted","reason":"theft"}`, 200, "")
	worker.wants("POST /accounts/1/freeze", `{}`, 400, "reason")
	worker.wants("POST /accounts/1/freeze", `{"reason":"`+strings.Repeat("x", 494)+`"}`, 400, "1 to 493 bytes")
	cy.wants("GET /log", "", 200, "of operator 2 done: freeze account=1 on=true: key 2: theft")
	cy.wants("GET /log", "", 200, "operator 2: operator make-key 2 --scope operate --days 30: a monitor")
}

// TestWhatTakesAPerson has a program with the key of an owner ask for everything that changes something, and
// wants what stops things or tells people to be taken, and nothing else.
func TestWhatTakesAPerson(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner)
	ann := staff[0]
	worker := ann.makesKey("operate", "")
	taken := []string{
		"POST /accounts/{account}/freeze", "PUT /networks/{network}/withdrawals", "PUT /markets/{pair}/state", "POST /markets/pause",
		"POST /keys/{key_id}/revoke", "POST /notices", "POST /notices/{id}/end", "POST /webhooks/{webhook}/enable", "POST /webhooks/{webhook}/test",
	}
	desk := &operatorv1.Desk{Verbs: &e.Server}
	for _, o := range desk.Endpoints() {
		if what := o.Method + " " + o.Path; (o.Scope == account.ScopeRead) != (o.Method == http.MethodGet || slices.Contains(taken, what) ||
			what == "POST /catalogue/preview" || what == "POST /networks/{network}/psbt") && o.Scope != 0 {
			t.Errorf("%s has the scope %d", what, o.Scope)
		}
	}

	before := e.engine.Seq()
	for _, what := range []string{
		"POST /operators", "PATCH /operators/2", "POST /operators/2/log-out", "POST /operator-keys", "POST /operator-keys/1/end",
		"POST /withdrawals/1/approve", "POST /withdrawals/1/deny", "POST /deposits/1/assign", "POST /accounts/1/reset",
		"POST /accounts/1/unfreeze", "PUT /accounts/1/tier", "POST /catalogue", "POST /fees/collect", "POST /rules/adopt", "POST /webhooks",
	} {
		worker.wants(what, `{"reason":"x"}`, 403, "it needs a session, not an API key")
	}
	worker.wants("PUT /networks/ATOM/withdrawals", `{"paused":false,"reason":"x"}`, 403, "it takes an operator's passkey, and no key")
	for _, state := range []string{"open", "delisted"} {
		worker.wants("PUT /markets/ATOM-USDT/state", `{"state":"`+state+`","reason":"x"}`, 403, "it takes an operator's passkey")
	}
	worker.wants("POST /invitations/accept", `{"code":"00","passkey":{}}`, 403, "")
	worker.wants("PUT /session", "", 403, "")
	if e.engine.Seq() != before {
		t.Error("something was ordered")
	}
}

// TestKeysAreNoSecondOperator wants an act to take another person than the one whose key there is.
func TestKeysAreNoSecondOperator(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	worker := ann.makesKey("operate", "")
	fees := ann.waits(ann.confirmed("PUT /accounts/1/fees", `{"maker_fee":"0","taker_fee":"0","reason":"a friend"}`, 200, ""))
	approve, digest := fmt.Sprintf("POST /acts/%d/approve", fees.Act), fmt.Sprintf(`{"digest":%q}`, fees.Digest)
	worker.wants(approve, digest, 403, "it needs a session")
	worker.wants(fmt.Sprintf("POST /acts/%d/drop", fees.Act), digest, 403, "it needs a session")
	ann.wants(approve, ann.asserted(approve, digest), 406, "SAME_OPERATOR")
	bob.approves(fees, 200)
}

// TestNobodyPosesAsAKey refuses an operator in person a reason that reads in the log as if a key had ordered the act.
func TestNobodyPosesAsAKey(t *testing.T) {
	ann := newExchange(t).staff()[0]
	for _, reason := range []string{"key 7: by itself", " key 7 : by itself"} {
		ann.wants("POST /accounts/1/freeze", fmt.Sprintf(`{"reason":%q}`, reason), 400, "reason: must not begin")
	}
	ann.confirmed("POST /accounts/1/freeze", `{"reason":"key lost: all of them"}`, 200, "")
}

// TestKeysEnd wants a key to end by its time, its operator, an owner, the end of its operator's access and
// that of the powers, and to be bounded by the operator's role.
func TestKeysEnd(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator, bourse.RoleOperator)
	ann, bob, cy, dee := staff[0], staff[1], staff[2], staff[3]
	ended := func(p *program) {
		t.Helper()
		p.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	}

	short := cy.makesKey("read", `,"days":1`)
	e.now += bourse.Day - 2*bourse.Second
	short.wants("GET /withdrawals", "", 200, "")
	e.now += 2 * bourse.Second
	ended(short)
	for _, p := range staff {
		p.logIn()
	}

	one, other := cy.makesKey("read", ""), cy.makesKey("read", "")
	dee.wants(fmt.Sprintf("POST /operator-keys/%d/end", one.id), dee.asserted(fmt.Sprintf("POST /operator-keys/%d/end", one.id), `{"reason":"x"}`), 403, "the role owner")
	cy.confirmed(fmt.Sprintf("POST /operator-keys/%d/end", one.id), `{"reason":"unused"}`, 200, fmt.Sprintf(`{"key":%d}`, one.id))
	ended(one)
	ann.confirmed(fmt.Sprintf("POST /operator-keys/%d/end", other.id), `{"reason":"unused"}`, 200, "")
	ended(other)
	ann.confirmed(fmt.Sprintf("POST /operator-keys/%d/end", other.id), `{"reason":"unused"}`, 404, "")

	lost := cy.makesKey("operate", "")
	dee.wants("POST /operators/3/log-out", dee.asserted("POST /operators/3/log-out", `{"reason":"x"}`), 403, "the role owner")
	ann.confirmed("POST /operators/3/log-out", `{"reason":"a stolen laptop"}`, 200, `{"operator":3}`)
	ended(lost)
	cy.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	cy.logIn()
	ended(lost)
	cy.confirmed("POST /operators/3/log-out", `{"reason":"going home"}`, 200, "")
	cy.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	cy.logIn()

	change := func(body string) { bob.approves(ann.waits(ann.confirmed("PATCH /operators/3", body, 200, "")), 200) }
	worker := cy.makesKey("operate", "")
	change(`{"role":"viewer","reason":"moved"}`)
	worker.wants("POST /accounts/1/freeze", `{"reason":"x"}`, 403, "it takes the role operator")
	worker.wants("GET /withdrawals", "", 200, "")
	change(`{"enabled":false,"reason":"left"}`)
	ended(worker)
	change(`{"enabled":true,"reason":"came back"}`)
	ended(worker)
	if keys, err := e.store.OperatorKeys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("%+v %v", keys, err)
	}
}

// TestKeysOutliveAStart wants a start to leave keys as they are, but those of an operator whose process ended
// before it removed them.
func TestKeysOutliveAStart(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOperator, bourse.RoleOperator)
	ann, bob, cy, dee := staff[0], staff[1], staff[2], staff[3]
	stays, goes := cy.makesKey("read", ""), dee.makesKey("read", "")
	bob.approves(ann.waits(ann.confirmed("PATCH /operators/4", `{"enabled":false,"reason":"left"}`, 200, "")), 200)
	e.start()
	if err := e.Operators.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	stays.wants("GET /withdrawals", "", 200, "")
	ann.logIn()
	bob.logIn()
	bob.approves(ann.waits(ann.confirmed("PATCH /operators/4", `{"enabled":true,"reason":"came back"}`, 200, "")), 200)
	goes.wants("GET /withdrawals", "", 403, "INVALID_KEY")
}

// TestKeysSinceAReturnOutliveAStart replays that an operator was disabled and enabled again, and wants the key that
// was made since to stay.
func TestKeysSinceAReturnOutliveAStart(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	since := cy.makesKey("read", "")
	e.start()
	def := e.View.Operators()[1]
	e.tells(def, false)
	e.tells(def, true)
	if err := e.Operators.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	since.wants("GET /withdrawals", "", 200, "")
}

// TestEndedAccessOutlivesAStart has operators leave once the journal says that access ends, and wants it to be ended
// after a start.
func TestEndedAccessOutlivesAStart(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOperator, bourse.RoleOperator)
	cy, dee := staff[1], staff[2]
	loggedOut, ended, stays := cy.makesKey("read", ""), dee.makesKey("read", ""), dee.makesKey("read", "")
	leaving := func(end func(ctx context.Context, note func() error) error) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		if err := end(ctx, func() error { leave(); return nil }); err != nil {
			t.Error(err)
		}
	}
	leaving(func(ctx context.Context, note func() error) error {
		return e.Operators.EndAccess(ctx, 0, cy.id, note)
	})
	leaving(func(ctx context.Context, note func() error) error {
		return e.Operators.EndKey(ctx, 0, operator.KeyID(ended.id), note)
	})

	e.start()
	if err := e.Operators.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	loggedOut.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	ended.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	stays.wants("GET /withdrawals", "", 200, "")
}

// TestAccessEndsWithoutItsOperator has an operator leave while the journal takes the note, and wants what the journal
// says to be done.
func TestAccessEndsWithoutItsOperator(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	one, other := cy.makesKey("read", ""), cy.makesKey("read", "")
	leaves := func(verb, args string) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		e.meanwhile = func(*bourse.Command) { leave() }
		if _, err := e.DoAs(ctx, &operator.Orderer{By: cy.id, Reason: "stolen"}, verb, jsontext.Value(args)); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
		e.meanwhile = nil
	}
	leaves("operator/end-key", fmt.Sprintf(`{"key":%d}`, one.id))
	one.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	other.wants("GET /withdrawals", "", 200, "")
	leaves("operator/log-out", fmt.Sprintf(`{"operator":%d}`, cy.id))
	other.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	cy.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
}

// TestLyingKeys wants a key to be taken in its header alone, from its networks, and as it was made.
func TestLyingKeys(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	bad := cy.asserted("POST /operator-keys", `{"name":"x","scope":"read","addresses":["x"],"reason":"x"}`)
	cy.wants("POST /operator-keys", bad, 400, "addresses")
	for _, c := range []struct{ body, want string }{
		{`{"name":" ","scope":"read","reason":"x"}`, "name: 1 to 100 bytes"},
		{`{"name":"x","scope":"own","reason":"x"}`, "scope: read or operate"},
		{`{"name":"x","scope":"read","days":91,"reason":"x"}`, "days: 1 to 90"},
		{`{"name":"x","scope":"read","days":-1,"reason":"x"}`, "days: 1 to 90"},
	} {
		if got := cy.confirmed("POST /operator-keys", c.body, 400, ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.body, got)
		}
	}

	here, there := cy.makesKey("read", `,"addresses":["192.0.2.0/24"]`), cy.makesKey("read", `,"addresses":["198.51.100.7"]`)
	here.wants("GET /withdrawals", "", 200, "")
	there.wants("GET /withdrawals", "", 403, "INVALID_KEY")
	for name, key := range map[string]string{
		"a session's": cy.cookie, "guessed": "bourse_op_" + strings.Repeat("0", 64), "cut": here.key[:len(here.key)-1], "none": "",
		"a bare one": strings.TrimPrefix(here.key, "bourse_op_"), "changed": here.key[:70] + "00" + here.key[72:],
	} {
		if liar := (&program{exchange: e, key: key}); liar.ask("GET /withdrawals", "").Code != 403 {
			t.Errorf("%s was taken", name)
		}
	}
	thief := *cy
	thief.cookie = here.key
	thief.wants("GET /withdrawals", "", 401, "UNAUTHORIZED")
	here.headers = map[string]string{"Cookie": cookie + "=" + cy.cookie}
	here.wants("GET /withdrawals", "", 400, "must not come with the cookie")
	here.headers = map[string]string{"Origin": "https://exchange.example.com"}
	here.wants("GET /withdrawals", "", 403, "another origin")
	here.headers = map[string]string{"Bourse-Key": "x"}
	here.wants("GET /withdrawals", "", 400, "Bourse-Key")
}

// TestForgedKeys changes the rows of keys in SQL, and wants such keys to be nobody's.
func TestForgedKeys(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOperator)[1]
	forged := 0
	e.Operators.OnForged = func(string, error) { forged++ }
	db, err := sql.Open("sqlite", filepath.Join(e.dir, "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, change := range []string{
		"operator = 1", "scope = 'operate'", "name = 'other'", "addresses = ''", "expires = expires + 1", "created = created - 1", "mac = x'00'",
	} {
		key := cy.makesKey("read", `,"addresses":["192.0.2.1/32"]`)
		key.wants("GET /withdrawals", "", 200, "")
		if _, err := db.ExecContext(t.Context(), "UPDATE operator_keys SET "+change); err != nil {
			t.Fatal(err)
		}
		was := forged
		key.wants("GET /withdrawals", "", 403, "INVALID_KEY")
		cy.wants("GET /operator-keys", "", 200, `{"keys":[]}`)
		if forged == was {
			t.Errorf("%s raised no alarm", change)
		}
		if _, err := db.ExecContext(t.Context(), "DELETE FROM operator_keys"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeysAreBounded wants 16 keys of an operator, and each to spend limits of its own.
func TestKeysAreBounded(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOperator)
	ann, cy := staff[0], staff[1]
	first, second := cy.makesKey("read", ""), cy.makesKey("read", "")
	for range 14 {
		cy.makesKey("read", "")
	}
	if got := cy.confirmed("POST /operator-keys", `{"name":"x","scope":"read","reason":"x"}`, 406, ""); !strings.Contains(got, "at most 16 keys") {
		t.Error(got)
	}
	ann.makesKey("read", "")

	e.limits = &api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 0.001, Burst: 2}}}
	e.start()
	cy.logIn()
	first.wants("GET /withdrawals", "", 200, "")
	first.wants("GET /withdrawals", "", 200, "")
	first.wants("GET /withdrawals", "", 429, "")
	second.wants("GET /withdrawals", "", 200, "")
	cy.wants("GET /withdrawals", "", 200, "")
	cy.wants("GET /withdrawals", "", 200, "")
	cy.wants("GET /withdrawals", "", 429, "")
}

// TestKeyWhileDisabled disables an operator while a key is being made, and wants the key to be none.
func TestKeyWhileDisabled(t *testing.T) {
	e := newExchange(t)
	cy := e.staff(bourse.RoleOwner, bourse.RoleOperator)[2]
	def := e.View.Operators()[2]
	body := cy.asserted("POST /operator-keys", `{"name":"x","scope":"read","reason":"x"}`)
	e.meanwhile = func(cmd *bourse.Command) {
		if cmd.Kind == bourse.CommandNote {
			e.tells(def, false)
			e.tells(def, true)
		}
	}
	cy.wants("POST /operator-keys", body, 403, "ended meanwhile")
	if keys, err := e.store.OperatorKeys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("%+v %v", keys, err)
	}
}

// TestUsesOfKeysAreNoted wants the last use to be told, to the minute.
func TestUsesOfKeysAreNoted(t *testing.T) {
	e := newExchange(t)
	key := e.staff()[0].makesKey("read", "")
	used := func() bourse.Time {
		t.Helper()
		keys, err := e.Operators.Keys(t.Context())
		if err != nil || len(keys) != 1 {
			t.Fatal(keys, err)
		}
		return keys[0].Used
	}
	first := e.now
	if used() != 0 {
		t.Error("it was never used")
	}
	for _, after := range []bourse.Time{0, bourse.Minute - 1} {
		e.now = first + after
		key.wants("GET /withdrawals", "", 200, "")
		if used() != first {
			t.Errorf("used at %d, not %d", used(), first)
		}
	}
	e.now = first + bourse.Minute
	key.wants("GET /withdrawals", "", 200, "")
	if used() != e.now {
		t.Errorf("used at %d, not %d", used(), e.now)
	}
	e.from = netip.MustParseAddr("2001:db8::1")
	key.wants("GET /withdrawals", "", 200, "")
}

// TestKeysOnAFullDisk has programs read and stop things while the store takes no writes.
func TestKeysOnAFullDisk(t *testing.T) {
	e := newExchange(t)
	key := e.staff()[0].makesKey("operate", "")
	e.full = errors.New("the disk is full")
	key.wants("GET /withdrawals", "", 200, "")
	key.wants("PUT /networks/ATOM/withdrawals", `{"paused":true,"reason":"theft"}`, 200, `"paused":true`)
}
