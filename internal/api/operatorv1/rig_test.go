package operatorv1_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/account/authenticator"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/api/operatorv1"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/describe"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/history/historytest"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	origin = "https://desk.example.com"
	cookie = "__Host-bourse-operator"
)

// exchange is a production exchange behind the guard of the operators' listener.
type exchange struct {
	*testing.T
	admin.Server
	engine  *engine.Engine
	tail    *history.Tail
	past    *historytest.Memory
	journal []bourse.Command
	// behind holds the rows that the history's store does not have yet.
	behind  history.Batch
	store   *accounts.Store
	handler http.Handler
	// dir has the accounts' database.
	dir string
	// limits, if not nil, are those of requests after the next start. from is the address of clients.
	limits  *api.Limits
	from    netip.Addr
	now     bourse.Time
	letters *mail.Box
	// locked is the account whose holder is kept from changing anything; zero for none.
	locked bourse.AccountID
	// meanwhile, if not nil, is called before a command is applied.
	meanwhile func(*bourse.Command)
	// uses, if not nil, is called before the use of an operator's passkey is noted.
	uses func()
	// full, if not nil, is the error for noting the use of a key.
	full error
	// documents are held against every exchange of messages.
	documents *describe.Validator
}

// watched is the store of operators, and tells of uses of their passkeys.
type watched struct {
	*accounts.Store
	of *exchange
}

// UseOperator notes a use of a passkey.
func (w *watched) UseOperator(ctx context.Context, token bourse.Token, counter uint32, now bourse.Time) (bool, error) {
	if w.of.uses != nil {
		w.of.uses()
	}
	return w.Store.UseOperator(ctx, token, counter, now)
}

// UseOperatorKey notes the use of a key.
func (w *watched) UseOperatorKey(ctx context.Context, id operator.KeyID, now bourse.Time) error {
	if w.of.full != nil {
		return w.of.full
	}
	return w.Store.UseOperatorKey(ctx, id, now)
}

func newExchange(t *testing.T) *exchange {
	t.Helper()
	e := &exchange{T: t, engine: engine.New(), tail: history.NewTail(1000), now: 1_700_000_000 * bourse.Second}
	e.letters = mail.NewBox(func() bourse.Time { return e.now })
	var err error
	if e.documents, err = describe.NewValidator(); err != nil {
		t.Fatal(err)
	}
	e.dir, e.from = t.TempDir(), netip.MustParseAddr("192.0.2.1")
	if e.store, err = accounts.Open(t.Context(), filepath.Join(e.dir, "accounts.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.store.Close() })
	v := view.New()
	e.past = historytest.NewMemory()
	e.Options = admin.Options{
		Condition: func() admin.Condition { return admin.Condition{} },
		View:      v, History: history.NewReader(e.past, e.tail, v), Sequencer: e, Log: slog.New(slog.DiscardHandler),
	}
	e.newAccounts()
	e.start()

	e.do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Rules: bourse.CurrentRules}})
	for _, cmd := range sandbox.Catalogue(true) {
		e.do(cmd)
	}
	e.do(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{{Name: "basic"}, {Name: "known"}}}})
	e.customer("alice@example.org")
	return e
}

// newAccounts makes the service of accounts, as a start does before it has seen the journal.
func (e *exchange) newAccounts() {
	e.Accounts = account.NewService(account.Options{
		Store: e.store, Clock: func() time.Time { return e.now.Std() }, Random: rand.Reader, Mailer: e.letters, Hold: time.Hour,
		OnFailure: func(what string, err error) { e.Error(what, err) },
		Awaited:   func() map[bourse.RowDigest]bourse.ResetParts { return e.Operators.Awaited() },
	})
	e.Accounts.Bind(func(ctx context.Context, c *bourse.Command) (bourse.Outcome, error) {
		r, err := e.Do(ctx, c)
		return r.Outcome, err
	})
}

