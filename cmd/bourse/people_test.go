package main

import (
	"bytes"
	"database/sql"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// restAnswer is what every endpoint of REST V2 may answer.
type restAnswer struct {
	Status int `json:"-"`
	Error  struct{ Code, Msg string }
	Key    string `json:"apiKey"`
	Secret string
	URL    string

	Transactions []struct{ Amount string }
}

// rest asks an endpoint of REST V2; a nil body is none, and headers are names and
// values.
func (s *server) rest(method, path, key string, body map[string]any, headers ...string) (a restAnswer) {
	s.t.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	req, err := http.NewRequest(method, s.url+path, bytes.NewReader(text))
	must(s.t, err)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(s.t, err)
	a.Status = res.StatusCode
	if err := errors.Join(json.NewDecoder(res.Body).Decode(&a), res.Body.Close()); err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// walker is somebody who does everything that a secret is needed for, and what
// those were, by what they were for.
type walker struct {
	*server
	email, key string
	secrets    map[string]string
}

// do asks, and wants a status.
func (w *walker) do(status int, method, path string, body map[string]any) restAnswer {
	w.t.Helper()
	a := w.rest(method, path, w.key, body)
	if a.Status != status {
		w.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Error)
	}
	return a
}

// code returns the code that was mailed last.
func (w *walker) code(what, email string) string {
	w.t.Helper()
	c := mustControl[struct{ Code string }](w.server, "mail/last", map[string]any{"email": email}).Code
	w.secrets["code: "+what] = c
	return c
}

// confirmed asks, and again with the code that was mailed.
func (w *walker) confirmed(what, method, path string, body map[string]any) restAnswer {
	w.t.Helper()
	w.do(511, method, path, body)
	body["code2FA"] = w.code(what, w.email)
	return w.do(200, method, path, body)
}

// walk signs up, logs in, makes keys, withdraws and loses the password. A wrong
// password is a secret as well: it is nearly the right one.
func (w *walker) walk() {
	w.t.Helper()
	type fields = map[string]any
	first, wrong, second := "first word of "+w.email, "worst word of "+w.email, "second word of "+w.email
	w.secrets = map[string]string{"password": first, "wrong password": wrong, "new password": second}
	w.do(200, "POST", "/account/v2/signup", fields{"email": w.email, "password": first})
	w.do(200, "PATCH", "/account/v2/signup", fields{"email": w.email, "code": w.code("sign-up", w.email)})
	w.do(401, "POST", "/account/v2/sessions", fields{"email": w.email, "password": wrong})
	session := w.do(200, "POST", "/account/v2/sessions", fields{"email": w.email, "password": first}).Key
	w.key, w.secrets["session"] = session, session
	w.secrets["key"] = w.do(200, "POST", "/account/v2/api-keys", fields{"description": "one"}).Key
	signs := w.do(200, "POST", "/account/v2/api-keys", fields{"description": "signs", "kind": "hmac"})
	w.secrets["key that signs"], w.secrets["signing secret"] = signs.Key, signs.Secret
	otpauth, err := url.Parse(w.confirmed("provider", "PUT", "/account/v2/mfa/providers/GA", fields{}).URL)
	must(w.t, err)
	w.secrets["application"] = otpauth.Query().Get("secret")
	w.confirmed("cases", "PATCH", "/account/v2/mfa/cases", fields{"cases": fields{"WITHDRAWAL": true}})
	mustControl[any](w.server, "account/create", fields{"email": "to-" + w.email})
	account := mustControl[struct{ Account int }](w.server, "account/show", fields{"account": w.email}).Account
	mustControl[any](w.server, "credit", fields{"account": account, "asset": "BTC", "amount": "1"})
	w.confirmed("withdrawal", "POST", "/wallet/v2/io/transactions", fields{
		"type": "TRANSFER_OUT", "asset": "BTC", "address": "to-" + w.email, "amount": "1", "memo": "for lunch",
	})
	w.confirmed("change of address", "PUT", "/account/v2/email", fields{"email": "new-" + w.email, "password": first})
	w.do(200, "PATCH", "/account/v2/email", fields{"code": w.code("address", "new-"+w.email)})
	w.code("undo", w.email)
	w.key = ""
	w.do(200, "DELETE", "/account/v2/password", fields{"email": "new-" + w.email})
	w.do(200, "PATCH", "/account/v2/password", fields{"email": "new-" + w.email, "code": w.code("reset", "new-"+w.email), "password": second})
}

// TestLostAndStolenFactors has operators take an application away, and end every way
// into an account; both are in the log of operators, with the reason.
func TestLostAndStolenFactors(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	type fields = map[string]any
	w := &walker{server: s, email: "ada@example.com", secrets: map[string]string{}}
	const password = "correct horse"
	w.do(200, "POST", "/account/v2/signup", fields{"email": w.email, "password": password})
	w.do(200, "PATCH", "/account/v2/signup", fields{"email": w.email, "code": w.code("sign-up", w.email)})
	logIn := fields{"email": w.email, "password": password}
	w.key = w.do(200, "POST", "/account/v2/sessions", logIn).Key
	key := w.do(200, "POST", "/account/v2/api-keys", fields{"description": "one"}).Key
	otpauth, err := url.Parse(w.confirmed("provider", "PUT", "/account/v2/mfa/providers/GA", fields{}).URL)
	must(t, err)
	code, err := totp.GenerateCode(otpauth.Query().Get("secret"), time.Now())
	must(t, err)
	w.do(200, "POST", "/account/v2/mfa/providers/GA", fields{"code2FA": code})

	id := fmt.Sprint(mustControl[struct{ Account int }](s, "account/show", fields{"account": w.email}).Account)
	operate[json.RawMessage](s, "factor", "reset", id, "--reason", "phone lost, passport seen")
	w.do(403, "GET", "/account/v2/email", nil)
	w.key = ""
	w.key = w.do(200, "POST", "/account/v2/sessions", logIn).Key
	w.do(511, "PATCH", "/account/v2/mfa/cases", fields{"cases": fields{"LOGIN": true}})
	w.code("by mail again", w.email)

	operate[json.RawMessage](s, "factor", "stolen", id, "--reason", "mailbox taken")
	w.do(403, "GET", "/account/v2/email", nil)
	w.key = key
	w.do(403, "GET", "/account/v2/email", nil)
	w.key = ""
	w.do(401, "POST", "/account/v2/sessions", logIn)
	if shown := mustControl[struct{ Frozen bool }](s, "account/show", fields{"account": w.email}); !shown.Frozen {
		t.Error("the account is not frozen")
	}

	operate[json.RawMessage](s, "factor", "stolen", id, "--email", "safe@example.com", "--reason", "passport seen")
	if got := fmt.Sprint(mustControl[struct{ Account int }](s, "account/show", fields{"account": "safe@example.com"}).Account); got != id {
		t.Errorf("the holder's new address is account %s's", got)
	}
	log := string(operate[json.RawMessage](s, "log"))
	for _, text := range []string{"factor reset " + id + ": phone lost, passport seen", "factor stolen " + id + ": mailbox taken"} {
		if !strings.Contains(log, text) {
			t.Errorf("%q is not in the log: %s", text, log)
		}
	}
}

// TestCasesOfNewAccounts wants second factors to be asked for withdrawals and keys of a
// new account in production, and for nothing in a sandbox.
func TestCasesOfNewAccounts(t *testing.T) {
	for _, c := range []struct{ command, want string }{{"serve", "WITHDRAWAL,API_KEY"}, {"dev", ""}} {
		s := &server{t: t, data: t.TempDir()}
		if c.command == "dev" {
			s.args = []string{"--bots=false", "--block-time=0"}
		}
		s.startAs(c.command)
		operate[json.RawMessage](s, "account", "create", "ada@example.com")
		s.kill()
		db, err := sql.Open("sqlite", filepath.Join(s.data, "accounts.db"))
		must(t, err)
		if got := column(t, db, "SELECT cases FROM accounts WHERE email = 'ada@example.com'"); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: a new account has the cases %q, want %q", c.command, got, c.want)
		}
		must(t, db.Close())
	}
}

