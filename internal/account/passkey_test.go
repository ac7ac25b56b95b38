package account_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/account/authenticator"
)

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// creation returns a browser's options to make a passkey.
func creation(a *account.AskedPasskey) []byte {
	return fmt.Appendf(nil, `{"challenge":%q,"rp":{"id":%q},"user":{"id":%q},"pubKeyCredParams":[{"alg":-8}]}`,
		text(a.Challenge), a.Party, text(a.Handle))
}

// request returns a browser's options to ask for an assertion.
func request(a *account.AskedAssertion) []byte {
	return fmt.Appendf(nil, `{"challenge":%q,"rpId":%q}`, text(a.Challenge), a.Party)
}

// addPasskey adds a passkey of a device, confirmed by mail to an address.
func (r *rig) addPasskey(d *authenticator.Device, who account.Identity, email string) {
	r.t.Helper()
	_, err := r.PreparePasskey(r.t.Context(), who, act(200, ""))
	asked(r.t, err, account.ProviderEmail)
	options, err := r.PreparePasskey(r.t.Context(), who, act(200, r.code(email)))
	if err != nil {
		r.t.Fatal(err)
	}
	made, err := d.Create(creation(&options))
	if err != nil {
		r.t.Fatal(err)
	}
	parsed, err := account.ParseRegistration("passkey", made)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.AddPasskey(r.t.Context(), who, "phone", parsed, visit); err != nil {
		r.t.Fatal(err)
	}
}

// assert answers a challenge with a device.
func (r *rig) assert(d *authenticator.Device, options *account.AskedAssertion) *account.Assertion {
	r.t.Helper()
	got, err := d.Get(request(options))
	if err != nil {
		r.t.Fatal(err)
	}
	a, err := account.ParseAssertion("assertion", got)
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// assertLogIn logs in with a device.
func (r *rig) assertLogIn(d *authenticator.Device) (account.Secret, error) {
	r.t.Helper()
	options, err := r.AskLogIn()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.LogInByPasskey(r.t.Context(), account.PasskeyLogIn{Assertion: r.assert(d, &options), Visit: visit})
}

// TestPasskeyOutlivesARestart logs in with a passkey after restarts, but not with the
// challenge of an earlier process, which knew whether it was used.
func TestPasskeyOutlivesARestart(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	d := authenticator.New(origin)
	d.Counts = true
	r.addPasskey(d, who, ada)
	if _, err := r.assertLogIn(d); err != nil {
		t.Fatal(err)
	}

	options, err := r.AskLogIn()
	if err != nil {
		t.Fatal(err)
	}
	assertion := r.assert(d, &options)
	r.now = r.now.Add(time.Second)
	r.restart()
	if _, err := r.LogInByPasskey(t.Context(), account.PasskeyLogIn{Assertion: assertion, Visit: visit}); !errors.Is(err, account.ErrPasskeyLogIn) {
		t.Errorf("with the challenge of an earlier process: %v", err)
	}
	if _, err := r.assertLogIn(d); err != nil {
		t.Error(err)
	}
	d.Counter = 1
	if _, err := r.assertLogIn(d); !errors.Is(err, account.ErrPasskeyLogIn) {
		t.Errorf("with an old count of signatures: %v", err)
	}
}

// TestInsiderAddsAPasskey writes a whole passkey of an insider's own to a victim's row with
// SQL, and to a change of it. It neither logs in nor confirms anything.
func TestInsiderAddsAPasskey(t *testing.T) {
	for what, statement := range map[string]string{
		"to the row":              `UPDATE accounts SET passkeys = (SELECT passkeys FROM accounts WHERE email = 'mallory@example.com') WHERE email = 'ada@example.com'`,
		"to the row, and a salt":  `UPDATE accounts SET passkeys = o.passkeys, salt = o.salt FROM accounts o WHERE accounts.email = 'ada@example.com' AND o.email = 'mallory@example.com'`,
		"to a change of the row":  `INSERT INTO person_changes SELECT randomblob(16), id, email, password, totp, totp_used, cases, undos, (SELECT passkeys FROM accounts WHERE email = 'mallory@example.com') FROM accounts WHERE email = 'ada@example.com'`,
		"to uses of the passkeys": `INSERT INTO passkey_uses SELECT (SELECT id FROM accounts WHERE email = 'ada@example.com'), randomblob(32), 9, 9`,
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.join(ada)
			r.join(mallory)
			victim, _ := r.session(ada)
			thief, _ := r.session(mallory)
			d, own := authenticator.New(origin), authenticator.New(origin)
			r.addPasskey(own, victim, ada)
			r.addPasskey(d, thief, mallory)
			options, err := r.PreparePasskey(t.Context(), victim, act(1, ""))
			var factor *account.FactorError
			if !errors.As(err, &factor) || factor.Provider != account.ProviderPasskey {
				t.Fatal(options, err)
			}
			r.behind(statement)

			d.Handle = handleOf(t, own, r)
			if _, err := r.assertLogIn(d); err == nil {
				t.Error("the insider logs in")
			}
			_, err = r.assertLogIn(own)
			if row := strings.HasPrefix(what, "to the row"); (err == nil) == row || len(r.forged) > 0 != row {
				t.Errorf("the holder: %v, alarms %v", err, r.forged)
			}
		})
	}
}