// restartAccounts makes the service of accounts anew, from the journal and the store.
func (e *exchange) restartAccounts() {
	e.Helper()
	e.newAccounts()
	replayed := engine.New()
	for i := range e.journal {
		var ev bourse.Events
		replayed.Apply(&e.journal[i], &ev)
		e.Accounts.Begin()
		e.Accounts.Observe(&e.journal[i], &ev)
		e.Accounts.End()
	}
	if err := e.Accounts.Open(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// start makes the parts that a start makes anew.
func (e *exchange) start() {
	e.Helper()
	var err error
	if e.Operators, err = operator.NewService(operator.Options{
		Store: &watched{e.store, e}, Sequencer: e, View: e.View, Mailer: e.letters, Clock: func() time.Time { return e.now.Std() },
		Random: rand.Reader, Issuer: "Agora", Log: slog.New(slog.DiscardHandler),
		OnForged: func(_ string, err error) { e.Error(err) }, LockPerson: e.lockPerson,
	}); err != nil {
		e.Fatal(err)
	}
	party, err := account.NewParty("desk.example.com", origin)
	if err != nil {
		e.Fatal(err)
	}
	e.Operators.SetParty(party)

	rest := &api.Server{
		Who: e.Operators, From: func(*http.Request) netip.Addr { return e.from },
		Observe: func(string, int, bool, time.Duration) {}, Clock: time.Now, After: time.After, Log: slog.New(slog.DiscardHandler),
		Patience: time.Minute,
	}
	if e.limits != nil {
		rest.Limits = api.NewLimiter(*e.limits, time.Now)
	}
	desk := &operatorv1.Desk{Operators: e.Operators, Verbs: &e.Server, Cookie: cookie, Now: time.Now}
	mux := http.NewServeMux()
	v2.HandlePages(rest, mux, operatorv1.Prefix, desk.Secret, desk.Endpoints())
	at, err := url.Parse(origin)
	if err != nil {
		e.Fatal(err)
	}
	e.handler = browser.NewStrictGuard(at).Private(mux)
}

// Do implements Sequencer. A caller who left meanwhile does not learn the outcome.
func (e *exchange) Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error) {
	if err := record.Check(c); err != nil {
		return sequencer.Result{}, err
	}
	cmd := *c
	if e.meanwhile != nil {
		e.meanwhile(&cmd)
	}
	e.now++
	cmd.Seq, cmd.Time = e.engine.Seq()+1, e.now
	e.journal = append(e.journal, cmd)
	var ev bourse.Events
	e.tail.Begin()
	e.View.Begin()
	e.Accounts.Begin()
	e.Operators.Begin()
	e.engine.Apply(&cmd, &ev)
	e.tail.Observe(&cmd, &ev)
	history.Project(&cmd, &ev, &e.behind)
	history.Post(&cmd, &ev, e.engine.Market, &e.behind)
	e.View.Observe(&cmd, &ev)
	e.Accounts.Observe(&cmd, &ev)
	e.Operators.Observe(&cmd, &ev)
	e.tail.End()
	e.View.End()
	e.Accounts.End()
	e.Operators.End()
	if err := ctx.Err(); err != nil {
		return sequencer.Result{}, err
	}
	return sequencer.Result{Seq: cmd.Seq, Time: cmd.Time, Outcome: ev.Outcome}, nil
}

func (e *exchange) do(cmd bourse.Command) {
	e.Helper()
	r, err := e.Do(e.Context(), &cmd)
	if err != nil || r.Outcome.Reason != 0 {
		e.Fatalf("command %d: %v %v", cmd.Kind, r.Outcome.Reason, err)
	}
}

// tells has the operators' service observe that an operator is enabled or not.
func (e *exchange) tells(def bourse.Operator, enabled bool) {
	def.Enabled = enabled
	e.Operators.Begin()
	e.Operators.Observe(nil, &bourse.Events{
		List: []bourse.Event{{Kind: bourse.EventOperator}}, Facts: []bourse.Fact{{Staff: &def}},
	})
	e.Operators.End()
}

// lockPerson keeps an account's holder from changing anything, and notes it.
func (e *exchange) lockPerson(id bourse.AccountID) (unlock func()) {
	done := e.Accounts.LockPerson(id)
	e.locked = id
	return func() {
		e.locked = 0
		done()
	}
}

// follow writes the history to its store.
func (e *exchange) follow() {
	e.Helper()
	if err := e.past.Write(e.Context(), &e.behind); err != nil {
		e.Fatal(err)
	}
	e.tail.Stored(history.Cursor{Seq: e.behind.To, Time: e.behind.Time})
	e.behind.Reset()
}

// customer makes an account for an address, and returns its number.
func (e *exchange) customer(email string) bourse.AccountID {
	e.Helper()
	id, err := e.Accounts.Create(e.Context(), email)
	if err != nil {
		e.Fatal(err)
	}
	return id
}

// withdraw lets account 1 ask for n withdrawals of 1 ATOM, and returns the id of the first.
func (e *exchange) withdraw(n int) bourse.WalletID {
	e.Helper()
	c := e.View.Catalogue()
	atom, network := c.Asset("ATOM"), c.Network("ATOM").ID
	amount := func(text string) bourse.Amount {
		a, err := bourse.ParseAmount(text, atom.Scale)
		if err != nil {
			e.Fatal(err)
		}
		return a
	}
	e.do(bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.BlockEffect{
		Network: network, BlockRef: bourse.BlockRef{Height: 7, Hash: bourse.TxHash{7}},
		Txs: []bourse.TxEffect{{Hash: bourse.TxHash{1}, Inflows: []bourse.Inflow{{Asset: atom.ID, Amount: amount("1000"), Owner: 1}}}},
	}}})
	for i := range n {
		e.do(bourse.Command{Kind: bourse.CommandWithdraw, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: network, Asset: atom.ID, Amount: amount("1"), Fee: amount("0.01"), Address: fmt.Sprintf("cosmos1%d", i), Memo: "m",
		}}})
	}
	return e.View.Leaving()[0].ID
}

