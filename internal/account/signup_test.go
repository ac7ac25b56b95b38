package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

func TestSignUp(t *testing.T) {
	r := newRig(t)
	up := account.SignUp{Email: " Ada@Example.com ", Password: password}
	wantCode(t, r.SignUp(t.Context(), account.SignUp{Email: "nobody", Password: password}), bourse.CodeInvalid)
	wantCode(t, r.SignUp(t.Context(), account.SignUp{Email: ada, Password: "short"}), bourse.CodeInvalid)
	if err := r.SignUp(t.Context(), up); err != nil {
		t.Fatal(err)
	}
	code := r.code(ada)
	wantCode(t, r.verify(ada, other(code), ""), bourse.CodeUnauthorized)
	wantCode(t, r.verify(mallory, code, ""), bourse.CodeUnauthorized)
	if _, err := r.logIn(account.LogIn{Email: ada, Password: password}); !errors.Is(err, account.ErrLogIn) {
		t.Errorf("before the address is confirmed: %v", err)
	}
	if err := r.verify(ada, code, ""); err != nil {
		t.Fatal(err)
	}
	wantCode(t, r.verify(ada, code, ""), bourse.CodeUnauthorized)
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
	wantCode(t, r.verify(ada, r.code(ada), ""), bourse.CodeUnauthorized)
}

func TestCaptcha(t *testing.T) {
	r := newRig(t)
	up := account.SignUp{Email: ada, Password: password, Challenge: "any", Response: "answer"}
	if err := r.SignUp(t.Context(), up); err != nil {
		t.Errorf("a captcha that is off: %v", err)
	}
	r.Captcha = true
	up.Challenge, up.Response = "", ""
	if err := r.SignUp(t.Context(), up); !errors.Is(err, account.ErrVerification) {
		t.Errorf("without one: %v", err)
	}
	c, err := r.NewCaptcha(ada, visit)
	if err != nil || !strings.HasPrefix(string(c.PNG), "\x89PNG") {
		t.Fatalf("%v %.8q", err, c.PNG)
	}
	up.Challenge = c.Challenge
	for _, response := range []string{"000000", "000000", ""} {
		up.Response = response
		if err := r.SignUp(t.Context(), up); !errors.Is(err, account.ErrVerification) {
			t.Errorf("a wrong answer: %v", err)
		}
	}
}
