package account_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	mallory  = "mallory@example.com"
	ada      = "ada@example.com"
	password = "correct horse"
)

var visit = account.Visit{From: netip.MustParseAddr("192.0.2.7"), Agent: "agent/1"}

// code returns the code that was mailed last.
func (r *rig) code(to string) string {
	r.t.Helper()
	m, ok := r.box.Last(to)
	if !ok || m.Code == "" || !strings.Contains(m.Text, m.Code) {
		r.t.Fatalf("no code was mailed to %s: %+v", to, m)
	}
	return m.Code
}

// other returns a code that is not this one.
func other(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

// join signs somebody up.
func (r *rig) join(email string) {
	r.t.Helper()
	if err := r.SignUp(r.t.Context(), account.SignUp{Email: email, Password: password}); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Verify(r.t.Context(), email, r.code(email), visit); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) logIn(in account.LogIn) (account.Secret, error) {
	in.Visit = visit
	return r.LogIn(r.t.Context(), in)
}

// session logs in, and returns who that is.
func (r *rig) session(email string) (account.Identity, account.Secret) {
	r.t.Helper()
	secret, err := r.logIn(account.LogIn{Email: email, Password: password})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.who(secret), secret
}

func (r *rig) who(secret account.Secret) account.Identity {
	r.t.Helper()
	who, err := r.Authenticate(r.t.Context(), secret, visit.From)
	if err != nil {
		r.t.Fatal(err)
	}
	return who
}

// gone wants a secret to be good no longer.
func (r *rig) gone(what string, secret account.Secret) {
	r.t.Helper()
	if who, err := r.Authenticate(r.t.Context(), secret, visit.From); err == nil {
		r.t.Errorf("%s: %+v is still let in", what, who)
	}
}

func TestSignUp(t *testing.T) {
	r := newRig(t)
	up := account.SignUp{Email: " Ada@Example.com ", Password: password}
	wantCode(t, r.SignUp(t.Context(), account.SignUp{Email: "nobody", Password: password}), bourse.CodeInvalid)
	wantCode(t, r.SignUp(t.Context(), account.SignUp{Email: ada, Password: "short"}), bourse.CodeInvalid)
	if err := r.SignUp(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	code := r.code(ada)
	wantCode(t, r.Verify(t.Context(), ada, other(code), visit), bourse.CodeUnauthorized)
	wantCode(t, r.Verify(t.Context(), mallory, code, visit), bourse.CodeUnauthorized)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); !errors.Is(err, account.ErrLogIn) {
		t.Errorf("before the address is confirmed: %v", err)
	}
	if err := r.Verify(t.Context(), ada, code, visit); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.Verify(t.Context(), ada, code, visit), bourse.CodeUnauthorized)
	who, _ := r.session(ada)
	if who.Session == 0 || !who.Scopes.Has(account.ScopeWithdraw|account.ScopeAccount) {
		t.Errorf("logged in as %+v", who)
	}
	if err := r.SignUp(t.Context(), up); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if m, _ := r.box.Last(ada); m.Code != "" {
		t.Errorf("the holder was mailed %+v", m)
	}
}

func TestSignUpCodeEnds(t *testing.T) {
	r := newRig(t)
	if err := r.SignUp(t.Context(), account.SignUp{Email: ada, Password: password}); err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(15 * time.Minute)
	wantCode(t, r.Verify(t.Context(), ada, r.code(ada), visit), bourse.CodeUnauthorized)
}

// TestSignUpTwice has two people ask for an account with one address: a code makes
// the account that it was mailed for.
func TestSignUpTwice(t *testing.T) {
	r := newRig(t)
	const others = "another password"
	if err := r.SignUp(t.Context(), account.SignUp{Email: ada, Password: others}); err != nil {
		t.Fatal(err)
	}
	first := r.code(ada)
	for second := first; second == first; second = r.code(ada) {
		if err := r.SignUp(t.Context(), account.SignUp{Email: ada, Password: password}); err != nil {
			t.Fatal(err)
		}
	}
	wantCode(t, r.Verify(t.Context(), ada, first, visit), bourse.CodeUnauthorized)
	if err := r.Verify(t.Context(), ada, r.code(ada), visit); err != nil {
		t.Fatal(err)
	}
	r.session(ada)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: others}); !errors.Is(err, account.ErrLogIn) {
		t.Errorf("with the password of the first: %v", err)
	}
}

func TestSessions(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	r.join(mallory)
	first, one := r.session(ada)
	second, two := r.session(ada)
	foreign, _ := r.session(mallory)
	if _, err := r.Session(first.Account, foreign.Session); err == nil || err.(*bourse.Error).Code != bourse.CodeForbidden { //nolint:errorlint // it is one
		t.Errorf("another account's: %v", err)
	}
	wantCode(t, r.EndSession(t.Context(), first.Account, 99, visit), bourse.CodeNotFound)
	if err := r.EndSession(t.Context(), first.Account, second.Session, visit); err != nil {
		t.Fatal(err)
	}
	r.gone("an ended session", two)
	if len(r.ended) != 1 || r.ended[0] != second.Key {
		t.Errorf("ended were %v, want %d", r.ended, second.Key)
	}
	r.restart()
	r.gone("an ended session after a restart", two)
	if who := r.who(one); who != first {
		t.Errorf("after a restart: %+v, was %+v", who, first)
	}
	if third, _ := r.session(ada); third.Session <= foreign.Session {
		t.Errorf("session %d follows %d", third.Session, foreign.Session)
	}
	r.now = r.now.Add(24 * time.Hour)
	r.gone("a session of yesterday", one)
	if err := r.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := 0
	if err := r.store.Sessions(t.Context(), func(*account.SessionRow) error { left++; return nil }); err != nil || left != 0 {
		t.Errorf("the store keeps %d sessions (%v)", left, err)
	}
}