// place lets an account sell 1 ATOM at a price in whole USDT.
func (e *exchange) place(account bourse.AccountID, price uint64) {
	e.Helper()
	m := e.View.Catalogue().Market("ATOM/USDT")
	unit := func(precision uint8) uint64 {
		n := uint64(1)
		for range precision {
			n *= 10
		}
		return n
	}
	e.do(bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: bourse.NewOrder{
		Market: m.ID, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC,
		Price: bourse.Price(price * unit(m.QuotePrecision)), Lots: bourse.Lots(unit(m.BasePrecision)),
	}})
}

// person is an operator with a device and a cookie.
type person struct {
	*exchange
	device *authenticator.Device
	cookie string
	id     bourse.OperatorID
}

// ask sends a request: "METHOD /path" below the interface.
func (p *person) ask(what, body string) *httptest.ResponseRecorder {
	p.Helper()
	method, path, _ := strings.Cut(what, " ")
	r := httptest.NewRequestWithContext(p.Context(), method, origin+operatorv1.Prefix+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Origin", origin)
	if p.cookie != "" {
		r.AddCookie(&http.Cookie{Name: cookie, Value: p.cookie})
	}
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Name != cookie {
			p.Errorf("%s sets %+v", what, c)
		}
		p.cookie = c.Value
	}
	if err := p.documents.Exchange(method, operatorv1.Prefix+path, []byte(body), w.Code, w.Body.Bytes()); err != nil {
		p.Errorf("%s %s is not as described: %v\n%s", what, body, err, w.Body)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Access-Control-Allow-Origin") != "" {
		p.Errorf("%s: headers %v", what, w.Header())
	}
	return w
}

