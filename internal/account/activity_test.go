package account_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
)

func TestActivityIsForgotten(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	r.now = r.now.Add(90 * 24 * time.Hour)
	r.session(ada)
	r.activity(who, "SIGNUP", 1)
	r.now = r.now.Add(time.Second)
	r.session(ada)
	r.activity(who, "SIGNUP", 0)
	r.activity(who, "LOGIN", 2)
}

// TestFailuresForgetNothingElse has strangers fail to log in to an account, more often than its
// activities have room for. Its other activities stay, and with them the sources that it knows.
func TestFailuresForgetNothingElse(t *testing.T) {
	r := newRig(t)
	r.join(ada)
	who, _ := r.session(ada)
	const before = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
		INSERT INTO activity (account, time, kind, address, agent, detail, failed, ordinal)
		SELECT $1, $2, 'LOGIN_FAILED', '', '', '', TRUE, n FROM n`
	r.beside(before, int64(who.Account), r.now.UnixMicro())

	if _, err := r.logIn(account.LogIn{Email: ada, Password: "wrong password"}); !errors.Is(err, account.ErrLogIn) {
		t.Fatal(err)
	}
	r.session(ada)
	list, err := r.Activity(t.Context(), who.Account, 0, 20_000)
	got := map[string]int{}
	for i := range list {
		got[list[i].Kind]++
	}
	if want := map[string]int{"SIGNUP": 1, "LOGIN": 2, "LOGIN_FAILED": 1000}; err != nil || !maps.Equal(got, want) {
		t.Errorf("activities are %v, want %v: %v", got, want, err)
	}
}
