package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrTaken says that an e-mail address has an account, or may get one.
var ErrTaken = errors.New("e-mail address is taken")

// AccountRow is an account as a store keeps it; ID is zero while it is pending.
type AccountRow struct {
	Account
	Token bourse.Token
}

// KeyRow is a key as a store keeps it; ID is zero while it is pending.
type KeyRow struct {
	Key
	Token bourse.Token
	Hash  Hash
}

// Decisions are what the journal decided about rows.
type Decisions struct {
	// Accounts and Keys are the ids that pending rows got.
	Accounts map[bourse.Token]bourse.AccountID
	Keys     map[bourse.Token]bourse.KeyID
	// Revoked says when keys ended.
	Revoked map[bourse.KeyID]bourse.Time
	// Dropped are the tokens of pending rows that will never be confirmed.
	Dropped []bourse.Token
}

// empty reports whether there is nothing to confirm.
func (s *Decisions) empty() bool {
	return len(s.Accounts)+len(s.Keys)+len(s.Revoked)+len(s.Dropped) == 0
}

// Store keeps what the journal must not know. Everything that a method wrote is
// durable when it returns. Any goroutine may call it.
type Store interface {
	// AddAccount writes a pending account. ErrTaken if its address has a row,
	// pending or not.
	AddAccount(ctx context.Context, row *AccountRow) error
	// AddKey writes a pending key.
	AddKey(ctx context.Context, row *KeyRow) error
	// Confirm takes over what the journal decided: all of it or nothing. What is
	// confirmed already, or not there, is left alone.
	Confirm(ctx context.Context, s *Decisions) error

	// Account returns a confirmed account; false if there is none.
	Account(ctx context.Context, id bourse.AccountID) (AccountRow, bool, error)
	// AccountOf returns the confirmed account of a normalised e-mail address;
	// false if there is none.
	AccountOf(ctx context.Context, email string) (AccountRow, bool, error)
	// KeysOf returns an account's confirmed keys, by ascending id.
	KeysOf(ctx context.Context, id bourse.AccountID) ([]KeyRow, error)

	// Accounts and Keys hand every row, pending ones included, to yield, which
	// must not call the store. They end with its first error.
	Accounts(ctx context.Context, yield func(*AccountRow) error) error
	Keys(ctx context.Context, yield func(*KeyRow) error) error
}
