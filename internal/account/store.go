package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrTaken says that an e-mail address has an account, or a name stands for a
// saved address, or may come to.
var ErrTaken = errors.New("it is taken")

// ErrNone says that an account has no person.
var ErrNone = bourse.Errorf(bourse.CodeNotFound, "Account not found")

// AccountRow is an account as a store keeps it; ID is zero while it is pending.
type AccountRow struct {
	Account
	Person
	Token bourse.Token
	Salt  Salt
	// Undos are the ways back to old addresses, oldest first.
	Undos []Undo
}

// Person is how the holder of an account gets in.
type Person struct {
	// Password is a hash; it is empty for an account that nobody logs in to.
	Password string
	// TOTP is the sealed secret of an authenticator application, nil if there is
	// none; TOTPUsed says that codes come from there, and TOTPStep is the last time
	// step whose code was taken.
	TOTP     []byte
	TOTPUsed bool
	TOTPStep int64
	// Cases are what a second factor is asked for.
	Cases Cases
}

// KeyRow is a key as a store keeps it; ID is zero while it is pending.
type KeyRow struct {
	Key
	Token bourse.Token
	Hash  Hash
	// Once is the name under which the key was asked for, so that there is one
	// however often it is asked for, and Request what was asked for.
	Once    bourse.ClientID
	Request Digest
	Salt    Salt
}

// KeyChange is what a key is to become. It is written before its command.
type KeyChange struct {
	Key
	Salt Salt
}

// MostEnded is how many keys that ended a store keeps of an account.
const MostEnded = 50

// SessionRow is a session as a store keeps it.
type SessionRow struct {
	Session
	Hash Hash
	Salt Salt
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
	// Changed are what keys became, and People what the rows of people became.
	Changed map[bourse.KeyID]KeyChange
	People  map[bourse.AccountID]AccountRow
	// Revoked says when keys ended.
	Revoked map[bourse.KeyID]bourse.Time
	// Ended are the sessions that ended.
	Ended []SessionID
	// Forgotten are the entries of address books that ended.
	Forgotten []bourse.AddressID
	// Dropped are the tokens of pending rows, and the salts of changes of people, that
	// will never be confirmed.
	Dropped []bourse.Token
}

// empty reports whether there is nothing to confirm.
func (s *Decisions) empty() bool {
	return len(s.Accounts)+len(s.Keys)+len(s.Changed)+len(s.People)+len(s.Revoked)+len(s.Ended)+
		len(s.Addresses)+len(s.Forgotten)+len(s.Dropped) == 0
}

// Store keeps what the journal must not know. Everything that a method wrote is
// durable when it returns. Any goroutine may call it.
type Store interface {
	// AddAccount writes a pending account. ErrTaken if its address has a row,
	// pending or not.
	AddAccount(ctx context.Context, row *AccountRow) error
	// AddPersonChange writes what the row of a confirmed account is to become, apart
	// from TOTPStep; it does once the change is confirmed. It reserves the address.
	// ErrTaken if another account has it, pending or not.
	AddPersonChange(ctx context.Context, row *AccountRow) error
	// UseStep writes the last time step whose code was taken. It reports false if that
	// or a later one was taken before.
	UseStep(ctx context.Context, id bourse.AccountID, step int64) (bool, error)
	// AddKey writes a pending key. ErrTaken if the account has asked for one under
	// the same name.
	AddKey(ctx context.Context, row *KeyRow) error
	// AddKeyChange writes what a confirmed key is to become; it does once the change
	// is confirmed. DropKeyChange removes it.
	AddKeyChange(ctx context.Context, c *KeyChange) error
	DropKeyChange(ctx context.Context, c *KeyChange) error
	// NameKey writes the name of a confirmed key.
	NameKey(ctx context.Context, id bourse.KeyID, name string) error
	// KeyOnce returns the key that was asked for under a name, which may be
	// pending; false if there is none.
	KeyOnce(ctx context.Context, id bourse.AccountID, once bourse.ClientID) (KeyRow, bool, error)
	// AddName writes a pending name. ErrTaken if the account has it for another
	// address of the network, pending or not.
	AddName(ctx context.Context, row *NameRow) error
	// SetName writes the name of an entry, whether it has one or not. ErrTaken as
	// for AddName.
	SetName(ctx context.Context, row *NameRow) error
	// Confirm takes over what the journal decided: all of it or nothing. What is
	// confirmed already, or not there, is left alone. Of each account's keys that
	// ended the last MostEnded stay.
	Confirm(ctx context.Context, s *Decisions) error

	// AddSession writes a session, in place of a row of the same id.
	AddSession(ctx context.Context, row *SessionRow) error
	// Used writes when sessions and keys were last used.
	Used(ctx context.Context, sessions map[SessionID]bourse.Time, keys map[bourse.KeyID]bourse.Time) error
	// AddMessage writes the message of a transfer, and DropMessage removes it.
	// Message returns it; empty if there is none.
	AddMessage(ctx context.Context, token bourse.Token, sender bourse.AccountID, text string) error
	DropMessage(ctx context.Context, token bourse.Token) error
	Message(ctx context.Context, token bourse.Token) (string, error)

	// AddActivity writes an entry; its ID is the store's to give. It drops the
	// account's entries beyond the newest most, and entries of any account from
	// before since, if not all of them at once.
	AddActivity(ctx context.Context, a *Activity, most int, since bourse.Time) error
	// ActivityOf returns an account's entries, newest first: those with ids below
	// before, or all if it is zero, but no more than limit.
	ActivityOf(ctx context.Context, id bourse.AccountID, before uint64, limit int) ([]Activity, error)

	// LogIns returns the addresses of an account's newest activities that are LOGINs,
	// without repetitions, no more than limit.
	LogIns(ctx context.Context, id bourse.AccountID, limit int) ([]string, error)
	// UndosOf returns the accounts that have a way back to an old address.
	UndosOf(ctx context.Context, email string) ([]bourse.AccountID, error)

	// Account returns a confirmed account; false if there is none.
	Account(ctx context.Context, id bourse.AccountID) (AccountRow, bool, error)
	// AccountOf returns the confirmed account of a normalised e-mail address;
	// false if there is none.
	AccountOf(ctx context.Context, email string) (AccountRow, bool, error)
	// KeysOf returns an account's confirmed keys, by ascending id.
	KeysOf(ctx context.Context, id bourse.AccountID) ([]KeyRow, error)

	// NamesOf returns an account's confirmed names, by ascending id.
	NamesOf(ctx context.Context, id bourse.AccountID) ([]NameRow, error)

	// KeyChanges and PersonChanges hand every change that is not confirmed to yield.
	KeyChanges(ctx context.Context, yield func(*KeyChange) error) error
	PersonChanges(ctx context.Context, yield func(*AccountRow) error) error
	// Accounts, Keys, Names and Sessions hand every row, pending ones included, to
	// yield, which must not call the store. They end with its first error. What a key
	// or person may do reads as nothing that was ever granted if it is malformed.
	Accounts(ctx context.Context, yield func(*AccountRow) error) error
	Keys(ctx context.Context, yield func(*KeyRow) error) error
	Names(ctx context.Context, yield func(*NameRow) error) error
	Sessions(ctx context.Context, yield func(*SessionRow) error) error
}
