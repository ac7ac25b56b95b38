package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrTaken says that an e-mail address has an account, or a name stands for a
// saved address, or may come to.
var ErrTaken = errors.New("it is taken")

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

// NameRow is the name of an entry of an address book as a store keeps it; ID is
// zero while it is pending. An account uses a name once for each network.
type NameRow struct {
	ID      bourse.AddressID
	Token   bourse.Token
	Account bourse.AccountID
	Network bourse.NetworkID
	Name    string
}

// Decisions are what the journal decided about rows.
type Decisions struct {
	// Accounts, Keys and Addresses are the ids that pending rows got.
	Accounts  map[bourse.Token]bourse.AccountID
	Keys      map[bourse.Token]bourse.KeyID
	Addresses map[bourse.Token]bourse.AddressID
	// Revoked says when keys ended.
	Revoked map[bourse.KeyID]bourse.Time
	// Forgotten are the entries of address books that ended.
	Forgotten []bourse.AddressID
	// Dropped are the tokens of pending rows that will never be confirmed.
	Dropped []bourse.Token
}

// empty reports whether there is nothing to confirm.
func (s *Decisions) empty() bool {
	return len(s.Accounts)+len(s.Keys)+len(s.Revoked)+len(s.Addresses)+len(s.Forgotten)+len(s.Dropped) == 0
}

// Store keeps what the journal must not know. Everything that a method wrote is
// durable when it returns. Any goroutine may call it.
type Store interface {
	// AddAccount writes a pending account. ErrTaken if its address has a row,
	// pending or not.
	AddAccount(ctx context.Context, row *AccountRow) error
	// AddKey writes a pending key.
	AddKey(ctx context.Context, row *KeyRow) error
	// AddName writes a pending name. ErrTaken if the account has it for another
	// address of the network, pending or not.
	AddName(ctx context.Context, row *NameRow) error
	// SetName writes the name of an entry, whether it has one or not. ErrTaken as
	// for AddName.
	SetName(ctx context.Context, row *NameRow) error
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

	// NamesOf returns an account's confirmed names, by ascending id.
	NamesOf(ctx context.Context, id bourse.AccountID) ([]NameRow, error)

	// Accounts, Keys and Names hand every row, pending ones included, to yield, which
	// must not call the store. They end with its first error.
	Accounts(ctx context.Context, yield func(*AccountRow) error) error
	Keys(ctx context.Context, yield func(*KeyRow) error) error
	Names(ctx context.Context, yield func(*NameRow) error) error
}
