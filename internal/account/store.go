package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrTaken says that an e-mail address has an account, or that a name stands for a saved
// address; either may be pending.
var ErrTaken = errors.New("it is taken")

// ErrNone says that an account has no person.
var ErrNone = bourse.Errorf(bourse.CodeNotFound, "Account not found")

// AccountRow is an account in a store; ID is zero while it is pending.
type AccountRow struct {
	Account
	Person
	Token bourse.Token
	Salt  Salt
	// Undos restore old addresses, oldest first.
	Undos []Undo
}

// Person holds the credentials of an account's holder.
type Person struct {
	// Password is a hash; empty for an account without log-ins.
	Password string
	// TOTP is the sealed secret of an authenticator application, nil for none. TOTPUsed
	// is set if codes come from it. TOTPStep is the last time step whose code was taken.
	TOTP     []byte
	TOTPUsed bool
	TOTPStep int64
	// Passkeys are those of the holder, by ascending number.
	Passkeys []Passkey
	// Cases are the requests that need a second factor.
	Cases Cases
}

// KeyRow is a key in a store; ID is zero while it is pending.
type KeyRow struct {
	Key
	Token bourse.Token
	// Hash is that of the secret, or of the id of a key that signs.
	Hash Hash
	// Material proves signatures: the sealed secret of a key of KindHMAC, the public key of
	// one of KindEd25519. It is empty for other keys.
	Material []byte
	// Once is the client's idempotency key of the request, and Request its digest:
	// repeated requests make one key.
	Once    bourse.ClientID
	Request Digest
	Salt    Salt
}

// KeyChange is the new state of a key. It is written before its command.
type KeyChange struct {
	Key
	Salt Salt
}

// MostEnded bounds the revoked keys that a store keeps of an account.
const MostEnded = 50

// SessionRow is a session in a store.
type SessionRow struct {
	Session
	Hash Hash
	Salt Salt
}

// NameRow is the name of a saved address in a store; ID is zero while it is pending. A
// name is unique for an account and a network.
type NameRow struct {
	ID      bourse.AddressID
	Token   bourse.Token
	Account bourse.AccountID
	Network bourse.NetworkID
	Name    string
}

// Decisions are the journal's decisions about rows.
type Decisions struct {
	// Accounts, Keys and Addresses are the ids that pending rows got.
	Accounts  map[bourse.Token]bourse.AccountID
	Keys      map[bourse.Token]bourse.KeyID
	Addresses map[bourse.Token]bourse.AddressID
	// Changed and People are the new states of keys and of people's rows.
	Changed map[bourse.KeyID]KeyChange
	People  map[bourse.AccountID]AccountRow
	// Revoked are the times at which keys ended.
	Revoked map[bourse.KeyID]bourse.Time
	// Ended are the sessions that ended.
	Ended []SessionID
	// Forgotten are the removed entries of address books.
	Forgotten []bourse.AddressID
	// Lost are the tokens of confirmed accounts and keys whose commands were lost with the end of
	// the journal.
	Lost []bourse.Token
	// Dropped are the tokens of pending rows, and the salts of changes of people, that
	// will never be confirmed.
	Dropped []bourse.Token
}

// empty reports whether there is nothing to confirm.
func (s *Decisions) empty() bool {
	return len(s.Accounts)+len(s.Keys)+len(s.Changed)+len(s.People)+len(s.Revoked)+len(s.Ended)+
		len(s.Addresses)+len(s.Forgotten)+len(s.Lost)+len(s.Dropped) == 0
}