// handleOf returns the handle of a device's passkey.
func handleOf(t *testing.T, d *authenticator.Device, r *rig) []byte {
	t.Helper()
	options, err := r.AskLogIn()
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Get(request(&options))
	if err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, got)["userHandle"]
}

// moveTo changes the address of an account.
func (r *rig) moveTo(who account.Identity, from, to string) {
	r.t.Helper()
	a := act(100, "")
	asked(r.t, r.ChangeEmail(r.t.Context(), who, to, password, a), account.ProviderEmail)
	a.Code = r.code(from)
	if err := r.ChangeEmail(r.t.Context(), who, to, password, a); err != nil {
		r.t.Fatal(err)
	}
	if err := r.VerifyEmail(r.t.Context(), who, r.code(to), visit); err != nil {
		r.t.Fatal(err)
	}
}

// TestLostPasskey has an operator take the passkeys of an account away: withdrawals wait for
// three days, keys that can withdraw end, and the old and the new address are told.
func TestLostPasskey(t *testing.T) {
	const countess = "countess@example.com"
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.moveTo(who, ada, countess)
	d := authenticator.New(origin)
	r.addPasskey(d, who, countess)
	_, trades := r.createKey(who.Account, account.NewKey{Name: "trades"})
	_, withdraws := r.createKey(who.Account, account.NewKey{Name: "withdraws", Scopes: account.ScopeRead | account.ScopeWithdraw})

	r.now = r.now.Add(time.Hour)
	if err := r.ResetFactor(t.Context(), who.Account); err != nil {
		t.Fatal(err)
	}
	r.gone("the key that can withdraw", withdraws)
	r.who(trades)
	if until, want := r.HeldUntil(who.Account), bourse.TimeOf(r.now)+72*bourse.Hour; until != want {
		t.Errorf("withdrawals wait until %v, want %v", until.Std(), want.Std())
	}
	for _, email := range []string{ada, countess} {
		if m, _ := r.box.Last(email); !strings.Contains(m.Text, "An operator took the authenticator application and the passkeys away") {
			t.Errorf("%s was told %q", email, m.Text)
		}
	}
	if _, err := r.assertLogIn(d); !errors.Is(err, account.ErrPasskeyLogIn) {
		t.Errorf("the lost passkey: %v", err)
	}
	if list, err := r.Passkeys(t.Context(), who.Account); len(list) != 0 || err != nil {
		t.Errorf("passkeys %v %v", list, err)
	}
	r.restart()
	r.gone("the key that can withdraw, after a restart", withdraws)
}

// TestStolenPasskey has an operator end all access, and move the account to its holder's
// address: both are told.
func TestStolenPasskey(t *testing.T) {
	const countess = "countess@example.com"
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	d := authenticator.New(origin)
	r.addPasskey(d, who, ada)
	if err := r.EndAccess(t.Context(), who.Account, countess); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{ada, countess} {
		if m, _ := r.box.Last(email); !strings.Contains(m.Text, "An operator ended all") {
			t.Errorf("%s was told %q", email, m.Text)
		}
	}
	if _, err := r.assertLogIn(d); !errors.Is(err, account.ErrPasskeyLogIn) {
		t.Errorf("the stolen passkey: %v", err)
	}
	if until, want := r.HeldUntil(who.Account), bourse.TimeOf(r.now)+72*bourse.Hour; until != want {
		t.Errorf("withdrawals wait until %v, want %v", until.Std(), want.Std())
	}
}

