package accountv2_test

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// counting is a store that counts the calls of its methods for people.
type counting struct {
	account.Store
	calls *[]string
}

func (c counting) note(call string) { *c.calls = append(*c.calls, call) }

func (c counting) AccountOf(ctx context.Context, email string) (account.AccountRow, bool, error) {
	c.note("AccountOf")
	return c.Store.AccountOf(ctx, email)
}

func (c counting) Account(ctx context.Context, id bourse.AccountID) (account.AccountRow, bool, error) {
	c.note("Account")
	return c.Store.Account(ctx, id)
}

func (c counting) LogIns(ctx context.Context, id bourse.AccountID, limit int) ([]string, error) {
	c.note("LogIns")
	return c.Store.LogIns(ctx, id, limit)
}

func (c counting) UndosOf(ctx context.Context, email string) ([]bourse.AccountID, error) {
	c.note("UndosOf")
	return c.Store.UndosOf(ctx, email)
}

func (c counting) AddActivity(ctx context.Context, a *account.Activity, most int, since bourse.Time) error {
	c.note("AddActivity")
	return c.Store.AddActivity(ctx, a, most, since)
}

func (c counting) AddPersonChange(ctx context.Context, row *account.AccountRow) error {
	c.note("AddPersonChange")
	return c.Store.AddPersonChange(ctx, row)
}