func TestRememberedSession(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	secret, err := r.logIn(account.LogIn{Email: ada, Password: password, Remember: true})
	if err != nil {
		t.Fatal(err)
	}
	r.now = r.now.Add(29 * 24 * time.Hour)
	who := r.who(secret)
	if list := r.Sessions(who.Account); len(list) != 1 || list[0].Used != bourse.TimeOf(r.now) || list[0].Agent != visit.Agent {
		t.Errorf("sessions %+v", list)
	}
	if err := r.Confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if list := r.Sessions(who.Account); len(list) != 1 || list[0].Used != bourse.TimeOf(r.now) {
		t.Errorf("after a restart: sessions %+v", list)
	}
	r.now = r.now.Add(24 * time.Hour)
	r.gone("a session of last month", secret)
}

// TestGuessingAPassword wants ten wrong passwords to close the door for an hour,
// also to the right one, and the other accounts' doors to stay open.
func TestGuessingAPassword(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	r.join(mallory)
	guess := func(email, password string) error {
		_, err := r.logIn(account.LogIn{Email: email, Password: password})
		return err
	}
	for range 9 {
		wantCode(t, guess(ada, "wrong horse"), bourse.CodeUnauthorized)
	}
	if err := guess(ada, password); err != nil {
		t.Errorf("the tenth attempt is right: %v", err)
	}
	wantCode(t, guess(ada, "wrong horse"), bourse.CodeUnauthorized)
	for range 5 {
		wantCode(t, guess(ada, password), bourse.CodeBusy)
	}
	if err := guess(mallory, password); err != nil {
		t.Errorf("another account: %v", err)
	}
	wantCode(t, guess("nobody@example.com", password), bourse.CodeUnauthorized)
	r.now = r.now.Add(time.Hour)
	if err := guess(ada, password); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestGuessingManyPasswords wants an address to be turned away that guesses at many
// accounts, and others of its network of 64 bits with it.
func TestGuessingManyPasswords(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	guess := func(from string, n int) error {
		in := account.LogIn{Email: fmt.Sprintf("p%d@example.com", n), Password: password}
		in.Visit = account.Visit{From: netip.MustParseAddr(from)}
		_, err := r.LogIn(t.Context(), in)
		return err
	}
	for n := range addressFailures {
		wantCode(t, guess("2001:db8::1", n), bourse.CodeUnauthorized)
	}
	wantCode(t, guess("2001:db8::2", 100), bourse.CodeBusy)
	wantCode(t, guess("2001:db8:0:1::1", 101), bourse.CodeUnauthorized)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); err != nil {
		t.Errorf("another address: %v", err)
	}
}

func TestChangePassword(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, mine := r.session(ada)
	_, elsewhere := r.session(ada)
	const next = "battery staple"
	wantCode(t, r.ChangePassword(t.Context(), who, "wrong horse", next, visit), bourse.CodeUnauthorized)
	wantCode(t, r.ChangePassword(t.Context(), who, password, "short", visit), bourse.CodeInvalid)
	r.held(who, 0)
	if err := r.ChangePassword(t.Context(), who, password, next, visit); err != nil {
		t.Fatal(err)
	}
	r.who(mine)
	r.gone("another session", elsewhere)
	r.held(who, r.Hold)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); !errors.Is(err, account.ErrLogIn) {
		t.Errorf("the old password: %v", err)
	}
	if _, err := r.logIn(account.LogIn{Email: ada, Password: next}); err != nil {
		t.Errorf("the new password: %v", err)
	}
}

// held wants withdrawals to wait for so long from now.
func (r *rig) held(who account.Identity, want time.Duration) {
	r.t.Helper()
	until, err := r.HeldUntil(r.t.Context(), who.Account)
	if err != nil {
		r.t.Fatal(err)
	}
	if got := max(0, until-bourse.TimeOf(r.now)); got != bourse.Time(want.Microseconds()) {
		r.t.Errorf("withdrawals wait for %d µs, want %v", got, want)
	}
}