// Store keeps the data that must stay out of the journal. A write is durable when its
// method returns. Safe for concurrent use.
type Store interface {
	// AddAccount writes a pending account. ErrTaken if its address has a row,
	// pending or not.
	AddAccount(ctx context.Context, row *AccountRow) error
	// AddPersonChange writes the new row of a confirmed account, apart from TOTPStep, and
	// reserves its address. Confirm makes it the account's row. ErrTaken if another
	// account has the address, pending or not.
	AddPersonChange(ctx context.Context, row *AccountRow) error
	// UseStep writes the time step of a used code. It reports false if that step or a
	// later one was used before.
	UseStep(ctx context.Context, id bourse.AccountID, step int64) (bool, error)
	// UsePasskey writes the use of a passkey. It reports false if its count of signatures
	// is not above that of an earlier use; a count of zero may follow zero.
	UsePasskey(ctx context.Context, id bourse.AccountID, credential []byte, counter uint32, at bourse.Time) (bool, error)
	// PasskeyUses returns the times at which an account's passkeys were last used, by
	// credential. Passkeys that Confirm removes are forgotten.
	PasskeyUses(ctx context.Context, id bourse.AccountID) (map[string]bourse.Time, error)
	// AddKey writes a pending key. ErrTaken if the account has a key with the same Once.
	AddKey(ctx context.Context, row *KeyRow) error
	// AddKeyChange writes the new state of a confirmed key. Confirm makes it the key's
	// row; DropKeyChange removes it.
	AddKeyChange(ctx context.Context, c *KeyChange) error
	DropKeyChange(ctx context.Context, c *KeyChange) error
	// NameKey writes the name of a confirmed key.
	NameKey(ctx context.Context, id bourse.KeyID, name string) error
	// KeyOnce returns an account's key with the given Once, which may be pending; false
	// if there is none.
	KeyOnce(ctx context.Context, id bourse.AccountID, once bourse.ClientID) (KeyRow, bool, error)
	// AddName writes a pending name. ErrTaken if the account has it for another
	// address of the network, pending or not.
	AddName(ctx context.Context, row *NameRow) error
	// SetName writes or replaces the name of an entry. ErrTaken as for AddName.
	SetName(ctx context.Context, row *NameRow) error
	// Confirm applies the journal's decisions, all or none. Rows that are confirmed
	// already, or missing, are left alone. It keeps the last MostEnded revoked keys of
	// each account.
	Confirm(ctx context.Context, s *Decisions) error

	// AddSession writes a session, and replaces a row of the same id.
	AddSession(ctx context.Context, row *SessionRow) error
	// Used writes the last use of sessions and keys.
	Used(ctx context.Context, sessions map[SessionID]bourse.Time, keys map[bourse.KeyID]bourse.Time) error
	// AddMessage writes the message of a transfer, and DropMessage removes it. Message
	// returns it; empty if there is none.
	AddMessage(ctx context.Context, token bourse.Token, sender bourse.AccountID, text string) error
	DropMessage(ctx context.Context, token bourse.Token) error
	Message(ctx context.Context, token bourse.Token) (string, error)

	// AddActivity writes an entry and allots its ID. It drops the account's entries beyond the newest
	// most, of the failed attempts if the entry is one, of all others if not, and some or all entries
	// of any account before since.
	AddActivity(ctx context.Context, a *Activity, most int, since bourse.Time) error
	// ActivityOf returns an account's entries, newest first: at most limit entries with
	// ids below before, or the newest if before is zero.
	ActivityOf(ctx context.Context, id bourse.AccountID, before uint64, limit int) ([]Activity, error)
	// LastActivities returns, for each of the accounts, its newest entry of one of the kinds. An account
	// without one is absent.
	LastActivities(ctx context.Context, ids []bourse.AccountID, kinds ...string) ([]Activity, error)

	// LogIns returns the distinct addresses of the newest limit LOGIN activities of an account.
	LogIns(ctx context.Context, id bourse.AccountID, limit int) ([]string, error)
	// AcceptTerms stores that an account accepted a version of the terms, the first time alone.
	AcceptTerms(ctx context.Context, a *Acceptance) error
	// AcceptedTerms passes every account that accepted a version to yield.
	AcceptedTerms(ctx context.Context, version string, yield func(*Acceptance) error) error
	// SetTelling stores which news an account wants.
	SetTelling(ctx context.Context, id bourse.AccountID, wishes Telling) error
	// Tellings passes the wishes of every account that has said any to yield.
	Tellings(ctx context.Context, yield func(bourse.AccountID, Telling) error) error
	// UndosOf returns the accounts with an undo for an old address.
	UndosOf(ctx context.Context, email string) ([]bourse.AccountID, error)

	// Account returns a confirmed account; false if there is none.
	Account(ctx context.Context, id bourse.AccountID) (AccountRow, bool, error)
	// AccountsByID returns the confirmed accounts among ids.
	AccountsByID(ctx context.Context, ids []bourse.AccountID) ([]AccountRow, error)
	// AccountOf returns the confirmed account of a normalised e-mail address;
	// false if there is none.
	AccountOf(ctx context.Context, email string) (AccountRow, bool, error)
	// AccountsLike returns the confirmed accounts whose address begins with a text and whose id is
	// above after, by ascending id, at most limit.
	AccountsLike(ctx context.Context, begins string, after bourse.AccountID, limit int) ([]AccountRow, error)
	// KeysOf returns an account's confirmed keys, by ascending id.
	KeysOf(ctx context.Context, id bourse.AccountID) ([]KeyRow, error)

	// NamesOf returns an account's confirmed names, by ascending id.
	NamesOf(ctx context.Context, id bourse.AccountID) ([]NameRow, error)

	// KeyChanges and PersonChanges pass every unconfirmed change to yield.
	KeyChanges(ctx context.Context, yield func(*KeyChange) error) error
	PersonChanges(ctx context.Context, yield func(*AccountRow) error) error
	// Accounts, Keys, Names and Sessions pass every row, pending ones included, to yield,
	// which must not call the store. They end with its first error. Malformed permissions
	// read as a value that was never granted.
	Accounts(ctx context.Context, yield func(*AccountRow) error) error
	Keys(ctx context.Context, yield func(*KeyRow) error) error
	Names(ctx context.Context, yield func(*NameRow) error) error
	Sessions(ctx context.Context, yield func(*SessionRow) error) error
}
