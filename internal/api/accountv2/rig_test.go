package accountv2_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	ada      = "ada@example.com"
	mallory  = "mallory@example.com"
	password = "correct horse"
	firefox  = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
)

// origin is that of the pages that may use passkeys.
const origin = "http://localhost:8080"

// exchange is the interface over an engine and a store on disk.
type exchange struct {
	*testing.T
	handler  http.Handler
	accounts *account.Service
	box      *mail.Box
	log      strings.Builder
	path     string

	mu     sync.Mutex
	engine *engine.Engine
	view   *view.View
	now    time.Time
	// letters counts the letters sent, by address.
	letters map[string]int
	calls   []string
	// secrets are all requests and answers with a secret.
	secrets []string
}

func newExchange(t *testing.T) *exchange { return newLimited(t, account.Limits{}) }

// newLimited returns an exchange with limits of what clients share.
func newLimited(t *testing.T, limits account.Limits) *exchange {
	e := &exchange{T: t, engine: engine.New(), view: view.New(), now: time.Unix(1_700_000_000, 0), path: filepath.Join(t.TempDir(), "accounts.db"), letters: map[string]int{}}
	store, err := accounts.Open(t.Context(), e.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	clock := func() time.Time { return e.now }
	e.box = mail.NewBox(func() bourse.Time { return bourse.TimeOf(e.now) })
	log := slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.accounts = account.NewService(account.Options{
		Store: counting{store, &e.calls}, Clock: clock, Random: rand.Reader, Mailer: e, Issuer: "Bourse", Hold: time.Hour, Limits: limits,
		OnFailure: func(what string, err error) { t.Error(what, err) },
	})
	e.accounts.Bind(e.submit)
	party, err := account.NewParty("localhost", origin)
	if err != nil {
		t.Fatal(err)
	}
	e.accounts.SetParty(party)
	if _, err := e.submit(t.Context(), &bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := e.accounts.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &api.Server{
		Who: e.accounts, Signed: e.accounts, From: from,
		Clock: clock, Log: log, Patience: time.Minute, Observe: func(string, int, bool, time.Duration) {},
	}
	mux := http.NewServeMux()
	v2.Handle(s, mux, "/account/v2", (&accountv2.Account{Accounts: e.accounts, View: e.view}).Endpoints())
	e.handler = api.Transport(mux, v2.Missing(s))
	return e
}

// fromHeader is the header with the source of a test's request.
const fromHeader = "X-Test-From"

func from(r *http.Request) netip.Addr {
	if a := r.Header.Get(fromHeader); a != "" {
		return netip.MustParseAddr(a)
	}
	return netip.MustParseAddr("192.0.2.7")
}

// Send counts a letter and puts it into the box.
func (e *exchange) Send(ctx context.Context, m *account.Mail) error {
	e.letters[m.To]++
	return e.box.Send(ctx, m)
}

// submit implements the sequencer.
func (e *exchange) submit(_ context.Context, c *bourse.Command) (bourse.Outcome, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c.Seq, c.Time = e.engine.Seq()+1, bourse.TimeOf(e.now)
	var ev bourse.Events
	e.accounts.Begin()
	e.engine.Apply(c, &ev)
	e.accounts.Observe(c, &ev)
	e.accounts.End()
	e.view.Begin()
	e.view.Observe(c, &ev)
	e.view.End()
	return ev.Outcome, nil
}

// ask sends "METHOD path" with a body, a key, and headers like "Name: value".
func (e *exchange) ask(what, body string, key account.Secret, headers ...string) *httptest.ResponseRecorder {
	e.Helper()
	method, path, _ := strings.Cut(what, " ")
	req := httptest.NewRequestWithContext(e.Context(), method, "/account/v2"+path, strings.NewReader(body))
	req.Header.Set("User-Agent", firefox)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+string(key))
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	got := httptest.NewRecorder()
	e.handler.ServeHTTP(got, req)
	e.valid(what, body, got)
	return got
}

// secret matches values that differ from run to run.
var secret = regexp.MustCompile(`[0-9a-f]{64}|secret=[A-Z2-7]+|[A-Z2-7]{32}`)

// want sends a request and checks status and answer, with secrets as SECRET.
func (e *exchange) want(what, body string, key account.Secret, status int, want string, headers ...string) string {
	e.Helper()
	got := e.ask(what, body, key, headers...)
	text := got.Body.String()
	if masked := secret.ReplaceAllString(text, "SECRET"); got.Code != status || masked != want {
		e.Errorf("%s %s:\ngot  %d %s\nwant %d %s", what, body, got.Code, masked, status, want)
	}
	e.secrets = append(e.secrets, secret.FindAllString(text, -1)...)
	return strings.Join(secret.FindAllString(text, -1), "")
}

// fails expects an error.
func (e *exchange) fails(what, body string, key account.Secret, status int, code string, headers ...string) {
	e.Helper()
	got := e.ask(what, body, key, headers...)
	if got.Code != status || !strings.HasPrefix(got.Body.String(), fmt.Sprintf(`{"error":{"code":%q,"msg":"`, code)) {
		e.Errorf("%s %s: got %d %s, want %d %s", what, body, got.Code, got.Body, status, code)
	}
}

// code returns the code of the last letter.
func (e *exchange) code(to string) string {
	e.Helper()
	m, _ := e.box.Last(to)
	if m.Code == "" {
		e.Fatalf("no code was mailed to %s: %+v", to, m)
	}
	e.secrets = append(e.secrets, m.Code)
	return m.Code
}

func other(code string) string {
	if len(code) > 6 { // a code that reverts a change of address
		return "2222-2222-2222-2222"
	}
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// with adds a field to a body.
func with(body, field, value string) string {
	return strings.TrimSuffix(body, "}") + map[bool]string{true: "", false: ","}[body == "{}"] + fmt.Sprintf("%q:%q}", field, value)
}

// confirmed sends a request with the mailed code and checks the answer.
func (e *exchange) confirmed(what, body string, key account.Secret, want string) string {
	e.Helper()
	e.fails(what, body, key, 511, "REQUIRE_2FA")
	return e.want(what, with(body, "code2FA", e.code(ada)), key, 200, want)
}

// join signs up and logs in.
func (e *exchange) join(email string) account.Secret {
	e.Helper()
	e.want("POST /signup", `{"email":"`+email+`","password":"`+password+`"}`, "", 200, `{}`)
	e.want("PATCH /signup", `{"email":"`+email+`","code":"`+e.code(email)+`"}`, "", 200, `{}`)
	return e.logIn(email)
}

func (e *exchange) logIn(email string) account.Secret {
	e.Helper()
	return account.Secret(e.want("POST /sessions", `{"email":"`+email+`","password":"`+password+`"}`, "", 200, `{"apiKey":"SECRET"}`))
}
