package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// ErrMismatch says that the store and the journal do not belong together: the store has
// confirmed an id that the journal did not allot.
var ErrMismatch = errors.New("accounts and journal do not belong together")

// Open reconciles the store with the journal. Call it after the journal has been replayed
// and before any request is served. Pending rows that the journal knows are confirmed;
// others are dropped, because no command of an earlier process can still arrive.
// ErrMismatch if the journal lacks a confirmed row, unless it may be Behind. An id without a row is no error, and
// grants nothing.
func (s *Service) Open(ctx context.Context) error {
	r := reconciliation{
		Service: s, work: newDecisions(),
		accounts: map[bourse.Token]struct{}{}, keys: map[bourse.Token]*KeyRow{},
		changes: map[bourse.KeyID][]KeyChange{}, people: map[bourse.AccountID][]AccountRow{},
		resets: s.Awaited(), awaited: map[bourse.Token]struct{}{},
		names: map[bourse.Token]struct{}{}, addresses: map[bourse.AddressID]*bourse.SavedAddress{},
	}

	r.readBooks()
	if err := s.Store.PersonChanges(ctx, r.personChange); err != nil {
		return err
	}
	if err := s.Store.Accounts(ctx, r.account); err != nil {
		return err
	}
	if err := s.Store.KeyChanges(ctx, r.change); err != nil {
		return err
	}
	if err := s.Store.Keys(ctx, r.key); err != nil {
		return err
	}
	if err := s.Store.Names(ctx, r.name); err != nil {
		return err
	}
	if err := s.Store.Sessions(ctx, r.session); err != nil {
		return err
	}
	if err := s.readTellings(ctx); err != nil {
		return err
	}
	if err := s.readAccepted(ctx); err != nil {
		return err
	}

	s.Reached()
	r.finish()
	if err := r.dropChanges(ctx); err != nil {
		return err
	}
	return s.Confirm(ctx)
}

// reconciliation is the state of Open.
type reconciliation struct {
	*Service
	work Decisions
	// accounts, keys and names are the pending rows.
	accounts map[bourse.Token]struct{}
	keys     map[bourse.Token]*KeyRow
	names    map[bourse.Token]struct{}
	// changes are the unconfirmed changes of keys.
	changes map[bourse.KeyID][]KeyChange
	// people are the unconfirmed changes of people.
	people map[bourse.AccountID][]AccountRow
	// resets are the parts of the resets that acts of operators wait for, by the digests of their rows.
	resets map[bourse.RowDigest]bourse.ResetParts
	// awaited are the salts of the rows of resets.
	awaited map[bourse.Token]struct{}
	// addresses are the entries of all address books.
	addresses map[bourse.AddressID]*bourse.SavedAddress
}

func (r *reconciliation) readBooks() {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, book := range r.facts.books {
		for _, a := range book {
			r.addresses[a.ID] = a
		}
	}
}

// name reconciles the name of an entry. A name without an entry in the journal belongs to
// a forgotten entry.
func (r *reconciliation) name(row *NameRow) error {
	a := r.addresses[row.ID]
	switch {
	case row.ID == 0:
		r.names[row.Token] = struct{}{}
	case a == nil:
		r.work.Forgotten = append(r.work.Forgotten, row.ID)
	case a.Token != row.Token || a.Account != row.Account:
		return fmt.Errorf("%w: saved address %d is not in the journal", ErrMismatch, row.ID)
	}
	return nil
}

func (r *reconciliation) account(row *AccountRow) error {
	if row.ID == 0 {
		r.accounts[row.Token] = struct{}{}
		return nil
	}

	r.awaits(row)
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.facts.account(row.ID)
	if f == nil && r.Behind {
		r.work.Lost = append(r.work.Lost, row.Token)
		return nil
	}
	if f == nil || f.token != row.Token {
		return fmt.Errorf("%w: account %d is not in the journal", ErrMismatch, row.ID)
	}

	if r.facts.has(row) {
		return nil
	}

	for _, change := range r.people[row.ID] {
		change.Token = row.Token
		if r.facts.has(&change) {
			r.work.People[row.ID] = change
			return nil
		}
	}
	r.alarm(row)
	return nil
}