// options returns a browser's options in an answer.
func (p *person) options(w *httptest.ResponseRecorder) json.RawMessage {
	p.Helper()
	var answer struct {
		Passkey json.RawMessage `json:"passkey"`
		Error   struct {
			Passkey json.RawMessage `json:"passkey"`
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || len(answer.Passkey)+len(answer.Error.Passkey) == 0 {
		p.Fatalf("no options: %d %s", w.Code, w.Body)
	}
	return append(answer.Passkey, answer.Error.Passkey...)
}

// get signs options with the person's device.
func (p *person) get(options []byte) string {
	p.Helper()
	b, err := p.device.Get(options)
	if err != nil {
		p.Fatal(err)
	}
	return string(b)
}

// asserted returns the body of a request with an assertion over it.
func (p *person) asserted(what, body string) string {
	p.Helper()
	w := p.ask(what, body)
	if w.Code != 511 {
		p.Fatalf("%s %s asks for no passkey: %d %s", what, body, w.Code, w.Body)
	}
	return adding(body, "assertion2FA", p.get(p.options(w)))
}

// adding adds a member to an object.
func adding(body, name, value string) string {
	if body == "{}" {
		return fmt.Sprintf(`{%q:%s}`, name, value)
	}
	return fmt.Sprintf(`%s,%q:%s}`, strings.TrimSuffix(body, "}"), name, value)
}

// confirmed sends a request with an assertion over it, and wants an answer; empty takes any.
func (p *person) confirmed(what, body string, status int, want string) string {
	p.Helper()
	w := p.ask(what, p.asserted(what, body))
	if w.Code != status || want != "" && w.Body.String() != want {
		p.Errorf("%s %s:\n got %d %s\nwant %d %s", what, body, w.Code, w.Body, status, want)
	}
	return w.Body.String()
}

// wants sends a request and wants an answer; empty takes any.
func (p *person) wants(what, body string, status int, want string) {
	p.Helper()
	if w := p.ask(what, body); w.Code != status || want != "" && !strings.Contains(w.Body.String(), want) {
		p.Errorf("%s %s:\n got %d %s\nwant %d %s", what, body, w.Code, w.Body, status, want)
	}
}

// logIn begins a session.
func (p *person) logIn() {
	p.Helper()
	p.cookie = ""
	body := adding("{}", "assertion", p.get(p.options(p.ask("PUT /session", "{}"))))
	if w := p.ask("POST /session", body); w.Code != 200 || p.cookie == "" {
		p.Fatalf("log-in: %d %s", w.Code, w.Body)
	}
}

// accept accepts an invitation with a passkey of a new device.
func (e *exchange) accept(code string) (*person, string) {
	e.Helper()
	p := &person{exchange: e, device: authenticator.New(origin)}
	body := fmt.Sprintf(`{"code":%q}`, code)
	made, err := p.device.Create(p.options(p.ask("PUT /invitations/accept", body)))
	if err != nil {
		e.Fatal(err)
	}
	w := p.ask("POST /invitations/accept", adding(body, "passkey", string(made)))
	if w.Code != 200 {
		e.Fatalf("accept: %d %s", w.Code, w.Body)
	}
	return p, w.Body.String()
}

// staff returns an owner and further operators, whom broken glass lets in, all with sessions.
func (e *exchange) staff(others ...bourse.OperatorRole) []*person {
	e.Helper()
	invite := func(i operator.Invitation) string {
		i.Email = fmt.Sprintf("%d@example.org", e.now)
		code, err := e.Operators.Invite(e.Context(), &i)
		if err != nil {
			e.Fatal(err)
		}
		return string(code)
	}
	first, answer := e.accept(invite(operator.Invitation{Name: "First", Role: bourse.RoleOwner}))
	if !strings.HasPrefix(answer, `{"operator":1,`) {
		e.Errorf("the first owner: %s", answer)
	}
	list := []*person{first}
	for _, role := range others {
		p, answer := e.accept(invite(operator.Invitation{Role: role, Reason: "founding"}))
		if !strings.HasPrefix(answer, `{"act":`) {
			e.Errorf("by broken glass: %s", answer)
		}
		list = append(list, p)
	}

	e.now += bourse.Day
	for range others {
		e.do(bourse.Command{Kind: bourse.CommandTick})
	}
	for i, p := range list {
		p.id = bourse.OperatorID(i + 1)
		p.logIn()
	}
	return list
}

// act is an act that waits.
type act struct {
	Act    uint64 `json:"act"`
	Digest string `json:"digest"`
}

// waits returns the acts in an answer.
func (p *person) waits(answer string) act {
	p.Helper()
	var got struct {
		Acts []act `json:"acts"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Acts) != 1 {
		p.Fatalf("no act waits: %s", answer)
	}
	return got.Acts[0]
}

func (p *person) approves(a act, status int) string {
	p.Helper()
	return p.confirmed(fmt.Sprintf("POST /acts/%d/approve", a.Act), fmt.Sprintf(`{"digest":%q}`, a.Digest), status, "")
}
