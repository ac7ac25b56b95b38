package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

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