// TestNothingToSteal scans every byte that an exchange leaves on disk, in its
// database and in its log, at the level that says most, for what would let somebody
// in. Of a code, which may be there by chance, both of two people have to be.
func TestNothingToSteal(t *testing.T) {
	args := []string{"--bots=false", "--block-time=0", "--log-level=debug", "--segment-size=256KiB"}
	t.Run("SQLite", func(t *testing.T) { stolen(t, start(t, t.TempDir(), args...), "") })
	t.Run("PostgreSQL", func(t *testing.T) {
		at := newDatabase(t).URL("postgres")
		stolen(t, start(t, t.TempDir(), append(args, "--history="+at, "--accounts="+at)...), at)
	})
}

func stolen(t *testing.T, s *server, database string) {
	t.Helper()
	found := map[string]int{}
	var walkers []*walker
	for _, name := range []string{"ada", "bea"} {
		w := &walker{server: s, email: name + "@example.com"}
		w.walk()
		walkers = append(walkers, w)
	}
	live := s.left() // the logs of the databases are gone when it has ended
	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	places := slices.Concat(live, s.left(), [][]byte{s.log.Bytes()}, dumped(t, database))
	all := bytes.Join(places, []byte("\n"))
	for _, w := range walkers {
		for what, secret := range w.secrets {
			if secret == "" {
				t.Fatalf("there is no secret for %s", what)
			}
			if holds(all, secret) {
				found[what]++
			}
		}
	}
	for what, people := range found {
		if people == 2 || !strings.HasPrefix(what, "code: ") {
			t.Errorf("%s can be read where it should not (database %q)", what, database)
		}
	}
	for _, known := range []string{"ada@example.com", "$argon2id$", "msg=serving"} {
		if !bytes.Contains(all, []byte(known)) {
			t.Errorf("%s is not there: not everything was looked at (database %q)", known, database)
		}
	}
}

