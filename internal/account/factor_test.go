package account_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// asked wants a request to be asked for a code.
func asked(t testing.TB, err error, from account.Provider) {
	t.Helper()
	var f *account.FactorError
	if !errors.As(err, &f) || f.Provider != from {
		t.Errorf("got %v, want to be asked for a code from %s", err, from)
	}
}

func act(digest byte, code string) account.Act {
	return account.Act{Digest: account.Digest{digest}, Code: code, Visit: visit}
}

func TestSecondFactorByMail(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	confirm := func(a account.Act) error { return r.SecondFactor(t.Context(), who, a) }

	asked(t, confirm(act(1, "")), account.ProviderEmail)
	one := r.code(ada)
	asked(t, confirm(act(2, one)), account.ProviderEmail) // a changed request is a new one
	two := r.code(ada)
	if err := confirm(act(1, other(one))); !errors.Is(err, account.ErrWrongFactor) {
		t.Errorf("a wrong code: %v", err)
	}
	if err := confirm(act(1, one)); err != nil {
		t.Errorf("the right code: %v", err)
	}
	asked(t, confirm(act(1, one)), account.ProviderEmail) // once
	if err := confirm(act(2, two)); err != nil {
		t.Errorf("the other request's code: %v", err)
	}
	asked(t, confirm(act(3, "")), account.ProviderEmail)
	r.now = r.now.Add(5 * time.Minute)
	asked(t, confirm(act(3, r.code(ada))), account.ProviderEmail)

	key := account.Identity{Account: who.Account, Key: 1, Scopes: account.ScopeWithdraw}
	if err := r.SecondFactor(t.Context(), key, act(4, "")); err != nil {
		t.Errorf("a key: %v", err)
	}
	withdrawal := act(5, "")
	withdrawal.Case = account.CaseWithdrawal
	if err := confirm(withdrawal); err != nil {
		t.Errorf("a case that is off: %v", err)
	}
}

func TestMaskedAddress(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	var asks *account.FactorError
	err := r.SecondFactor(t.Context(), who, act(1, ""))
	if !errors.As(err, &asks) || asks.Place != "a***@example.com" || strings.Contains(err.Error(), ada) {
		t.Errorf("asked was %v", err)
	}
}

// TestGuessingAFactor wants five wrong codes to end a challenge, ten in an hour to
// lock the account's second factor, and the right code to be of no use then.
func TestGuessingAFactor(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	guess := func(code string) error { return r.SecondFactor(t.Context(), who, act(1, code)) }
	for range 2 {
		asked(t, guess(""), account.ProviderEmail)
		for range 5 {
			if err := guess(other(r.code(ada))); !errors.Is(err, account.ErrWrongFactor) {
				t.Errorf("a wrong code: %v", err)
			}
		}
	}
	wantCode(t, guess(r.code(ada)), bourse.CodeBusy)
	wantWait(t, guess(""), time.Hour)
	r.now = r.now.Add(59 * time.Minute)
	wantWait(t, guess(r.code(ada)), time.Minute)
	// Before the password, whose hash is expensive: a wrong one is not looked at.
	wantCode(t, r.ChangeEmail(t.Context(), who, "new@example.org", "wrong", act(0, "")), bourse.CodeBusy)
	r.now = r.now.Add(time.Minute)
	asked(t, guess(""), account.ProviderEmail)
	if err := guess(r.code(ada)); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	r.activity(who, "MFA_FAILED", 10)
}

// wantWait wants the refusal of a limit that ends after a time.
func wantWait(t *testing.T, err error, want time.Duration) {
	t.Helper()
	var limit *account.LimitError
	if !errors.As(err, &limit) || limit.Wait != want {
		t.Errorf("got %v (%+v), want a wait of %v", err, limit, want)
	}
}

// activity wants an account's log to hold so many entries of a kind.
func (r *rig) activity(who account.Identity, kind string, want int) {
	r.t.Helper()
	list, err := r.Activity(r.t.Context(), who.Account, 0, 500)
	if err != nil {
		r.t.Fatal(err)
	}
	got := 0
	for _, a := range list {
		if a.Kind == kind && a.Address == "192.0.2.7" && a.Agent == visit.Agent {
			got++
		}
	}
	if got != want {
		r.t.Errorf("%d activities %s, want %d: %+v", got, kind, want, list)
	}
}