func TestResetPassword(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, mine := r.session(ada)
	const next = "battery staple"
	if err := errors.Join(r.ForgotPassword(t.Context(), ada), r.ForgotPassword(t.Context(), mallory)); err != nil {
		t.Fatal(err)
	}
	if _, mailed := r.box.Last(mallory); mailed {
		t.Error("somebody without an account got a letter")
	}
	code := r.code(ada)
	for range 5 {
		wantCode(t, r.ResetPassword(t.Context(), ada, other(code), next, visit), bourse.CodeUnauthorized)
	}
	wantCode(t, r.ResetPassword(t.Context(), ada, code, next, visit), bourse.CodeUnauthorized)
	if err := r.ForgotPassword(t.Context(), ada); err != nil {
		t.Fatal(err)
	}
	code = r.code(ada)
	wantCode(t, r.ResetPassword(t.Context(), ada, code, "short", visit), bourse.CodeInvalid)
	if err := r.ResetPassword(t.Context(), ada, code, next, visit); err != nil {
		t.Fatal(err)
	}
	r.gone("a session", mine)
	r.held(who, r.Hold)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: next}); err != nil {
		t.Error(err)
	}
}

// TestGuessingAMailedCode wants ten wrong codes in an hour to end it, however many
// codes are asked for.
func TestGuessingAMailedCode(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	tries := 0
	for range 4 {
		if err := r.ForgotPassword(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			err := r.ResetPassword(t.Context(), ada, other(r.code(ada)), "battery staple", visit)
			if errors.Is(err, account.ErrVerification) {
				tries++
			}
		}
	}
	if tries != 10 {
		t.Errorf("%d guesses were looked at, want 10", tries)
	}
	wantCode(t, r.ResetPassword(t.Context(), ada, r.code(ada), "battery staple", visit), bourse.CodeBusy)
}

func TestChangeEmail(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	r.join(mallory)
	who, mine := r.session(ada)
	_, elsewhere := r.session(ada)
	const next = "countess@example.com"
	wantCode(t, r.ChangeEmail(t.Context(), who.Account, next, "wrong horse", visit), bourse.CodeUnauthorized)
	if err := r.ChangeEmail(t.Context(), who.Account, next, password, visit); err != nil {
		t.Fatal(err)
	}
	if got := r.PendingEmail(who.Account); got != next {
		t.Errorf("pending is %q", got)
	}
	code := r.code(next)
	if !r.CancelEmail(who.Account) || r.CancelEmail(who.Account) {
		t.Error("a change can be called off once")
	}
	wantCode(t, r.VerifyEmail(t.Context(), who, code, visit), bourse.CodeUnauthorized)
	if err := r.ChangeEmail(t.Context(), who.Account, mallory, password, visit); err != nil {
		t.Errorf("an address that has an account: %v", err)
	}
	if m, _ := r.box.Last(mallory); m.Code != "" {
		t.Errorf("its holder was mailed %+v", m)
	}
	for _, guess := range []string{"", "000000"} {
		wantCode(t, r.VerifyEmail(t.Context(), who, guess, visit), bourse.CodeUnauthorized)
	}
	if err := r.ChangeEmail(t.Context(), who.Account, next, password, visit); err != nil {
		t.Fatal(err)
	}
	if err := r.VerifyEmail(t.Context(), who, r.code(next), visit); err != nil {
		t.Fatal(err)
	}
	r.who(mine)
	r.gone("another session", elsewhere)
	r.held(who, r.Hold)
	if m, _ := r.box.Last(ada); !strings.Contains(m.Text, "c***@example.com") {
		t.Errorf("the old address was told %q", m.Text)
	}
	if _, err := r.logIn(account.LogIn{Email: next, Password: password}); err != nil {
		t.Error(err)
	}
	// The address that became free, and the one that was pending when it was taken.
	r.join(ada)
	again, _ := r.session(ada)
	if err := r.ChangeEmail(t.Context(), again.Account, "late@example.com", password, visit); err != nil {
		t.Fatal(err)
	}
	late := r.code("late@example.com")
	r.create("late@example.com")
	wantCode(t, r.VerifyEmail(t.Context(), again, late, visit), bourse.CodeConflict)
}

func TestCaptcha(t *testing.T) {
	r := newRig(t)
	if c, on, err := r.NewCaptcha(ada); on || err != nil || c.PNG != nil {
		t.Errorf("a captcha that is off: %v %v", on, err)
	}
	r.Captcha = true
	up := account.SignUp{Email: ada, Password: password}
	if err := r.SignUp(t.Context(), up); !errors.Is(err, account.ErrVerification) {
		t.Errorf("without one: %v", err)
	}
	c, on, err := r.NewCaptcha(ada)
	if !on || err != nil || !strings.HasPrefix(string(c.PNG), "\x89PNG") {
		t.Fatalf("%v %v %.8q", on, err, c.PNG)
	}
	up.Challenge = c.Challenge
	for _, response := range []string{"000000", "000000", ""} {
		up.Response = response
		if err := r.SignUp(t.Context(), up); !errors.Is(err, account.ErrVerification) {
			t.Errorf("a wrong answer: %v", err)
		}
	}
}

// step returns the code that an application shows.
func (r *rig) step(url account.Secret, ago int) string {
	r.t.Helper()
	_, rest, _ := strings.Cut(string(url), "secret=")
	secret, _, _ := strings.Cut(rest, "&")
	code, err := totp.GenerateCode(secret, r.now.Add(-time.Duration(ago)*30*time.Second))
	if err != nil {
		r.t.Fatal(err)
	}
	return code
}
