package account_test

import (
	"net/netip"
	"strings"
	"time"

	"github.com/pquerna/otp/totp"

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
	if len(code) > 6 { // takes an address back
		return "2222-2222-2222-2222"
	}
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
	if err := r.verify(email, r.code(email), ""); err != nil {
		r.t.Fatal(err)
	}
}

// verify brings the code of a sign-up, and the password unless it is empty.
func (r *rig) verify(email, code, password string) error {
	return r.Verify(r.t.Context(), account.Confirmation{Email: email, Code: code, Password: password, Visit: visit})
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