// personChange keeps a change of a person for account. What account does not confirm, and no act
// waits for, is dropped.
func (r *reconciliation) personChange(row *AccountRow) error {
	r.people[row.ID] = append(r.people[row.ID], *row)
	return nil
}

// awaits keeps the changes of an account that acts wait for.
func (r *reconciliation) awaits(row *AccountRow) {
	for _, change := range r.people[row.ID] {
		change.Token, change.Created = row.Token, row.Created
		digest := change.digest()
		parts := r.resets[digest]
		if parts == 0 {
			continue
		}
		o := &ordered{row: change, parts: parts, was: row.Email, kept: true}
		r.mu.Lock()
		r.ordered[digest], r.persons[digest] = o, &o.row
		r.mu.Unlock()
		r.awaited[bourse.Token(change.Salt)] = struct{}{}
	}
}

func (r *reconciliation) key(row *KeyRow) error {
	kept := *row
	if row.ID == 0 {
		r.keys[row.Token] = &kept
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.facts.keys[row.ID]
	switch {
	case f == nil && row.ID <= r.facts.lastKey: // it ended; the journal keeps no more of it
		if _, told := r.open.Revoked[row.ID]; row.Revoked == 0 && !told {
			r.work.Revoked[row.ID] = r.now()
		}
	case f == nil && r.Behind:
		r.work.Lost = append(r.work.Lost, row.Token)
	case f == nil:
		return fmt.Errorf("%w: key %d is not in the journal", ErrMismatch, row.ID)
	default:
		r.admitAsJournaled(&kept, f)
	}
	return nil
}

func (r *reconciliation) change(c *KeyChange) error {
	r.changes[c.ID] = append(r.changes[c.ID], *c)
	return nil
}

// dropChanges removes the changes of keys that the journal did not take. A changed key
// keeps its change until that is confirmed.
func (r *reconciliation) dropChanges(ctx context.Context) error {
	for id, list := range r.changes {
		if _, decided := r.work.Changed[id]; decided {
			continue
		}
		for i := range list {
			if err := r.Store.DropKeyChange(ctx, &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish confirms or drops the pending rows.
func (r *reconciliation) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()

	for id := range r.facts.accounts {
		token := r.facts.accounts[id].token
		if _, ok := r.accounts[token]; ok && id > 0 {
			r.work.Accounts[token] = bourse.AccountID(id)
			delete(r.accounts, token)
		}
	}

	for id := range r.facts.keys {
		f := r.facts.keys[id]
		if row := r.keys[f.token]; row != nil {
			r.work.Keys[f.token] = id
			row.ID = id
			r.admitAsJournaled(row, f)
			delete(r.keys, f.token)
		}
	}

	for id, a := range r.addresses {
		if _, ok := r.names[a.Token]; ok {
			r.work.Addresses[a.Token] = id
			delete(r.names, a.Token)
		}
	}

	r.drop()
	r.open.merge(&r.work)
}

// drop drops the pending rows that the journal does not know. A change of a person that account
// confirmed is removed before the drop applies; one that is awaited reserves its address.
func (r *reconciliation) drop() {
	for _, list := range r.people {
		for i := range list {
			r.accounts[bourse.Token(list[i].Salt)] = struct{}{}
		}
	}
	for token := range r.accounts {
		if _, awaited := r.awaited[token]; !awaited {
			r.work.Dropped = append(r.work.Dropped, token)
		}
	}
	for token := range r.keys {
		r.work.Dropped = append(r.work.Dropped, token)
	}
	for token := range r.names {
		r.work.Dropped = append(r.work.Dropped, token)
	}
}
