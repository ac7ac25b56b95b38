package accounts_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

// TestFrozenWriter has a leader stand still in a write, as one whose machine is lost: the next one enters the accounts nevertheless, and
// the old one's write is not committed once it goes on.
func TestFrozenWriter(t *testing.T) {
	url := postgrestest.Database(t)
	old, next := open(t, url), open(t, url)
	if err := old.Enter(t.Context(), accounts.Tenure{Incarnation: 1, Term: 1}, nil); err != nil {
		t.Fatal(err)
	}
	row := account.AccountRow{Token: bourse.Token{1}, Account: account.Account{Email: "a@example.com"}}
	if err := old.AddAccount(t.Context(), &row); err != nil {
		t.Fatal(err)
	}

	frozen, thaw, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { ended <- old.Freeze(t.Context(), frozen, thaw) }()
	<-frozen
	if err := next.Enter(t.Context(), accounts.Tenure{Incarnation: 1, Term: 2}, nil); err != nil {
		t.Errorf("the next leader does not enter: %v", err)
	}
	close(thaw)
	if err := <-ended; err == nil {
		t.Error("a write of the frozen leader is committed")
	}
	if err := next.AddAccount(t.Context(), &row); err == nil {
		t.Error("the account is gone")
	}
}
