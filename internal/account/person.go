package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// ErrForged says that an account's row differs from the journal's: the account stays
// closed until an operator has repaired the row.
var ErrForged = bourse.Errorf(bourse.CodeForbidden,
	"The account is closed: its data was changed from outside. Write to us")

// person returns the row of an account's person if its digest is the journal's. The
// errors are ErrNone if the account has no person, and ErrForged.
func (s *Service) person(ctx context.Context, id bourse.AccountID) (AccountRow, error) {
	row, ok, err := s.Store.Account(ctx, id)
	if err == nil && !ok {
		err = ErrNone
	}
	if err != nil {
		return AccountRow{}, err
	}
	return s.journaled(ctx, row)
}

// personOf returns the row of the account with a normalised e-mail address; false if
// there is none, or if its digest is not the journal's.
func (s *Service) personOf(ctx context.Context, email string) (AccountRow, bool, error) {
	row, ok, err := s.Store.AccountOf(ctx, email)
	if err != nil || !ok {
		return AccountRow{}, false, err
	}
	row, err = s.journaled(ctx, row)
	if errors.Is(err, ErrForged) || errors.Is(err, ErrNone) {
		return AccountRow{}, false, nil
	}
	return row, err == nil && row.Email == email, err
}

// journaled returns the row with the journal's digest, in place of one that was read from
// the store.
func (s *Service) journaled(ctx context.Context, row AccountRow) (AccountRow, error) {
	s.mu.RLock()
	same := s.facts.has(&row)
	s.mu.RUnlock()
	if same {
		return row, nil
	}

	// A change may have been decided or confirmed since. While confirming is held, the
	// store does not change, and its missing changes are in open.
	if err := s.confirming.Lock(ctx); err != nil {
		return AccountRow{}, err
	}
	defer s.confirming.Unlock()
	row, ok, err := s.Store.Account(ctx, row.ID)
	if err == nil && !ok {
		err = ErrNone
	}
	if err != nil {
		return AccountRow{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.facts.has(&row) {
		return row, nil
	}
	if changed, ok := s.open.People[row.ID]; ok && s.facts.has(&changed) {
		changed.Created, changed.TOTPStep = row.Created, row.TOTPStep
		return changed, nil
	}
	s.alarm(&row)
	return AccountRow{}, ErrForged
}

// has reports whether a confirmed row has the token and the digest of the journal.
func (f *facts) has(row *AccountRow) bool {
	fact := f.account(row.ID)
	return fact != nil && fact.token == row.Token && fact.person == row.digest()
}

// alarm reports a forged row, once. The caller holds mu.
func (s *Service) alarm(row *AccountRow) {
	digest := row.digest()
	if s.alarmed[row.ID] == digest {
		return
	}
	s.alarmed[row.ID] = digest
	s.OnForged("account", fmt.Errorf("the row of account %d is not the one in the journal: nobody gets in", row.ID))
}

// changePerson submits a change of the row of cmd's account. The new row is written
// beside the old one, the command carries its digest, and confirming replaces the old
// row: after a crash, the next start finds the row with the journal's digest. The session
// in cmd.Key must still be live: a reset may have ended it while the request waited. The
// errors are those of person and of a command, ErrTaken if another account has the
// address, and those of change, after which nothing is written.
func (s *Service) changePerson(ctx context.Context, cmd *bourse.Command, change func(*AccountRow) error) error {
	defer s.naming.Lock(cmd.Account)()
	if cmd.Key != 0 && !s.lives(cmd.Account, cmd.Key) {
		return ErrUnauthorized
	}
	row, err := s.person(ctx, cmd.Account)
	if err != nil {
		return err
	}
	if err := change(&row); err != nil {
		return err
	}
	return s.decidePerson(ctx, cmd, &row)
}

// lives reports whether a key or session of an account is live.
func (s *Service) lives(id bourse.AccountID, key bourse.KeyID) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.keys[key]
	return f != nil && f.account == id
}

// decidePerson submits the digest of a new row. The caller holds the account's lock in
// naming.
func (s *Service) decidePerson(ctx context.Context, cmd *bourse.Command, row *AccountRow) error {
	if err := s.Ready(cmd.Kind); err != nil {
		return err
	}
	var err error
	if row.Salt, err = s.newSalt(); err != nil {
		return err
	}
	if err := s.Store.AddPersonChange(ctx, row); err != nil {
		return err
	}
	cmd.Access = &bourse.Access{Digest: row.digest()}
	s.mu.Lock()
	s.persons[cmd.Access.Digest] = row
	s.mu.Unlock()

	// Without cancellation: releasing the lock before the decision would let a key be
	// made after a reset.
	_, err = s.do(context.WithoutCancel(ctx), cmd)
	if err != nil && !notTaken(err) {
		return err
	}
	if err != nil {
		s.mu.Lock()
		delete(s.persons, cmd.Access.Digest)
		s.open.Dropped = append(s.open.Dropped, bourse.Token(row.Salt))
		s.mu.Unlock()
	}
	// The journal has decided. If the store fails now, a later Confirm retries.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return err
}