// TestUndoRestoresPasskeys has a thief move an account and add a passkey. The holder's undo
// takes it away, and brings back what there was.
func TestUndoRestoresPasskeys(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	own, thief := authenticator.New(origin), authenticator.New(origin)
	own.Counts = true
	r.moveTo(who, ada, "first@example.com")
	r.addPasskey(own, who, "first@example.com")
	r.forge(who.Account, func(row *account.AccountRow) { // as a change that the passkey confirmed
		row.Undos[0].Passkeys = row.Passkeys
		row.Passkeys = nil
	})
	r.addPasskey(thief, who, "first@example.com")
	undo, _ := r.box.Last(ada)
	if err := r.UndoEmail(t.Context(), ada, undo.Code, visit); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.assertLogIn(thief); !errors.Is(err, account.ErrPasskeyLogIn) {
			t.Errorf("the thief's: %v", err)
		}
		if _, err := r.assertLogIn(own); err != nil {
			t.Errorf("the holder's: %v", err)
		}
		r.restart()
	}
}

// TestWrongPasskeysOfASource wants a source that brings wrong assertions to be refused alone,
// and what names no account to count for nobody.
func TestWrongPasskeysOfASource(t *testing.T) {
	r := newLimitedRig(t, account.Limits{WrongPasswords: 3})
	r.join(ada)
	who, _ := r.session(ada)
	d := authenticator.New(origin)
	r.addPasskey(d, who, ada)

	stranger := *d
	stranger.Handle = []byte("a handle that is no handle")
	for range 5 {
		if _, err := r.assertLogIn(&stranger); !errors.Is(err, account.ErrPasskeyLogIn) {
			t.Error(err)
		}
	}
	liar := *d
	liar.Stale = true
	for range 3 {
		if _, err := r.assertLogIn(&liar); !errors.Is(err, account.ErrPasskeyLogIn) {
			t.Error(err)
		}
	}
	_, err := r.assertLogIn(d)
	wantCode(t, err, bourse.CodeBusy)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); err != nil {
		t.Errorf("the password: %v", err)
	}

	options, err := r.AskLogIn()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := account.PasskeyLogIn{Assertion: r.assert(d, &options)}
	elsewhere.From = netip.MustParseAddr("198.51.100.9")
	if _, err := r.LogInByPasskey(t.Context(), elsewhere); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
}

// TestPasskeyLogInsOfAnAccount wants an account beyond its log-ins to use up no challenge: each
// is remembered in a table that all accounts share. The last use of the passkey tells.
func TestPasskeyLogInsOfAnAccount(t *testing.T) {
	r := newLimitedRig(t, account.Limits{LogIns: 3})
	r.join(ada)
	who, _ := r.session(ada)
	d := authenticator.New(origin)
	r.addPasskey(d, who, ada)
	for range 2 {
		if _, err := r.assertLogIn(d); err != nil {
			t.Fatal(err)
		}
	}
	last := bourse.TimeOf(r.now)

	r.now = r.now.Add(time.Minute)
	_, err := r.assertLogIn(d)
	wantCode(t, err, bourse.CodeBusy)
	list, err := r.Passkeys(t.Context(), who.Account)
	if err != nil || len(list) != 1 || list[0].Used != last {
		t.Errorf("the passkey was used at %v %v, want %v", list, err, last.Std())
	}
}

