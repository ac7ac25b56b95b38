package account_test

import (
	"errors"
	"regexp"
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
	wantCode(t, r.ChangePassword(t.Context(), who, "wrong horse", next, act(1, "")), bourse.CodeUnauthorized)
	wantCode(t, r.ChangePassword(t.Context(), who, password, "short", act(1, "")), bourse.CodeInvalid)
	r.held(who, 0)
	if err := r.ChangePassword(t.Context(), who, password, next, act(1, "")); err != nil {
		t.Fatal(err)
	}
	r.who(mine)
	r.gone("another session", elsewhere)
	r.held(who, r.Hold)
	r.restart()
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
	if got := max(0, r.HeldUntil(who.Account)-bourse.TimeOf(r.now)); got != bourse.Time(want.Microseconds()) {
		r.t.Errorf("withdrawals wait for %d µs, want %v", got, want)
	}
}

func TestResetPassword(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, mine := r.session(ada)
	const next = "battery staple"
	if err := errors.Join(r.ForgotPassword(t.Context(), ada, visit), r.ForgotPassword(t.Context(), mallory, visit)); err != nil {
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
	if err := r.ForgotPassword(t.Context(), ada, visit); err != nil {
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

// TestResetEndsWhatWaits resets a password while a thief's session makes a key. That key
// ends with the others. What the session asked for before it ended, and what waited behind
// the reset, is refused, and a restart finds no key.
func TestResetEndsWhatWaits(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	thief, _ := r.session(ada)
	id, key := r.createKey(thief.Account, account.NewKey{Name: "old"})
	r.changeEmail(thief, ada, mallory)
	if err := r.ForgotPassword(t.Context(), ada, visit); err != nil {
		t.Fatal(err)
	}
	code := r.code(ada)

	store := &slowStore{Store: r.store, slow: thief.Account, asked: make(chan struct{}), goOn: make(chan struct{})}
	r.Store = store
	made, reset := make(chan account.Secret), make(chan error)
	go func() {
		_, shown, err := r.OrderKey(t.Context(), thief, account.NewKey{Name: "new"}, visit)
		if err != nil {
			t.Errorf("a key before the reset: %v", err)
		}
		made <- shown.APIKey
	}()
	<-store.asked
	go func() { reset <- r.ResetPassword(t.Context(), ada, code, "battery staple", visit) }()
	close(store.goOn)
	secret := <-made
	if err := <-reset; err != nil {
		t.Errorf("the reset: %v", err)
	}
	r.Store = r.store

	_, _, err := r.OrderKey(t.Context(), thief, account.NewKey{Name: "late"}, visit)
	wantCode(t, err, bourse.CodeUnauthorized)
	k := account.Key{ID: id, Account: thief.Account, Name: "two", Scopes: account.ScopeRead}
	wantCode(t, r.ChangeKey(t.Context(), thief, &k, visit), bourse.CodeUnauthorized)
	wantCode(t, r.ChangePerson(t.Context(), thief, func(row *account.AccountRow) { row.Email = mallory }), bourse.CodeUnauthorized)
	for range 2 {
		r.gone("a key of before", key)
		r.gone("a key of meanwhile", secret)
		keys, err := r.Keys(t.Context(), thief.Account)
		if err != nil || len(keys) != 2 || keys[0].Revoked == 0 || keys[1].Revoked == 0 {
			t.Errorf("keys %+v %v", keys, err)
		}
		r.restart()
	}
}

func TestChangeEmail(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	r.join(mallory)
	who, mine := r.session(ada)
	_, elsewhere := r.session(ada)
	const next = "countess@example.com"
	wantCode(t, r.ChangeEmail(t.Context(), who, next, "wrong horse", act(1, "")), bourse.CodeUnauthorized)
	r.changeEmail(who, ada, next)
	if got := r.PendingEmail(who.Account); got != next {
		t.Errorf("pending is %q", got)
	}
	code := r.code(next)
	if !r.CancelEmail(who.Account) || r.CancelEmail(who.Account) {
		t.Error("a change can be called off once")
	}
	wantCode(t, r.VerifyEmail(t.Context(), who, code, visit), bourse.CodeUnauthorized)
	r.changeEmail(who, ada, mallory)
	if m, _ := r.box.Last(mallory); m.Code != "" {
		t.Errorf("its holder was mailed %+v", m)
	}
	for _, guess := range []string{"", "000000"} {
		wantCode(t, r.VerifyEmail(t.Context(), who, guess, visit), bourse.CodeUnauthorized)
	}
	r.changeEmail(who, ada, next)
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
	r.changeEmail(again, ada, "late@example.com")
	late := r.code("late@example.com")
	r.create("late@example.com")
	wantCode(t, r.VerifyEmail(t.Context(), again, late, visit), bourse.CodeConflict)
}

// changeEmail asks for another address, confirmed by mail to the one in use.
func (r *rig) changeEmail(who account.Identity, from, to string) {
	r.t.Helper()
	ask := func(code string) error { return r.ChangeEmail(r.t.Context(), who, to, password, act(200, code)) }
	asked(r.t.(*testing.T), ask(""), account.ProviderEmail)
	if err := ask(r.code(from)); err != nil {
		r.t.Fatal(err)
	}
}

// TestUndoOutlivesARestart takes a change of address back after a restart, and wants
// keys to end in the journal; under another key of the data directory the code that the
// store keeps is worth nothing.
func TestUndoOutlivesARestart(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	const next = "countess@example.com"
	r.changeEmail(who, ada, next)
	if err := r.VerifyEmail(t.Context(), who, r.code(next), visit); err != nil {
		t.Fatal(err)
	}
	undo := r.code(ada)
	_, key := r.createKey(who.Account, account.NewKey{})

	r.restart()
	r.Seal[0] ^= 1
	wantCode(t, r.UndoEmail(t.Context(), ada, undo, visit), bourse.CodeUnauthorized)
	r.Seal[0] ^= 1
	for _, malformed := range []string{"", "000000", undo[:18], undo + "0", strings.Replace(undo, undo[:1], "U", 1)} {
		wantCode(t, r.UndoEmail(t.Context(), ada, malformed, visit), bourse.CodeInvalid)
	}
	if ok := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$`).MatchString(undo); !ok {
		t.Errorf("the code is %s", undo)
	}
	read := strings.NewReplacer("-", " ", "0", "o", "1", "l").Replace(strings.ToLower(undo)) // as somebody types it
	if err := r.UndoEmail(t.Context(), ada, read, visit); err != nil {
		t.Fatal(err)
	}
	r.gone("a key", key)
	if a, ok, err := r.ByEmail(t.Context(), ada); err != nil || !ok || a.ID != who.Account {
		t.Errorf("%+v %v %v", a, ok, err)
	}
	r.restart()
	r.gone("a key after a restart", key)
}

// TestUndoNamesItsPage wants the letter about a changed address to lead to the page that undoes it.
func TestUndoNamesItsPage(t *testing.T) {
	for at, want := range map[string]string{
		"https://trade.example.com": "at https://trade.example.com/undo: your code", "": "at the exchange's page /undo: your code",
	} {
		r := newRig(t)
		r.Pages = func() string { return at }
		r.join(ada)
		who, _ := r.session(ada)
		const next = "countess@example.com"
		r.changeEmail(who, ada, next)
		if err := r.VerifyEmail(t.Context(), who, r.code(next), visit); err != nil {
			t.Fatal(err)
		}
		if letter, found := r.box.Last(ada); !found || !strings.Contains(letter.Text, want) {
			t.Errorf("pages at %q: the letter says %q", at, letter.Text)
		}
	}
}