// TestGuessingAtOnce has many requests guess one challenge together.
func TestGuessingAtOnce(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	asked(t, r.SecondFactor(t.Context(), who, act(1, "")), account.ProviderEmail)
	bad := other(r.code(ada))
	var looked atomic.Int32
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			if errors.Is(r.SecondFactor(t.Context(), who, act(1, bad)), account.ErrWrongFactor) {
				looked.Add(1)
			}
		})
	}
	work.Wait()
	if looked.Load() > 10 {
		t.Errorf("%d guesses were looked at", looked.Load())
	}
}

// useTOTP makes an authenticator application the second factor.
func (r *rig) useTOTP(who account.Identity) account.Secret {
	r.t.Helper()
	asked(r.t.(*testing.T), second(r.PrepareTOTP(r.t.Context(), who.Account, act(90, ""))), account.ProviderEmail)
	key, err := r.PrepareTOTP(r.t.Context(), who.Account, act(90, r.code(ada)))
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(key.URL), "secret="+string(key.Secret)) {
		r.t.Errorf("the URL has another secret than the key")
	}
	asked(r.t.(*testing.T), r.UseTOTP(r.t.Context(), who, act(91, "")), account.ProviderTOTP)
	if err := r.UseTOTP(r.t.Context(), who, act(91, r.step(key.URL, 0))); err != nil {
		r.t.Fatal(err)
	}
	r.now = r.now.Add(time.Minute)
	return key.URL
}

func second[T any](_ T, err error) error { return err }

func TestTOTP(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	if err := r.UseTOTP(t.Context(), who, act(1, "123456")); !errors.Is(err, account.ErrNotConfigured) {
		t.Errorf("nothing is prepared: %v", err)
	}
	if err := r.UseEmail(t.Context(), who, act(1, "")); !errors.Is(err, account.ErrConfigured) {
		t.Errorf("by e-mail again: %v", err)
	}
	url := r.useTOTP(who)
	r.held(who, r.Hold-time.Minute)
	if f, err := r.Factors(t.Context(), who.Account); err != nil || !f.Prepared || !f.Used {
		t.Errorf("%+v %v", f, err)
	}
	for _, err := range []error{
		second(r.PrepareTOTP(t.Context(), who.Account, act(1, ""))), r.UseTOTP(t.Context(), who, act(1, r.step(url, 0))),
	} {
		if !errors.Is(err, account.ErrConfigured) {
			t.Errorf("it is in use: %v", err)
		}
	}
	confirm := func(digest byte, code string) error { return r.SecondFactor(t.Context(), who, act(digest, code)) }
	asked(t, confirm(1, ""), account.ProviderTOTP)
	asked(t, confirm(2, ""), account.ProviderTOTP)
	for _, ago := range []int{-2, 2} {
		if err := confirm(1, r.step(url, ago)); !errors.Is(err, account.ErrWrongFactor) {
			t.Errorf("%d steps ago: %v", ago, err)
		}
	}
	if err := confirm(1, r.step(url, 0)); err != nil {
		t.Errorf("the code of now: %v", err)
	}
	for _, ago := range []int{0, 1} {
		if err := confirm(2, r.step(url, ago)); !errors.Is(err, account.ErrWrongFactor) {
			t.Errorf("%d steps ago, when the one of now was used: %v", ago, err)
		}
	}
	if err := confirm(2, r.step(url, -1)); err != nil {
		t.Errorf("the next code: %v", err)
	}
	r.restart()
	asked(t, confirm(3, ""), account.ProviderTOTP)
	if err := confirm(3, r.step(url, -1)); !errors.Is(err, account.ErrWrongFactor) {
		t.Errorf("a used code after a restart: %v", err)
	}
}