// TestParties makes what passkeys are bound to.
func TestParties(t *testing.T) {
	for _, good := range [][]string{
		{"localhost", "http://localhost:8080"}, {"example.com", "https://example.com"},
		{"example.com", "https://trade.example.com:8443", "https://example.com"},
	} {
		if _, err := account.NewParty(good[0], good[1:]...); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range [][]string{
		{"example.com"}, {"", "https://example.com"}, {"127.0.0.1", "http://127.0.0.1:8080"},
		{"Example.com", "https://example.com"}, {"example.com:443", "https://example.com"},
		{"https://example.com", "https://example.com"}, {"example.com/x", "https://example.com"},
		{"example.com", "http://example.com"}, {"example.com", "https://example.com/"},
		{"example.com", "https://example.com:443"}, {"example.com", "https://Example.com"},
		{"example.com", "https://evilexample.com"}, {"example.com", "https://example.org"},
		{"example.com", "https://u@example.com"}, {"example.com", "android:apk-key-hash:x"}, {"localhost", "http://localhost:80"},
	} {
		if _, err := account.NewParty(bad[0], bad[1:]...); err == nil {
			t.Errorf("%v is a party", bad)
		}
	}
}

// FuzzPasskey reads and verifies what clients send as an assertion and as a new passkey, by the
// bytes in it.
func FuzzPasskey(f *testing.F) {
	r := newRig(f)
	r.join(ada)
	who, _ := r.session(ada)
	d := authenticator.New(origin)
	r.addPasskey(d, who, ada)
	options, err := r.AskLogIn()
	if err != nil {
		f.Fatal(err)
	}
	asserted, err := d.Get(request(&options))
	if err != nil {
		f.Fatal(err)
	}
	made, err := authenticator.New(origin).Create(creation(&account.AskedPasskey{AskedAssertion: options, Handle: []byte("x")}))
	if err != nil {
		f.Fatal(err)
	}
	good, other := bytesOf(f, asserted), bytesOf(f, made)
	f.Add(good["clientDataJSON"], good["authenticatorData"], good["signature"], other["attestationObject"])
	f.Add(other["clientDataJSON"], []byte(nil), []byte(nil), []byte{0xbf, 0xff})

	f.Fuzz(func(t *testing.T, client, data, signature, object []byte) {
		sent := map[string]any{"id": "AQ", "rawId": "AQ", "type": "public-key", "response": map[string]string{
			"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature),
			"userHandle": text(good["userHandle"]), "attestationObject": text(object),
		}}
		b, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := account.ParseAssertion("assertion", b); err == nil {
			if _, err := r.LogInByPasskey(t.Context(), account.PasskeyLogIn{Assertion: a, Visit: visit}); err == nil {
				t.Error("another passkey's assertion begins a session")
			}
		}
		if made, err := account.ParseRegistration("passkey", b); err == nil {
			if k, err := r.AddPasskey(t.Context(), who, "x", made, visit); err == nil {
				t.Errorf("nobody asked for %+v", k)
			}
		}
	})
}

// bytesOf returns the bytes in the response of what a page sends.
func bytesOf(t testing.TB, sent []byte) map[string][]byte {
	t.Helper()
	var answer struct {
		Response map[string]string `json:"response"`
	}
	if err := json.Unmarshal(sent, &answer); err != nil {
		t.Fatal(err)
	}
	list := map[string][]byte{}
	for name, value := range answer.Response {
		b, err := base64.RawURLEncoding.DecodeString(value)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = b
	}
	return list
}

// TestResetEndsNewPasskeys resets a password: a passkey of the last three days, which a thief may have added, ends and
// withdrawals wait as after an operator's recovery; an older one stays, and the holder is told so at every address.
func TestResetEndsNewPasskeys(t *testing.T) {
	const countess = "countess@example.com"
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.moveTo(who, ada, countess)
	reset := func(next string) string {
		t.Helper()
		if err := r.ForgotPassword(t.Context(), countess, visit); err != nil {
			t.Fatal(err)
		}
		if err := r.ResetPassword(t.Context(), countess, r.code(countess), next, visit); err != nil {
			t.Fatal(err)
		}
		m, _ := r.box.Last(countess)
		if old, _ := r.box.Last(ada); old.Text != m.Text {
			t.Errorf("the old address was told %q, the new one %q", old.Text, m.Text)
		}
		return m.Text
	}

	d := authenticator.New(origin)
	r.addPasskey(d, who, countess)
	r.now = r.now.Add(72*time.Hour - time.Second)
	if told := reset("battery staple"); !strings.Contains(told, "in the last 72 hours have ended: 1.") || strings.Contains(told, "stay") {
		t.Errorf("the holder was told %q", told)
	}
	if _, err := r.assertLogIn(d); !errors.Is(err, account.ErrPasskeyLogIn) {
		t.Errorf("a new passkey after a reset: %v", err)
	}
	r.held(who, 72*time.Hour)

	secret, err := r.logIn(account.LogIn{Email: countess, Password: "battery staple"})
	if err != nil {
		t.Fatal(err)
	}
	own := authenticator.New(origin)
	r.addPasskey(own, r.who(secret), countess) // by mail: none was left
	added := r.now
	r.now = r.now.Add(72 * time.Hour)
	if told := reset("correct horse"); !strings.Contains(told, "stay were added on "+added.UTC().Format(time.DateOnly)+". If one of them is not yours") || strings.Contains(told, "ended") {
		t.Errorf("the holder was told %q", told)
	}
	if _, err := r.assertLogIn(own); err != nil {
		t.Error(err)
	}
	r.held(who, r.Hold)
}
