package move_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/sqlstore/move"
)

// store makes a store with pending accounts.
func store(t *testing.T, emails ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "accounts.db")
	s, err := accounts.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, email := range emails {
		row := &account.AccountRow{Account: account.Account{Email: email}}
		copy(row.Token[:], email)
		err = errors.Join(err, s.AddAccount(t.Context(), row))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func silent(string, string, int64, int64) {}

// TestVerifiesRows lets the destination keep another value than it was given: the
// move fails, and what was at the destination stays.
func TestVerifiesRows(t *testing.T) {
	from, to := store(t, "a@b", "c@d"), store(t, "a@b")
	before, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	kind := accounts.Kind
	kind.File = func(ctx context.Context, path string) (sqlstore.Database, error) {
		db, err := accounts.Kind.File(ctx, path)
		return forger{db}, err
	}
	_, err = move.Store(t.Context(), kind, from, to, silent)
	if err == nil || !strings.Contains(err.Error(), "is not that of the source") {
		t.Errorf("a copy with another e-mail address: %v", err)
	}
	if after, err := os.ReadFile(to); err != nil || string(after) != string(before) {
		t.Errorf("the destination changed (%v)", err)
	}
	if moved, err := move.Store(t.Context(), accounts.Kind, from, to, silent); err != nil || moved["accounts"] != 2 {
		t.Errorf("the next move: %v, %v", moved, err)
	}
}

// forger is a database that keeps other e-mail addresses than it is given.
type forger struct{ sqlstore.Database }

func (f forger) Inserter(ctx context.Context, t sqlstore.Table) (sqlstore.Inserter, error) {
	i, err := f.Database.Inserter(ctx, t)
	return forging{i}, err
}

type forging struct{ sqlstore.Inserter }

func (f forging) Add(ctx context.Context, values ...any) error {
	for i, v := range values {
		if v == "c@d" {
			values[i] = "e@f"
		}
	}
	return f.Inserter.Add(ctx, values...)
}

// TestRefuses moves where it would lose something, or finds nothing.
func TestRefuses(t *testing.T) {
	from, to := store(t, "a@b"), store(t, "a@b", "c@d")
	if _, err := move.Store(t.Context(), accounts.Kind, from, to, silent); !errors.Is(err, move.ErrAhead) {
		t.Errorf("over more rows: %v", err)
	}
	if _, err := move.Store(t.Context(), accounts.Kind, from+"x", to, silent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("from nowhere: %v", err)
	}
	s, err := accounts.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = s.Account(t.Context(), bourse.AccountID(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := move.Store(t.Context(), accounts.Kind, to, from, silent); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("over a file that is open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
