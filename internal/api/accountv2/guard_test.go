package accountv2_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/accountv2"
)

// TestWhoMayDoWhat calls every endpoint without a key, with an invalid key, with a key of
// each scope, with a session, and with another account's session.
func TestWhoMayDoWhat(t *testing.T) {
	e := newExchange(t)
	stranger := e.join(mallory)
	ask := func(method, path, sid, keyid string, key account.Secret) string {
		path = strings.NewReplacer("{sid}", sid, "{keyid}", keyid, "{provider}", "SMS").Replace(path)
		got := e.ask(method+" "+path, "", key)
		for _, refused := range []string{"UNAUTHORIZED", "INVALID_KEY", "FORBIDDEN", "ALREADY_LOGGED_IN"} {
			if strings.Contains(got.Body.String(), `"code":"`+refused+`"`) {
				return refused
			}
		}
		return "may"
	}
	guests := []string{"GET /signup/captcha", "POST /signup", "PATCH /signup", "POST /sessions", "PUT /sessions/passkey", "POST /sessions/passkey", "DELETE /password", "PATCH /password"}
	endpoints := (&accountv2.Account{}).Endpoints()
	first := e.logInOrJoin()
	read, trade, withdraw := e.key(first, "read"), e.key(first, "trade"), e.key(first, "withdraw")
	for _, p := range endpoints {
		guest := slices.Contains(guests, p.Method+" "+p.Path)
		session := e.logInOrJoin() // some endpoints end their own session
		keys := map[string]account.Secret{
			"none": "", "bad": account.Secret(strings.Repeat("0", 64)),
			"read": read, "trade": trade, "withdraw": withdraw, "session": session,
		}
		for kind, key := range keys {
			want := "may"
			switch {
			case kind == "bad":
				want = "INVALID_KEY"
			case p.Path == "/email" && p.Method == http.MethodDelete && kind == "none":
				want = "UNAUTHORIZED" // without an old address and its code
			case guest && kind != "none":
				want = "ALREADY_LOGGED_IN"
			case guest:
			case kind == "none":
				want = "UNAUTHORIZED"
			case kind == "session", p.Method == http.MethodGet && kind == "read":
			default:
				want = "FORBIDDEN"
			}
			if got := ask(p.Method, p.Path, "current", "99", key); got != want {
				t.Errorf("%s %s with %s: %s, want %s", p.Method, p.Path, kind, got, want)
			}
		}
		if !strings.Contains(p.Path, "{sid}") && !strings.Contains(p.Path, "{keyid}") {
			continue
		}
		theirs := ids.FindStringSubmatch(e.ask("GET /sessions/current", "", e.logInOrJoin()).Body.String())[1]
		if got := ask(p.Method, p.Path, theirs, "1", stranger); got != "FORBIDDEN" {
			t.Errorf("%s %s of somebody else: %s", p.Method, p.Path, got)
		}
	}
}

// ids finds the id of a session.
var ids = regexp.MustCompile(`"sid":([0-9]+)`)

func (e *exchange) logInOrJoin() account.Secret {
	e.Helper()
	if _, joined, _ := e.accounts.ByEmail(e.Context(), ada); joined {
		return e.logIn(ada)
	}
	return e.join(ada)
}

// key makes a key with one scope.
func (e *exchange) key(session account.Secret, scope string) account.Secret {
	e.Helper()
	got := e.ask("POST /api-keys", fmt.Sprintf(`{"description":"%s %d","scopes":[%q]}`, scope, e.engine.Seq(), scope), session)
	return account.Secret(secret.FindString(got.Body.String()))
}

// TestNothingToSteal checks that the database and the log have none of the secrets sent.
func TestNothingToSteal(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	url := e.confirmed("PUT /mfa/providers/GA", `{}`, session,
		`{"url":"otpauth://totp/Bourse:ada@example.com?algorithm=SHA1&digits=6&issuer=Bourse&period=30&SECRET","secret":"SECRET"}`)
	e.want("POST /api-keys", `{"description":"one"}`, session, 200,
		`{"keyid":1,"apiKey":"SECRET","secret":null,"description":"one","kind":"secret","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.want("POST /api-keys", `{"description":"two","kind":"hmac"}`, session, 200,
		`{"keyid":2,"apiKey":"SECRET","secret":"SECRET","description":"two","kind":"hmac","scopes":["read","trade"],"ips":[],"expires":null,"lastAct":null}`)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"s3cret horse"}`, "", 401, "LOGIN_FAILED")
	secrets := append(e.secrets, password, "s3cret horse", applicationSecret(url), e.code(ada), e.totpCode(url))
	if len(secrets) < 8 {
		t.Fatalf("only %d secrets went over the wire", len(secrets))
	}
	dump := e.dump()
	for _, s := range secrets {
		raw, _ := hex.DecodeString(s)
		if strings.Contains(dump, s) || len(raw) == 32 && strings.Contains(dump, string(raw)) {
			t.Errorf("the database holds %q", s)
		}
		if strings.Contains(e.log.String(), s) {
			t.Errorf("the log holds %q", s)
		}
	}
	if !strings.Contains(dump, "$argon2id$v=19$m=7168,t=5,p=1$") {
		t.Error("the database holds no hash of a password: the dump is none")
	}
}

// dump returns the store's files, and every value that is not a number.
func (e *exchange) dump() string {
	e.Helper()
	var all []string
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(e.path + suffix)
		if err != nil {
			e.Fatal(err)
		}
		all = append(all, string(text))
	}
	db, err := sql.Open("sqlite", e.path)
	if err != nil {
		e.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, table := range []string{"accounts", "keys", "sessions", "activity", "undos"} {
		rows, err := db.QueryContext(e.Context(), "SELECT * FROM "+table) //nolint:sqlclosecheck // read to the end
		if err != nil {
			e.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				e.Fatal(err)
			}
			for _, v := range values {
				all = append(all, fmt.Sprintf("%s", v))
			}
		}
		if err := rows.Err(); err != nil {
			e.Fatal(err)
		}
	}
	return strings.Join(slices.Compact(all), "\n")
}

// TestBruteForce guesses a log-in's code and a password, and counts the guesses that were
// checked.
func TestBruteForce(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":true}}`, session, cases(true, false, false))
	logIn := `{"email":"` + ada + `","password":"` + password + `"}`
	answers := map[int]int{}
	for range 100 {
		got := e.ask("POST /sessions", with(logIn, "code2FA", "000000"), "")
		answers[got.Code]++
	}
	if answers[403] != 10 || answers[511] == 0 || answers[429] != 100-10-answers[511] || answers[200] != 0 {
		t.Errorf("100 guesses of a code: %v", answers)
	}
	e.now = e.now.Add(time.Hour)
	answers = map[int]int{}
	for range 30 {
		got := e.ask("POST /sessions", `{"email":"`+ada+`","password":"wrong horse"}`, "")
		answers[got.Code]++
	}
	if answers[401] != 10 || answers[429] != 20 {
		t.Errorf("30 guesses of a password: %v", answers)
	}
}