// TestBackToMail confirms with the provider that is in use, and again with the
// other one.
func TestBackToMail(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	url := r.useTOTP(who)
	asked(t, r.UseEmail(t.Context(), who, act(1, "")), account.ProviderTOTP)
	if err := r.UseEmail(t.Context(), who, act(1, r.step(url, 0))); err != nil {
		t.Fatal(err)
	}
	asked(t, r.SecondFactor(t.Context(), who, act(2, "")), account.ProviderEmail)
	r.now = r.now.Add(time.Minute)
	if err := r.UseTOTP(t.Context(), who, act(3, r.step(url, 0))); err != nil {
		t.Fatal(err)
	}
	asked(t, r.RemoveTOTP(t.Context(), who, act(4, "")), account.ProviderTOTP)
	r.now = r.now.Add(time.Minute)
	if err := r.RemoveTOTP(t.Context(), who, act(4, r.step(url, 0))); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveTOTP(t.Context(), who, act(4, "")); !errors.Is(err, account.ErrNotConfigured) {
		t.Errorf("a second time: %v", err)
	}
	if f, err := r.Factors(t.Context(), who.Account); err != nil || f.Prepared || f.Used {
		t.Errorf("%+v %v", f, err)
	}
}

// TestOneStepOnce shows one code for many requests at once.
func TestOneStepOnce(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	url := r.useTOTP(who)
	const requests = 8
	for i := range byte(requests) {
		asked(t, r.SecondFactor(t.Context(), who, act(i, "")), account.ProviderTOTP)
	}
	code := r.step(url, 0)
	var passed atomic.Int32
	var work sync.WaitGroup
	for i := range byte(requests) {
		work.Go(func() {
			if r.SecondFactor(t.Context(), who, act(i, code)) == nil {
				passed.Add(1)
			}
		})
	}
	work.Wait()
	if passed.Load() != 1 {
		t.Errorf("%d requests passed with one code", passed.Load())
	}
}

func TestCases(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, mine := r.session(ada)
	_, elsewhere := r.session(ada)
	set := func(on, off account.Cases, code string) (account.Cases, error) {
		return r.SetCases(t.Context(), who, on, off, act(1, code))
	}
	asked(t, second(set(account.CaseLogin|account.CaseAPIKey, 0, "")), account.ProviderEmail)
	now, err := set(account.CaseLogin|account.CaseAPIKey, 0, r.code(ada))
	if err != nil || now != account.CaseLogin|account.CaseAPIKey {
		t.Fatal(now, err)
	}
	r.who(mine)
	r.gone("another session", elsewhere)
	in := account.LogIn{Email: ada, Password: password}
	asked(t, second(r.logIn(in)), account.ProviderEmail)
	in.Code = r.code(ada)
	if _, err := r.logIn(in); err != nil {
		t.Error(err)
	}
	asked(t, second(set(account.CaseWithdrawal, account.CaseLogin, "")), account.ProviderEmail)
	if now, err = set(account.CaseWithdrawal, account.CaseLogin, r.code(ada)); err != nil || now.String() != "WITHDRAWAL,API_KEY" {
		t.Error(now, err)
	}
}

// TestSealed wants a secret of the store to be of no use with another key, or for
// another account.
func TestSealed(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	r.join(mallory)
	who, _ := r.session(ada)
	thief, _ := r.session(mallory)
	url := r.useTOTP(who)
	row, _, err := r.store.Account(t.Context(), who.Account)
	if err != nil || len(row.TOTP) == 0 || strings.Contains(string(url), string(row.TOTP)) {
		t.Fatalf("%v %d", err, len(row.TOTP))
	}
	r.forge(thief.Account, func(to *account.AccountRow) { to.TOTP, to.TOTPUsed = row.TOTP, true })
	asked(t, r.SecondFactor(t.Context(), thief, act(1, "")), account.ProviderTOTP)
	if err := r.SecondFactor(t.Context(), thief, act(1, r.step(url, 0))); err == nil {
		t.Error("a secret was taken over from another account")
	}
	r.Seal[0] ^= 1
	asked(t, r.SecondFactor(t.Context(), who, act(1, "")), account.ProviderTOTP)
	if err := r.SecondFactor(t.Context(), who, act(1, r.step(url, 0))); err == nil {
		t.Error("another key opens it")
	}
}