// left returns the contents of the files in the data directory. Of a running
// exchange, a file that is renamed meanwhile is left out.
func (s *server) left() (list [][]byte) {
	s.t.Helper()
	must(s.t, filepath.WalkDir(s.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		list = append(list, text)
		return err
	}))
	return list
}

// dumped returns every row of a database as text.
func dumped(t *testing.T, at string) (list [][]byte) {
	t.Helper()
	if at == "" {
		return nil
	}
	db, err := sql.Open("pgx", at)
	must(t, err)
	tables := column(t, db, `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'bourse%'`)
	for _, table := range tables {
		for _, row := range rows(t, db, `SELECT t::text FROM `+table+` t`) {
			list = append(list, []byte(row))
		}
	}
	must(t, db.Close())
	return list
}

// holds reports whether a secret can be read in a text: as it was sent, as the bytes
// that it stands for, and of a code where no further digits are around it.
func holds(text []byte, secret string) bool {
	if len(secret) == 6 {
		return holdsCode(text, secret)
	}
	forms := [][]byte{[]byte(secret)}
	if raw, err := hex.DecodeString(secret); err == nil {
		forms = append(forms, raw, fmt.Appendf(nil, "%x", secret))
	}
	if raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret); err == nil {
		forms = append(forms, raw, fmt.Appendf(nil, "%x", raw))
	}
	return slices.ContainsFunc(forms, func(f []byte) bool { return bytes.Contains(text, f) })
}

func holdsCode(text []byte, code string) bool {
	digit := func(at int) bool { return at >= 0 && at < len(text) && text[at] >= '0' && text[at] <= '9' }
	for from := 0; ; {
		next := bytes.Index(text[from:], []byte(code))
		if next < 0 {
			return false
		}
		from += next + len(code)
		if !digit(from-len(code)-1) && !digit(from) {
			return true
		}
	}
}
