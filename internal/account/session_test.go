package account_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

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
	if _, err := r.submit(t.Context(), &bourse.Command{Kind: bourse.CommandTick}); err != nil {
		t.Fatal(err)
	}
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
	if err := guess(ada, password); err != nil {
		t.Fatal(err)
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
