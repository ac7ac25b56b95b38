package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// recoveryFor is the least hold of withdrawals after an operator took second factors away:
// time for a holder who did not ask for it to notice.
const recoveryFor = 72 * bourse.Hour

// ResetFactor switches an account's codes back to e-mail, for a holder who lost the
// authenticator application or the passkeys. Sessions and keys with the scope withdraw end,
// and withdrawals are held. The holder is told at the address and at those of the last days.
// ErrNone if the account has no person.
func (s *Service) ResetFactor(ctx context.Context, id bourse.AccountID) error {
	row, err := s.resetPerson(ctx, id)
	if err != nil {
		return err
	}
	s.dropCodes(id, row.Email)
	s.log(ctx, id, changedFactor, Visit{}, byOperator)
	s.tellAll(ctx, &row, "An operator took the authenticator application and the passkeys away: codes come by e-mail "+
		"now, keys that could withdraw have ended, and withdrawals wait.")
	return nil
}

// resetPerson ends the keys with the scope withdraw, then removes the second factors of a row.
// No key can be made in between. It returns the new row.
func (s *Service) resetPerson(ctx context.Context, id bourse.AccountID) (AccountRow, error) {
	defer s.naming.Lock(id)()
	row, err := s.person(ctx, id)
	if err != nil {
		return row, err
	}
	for _, key := range s.withdrawKeys(id) {
		if err := s.RevokeKey(context.WithoutCancel(ctx), key); err != nil && !isUnknownKey(err) {
			return row, err
		}
	}
	row.TOTP, row.TOTPUsed, row.Passkeys = nil, false, nil
	return row, s.decidePerson(ctx, recovery(s.secureCommand(id, 0)), &row)
}

// recovery lengthens the hold of a command, unless holds are off, as in a sandbox.
func recovery(cmd *bourse.Command) *bourse.Command {
	if cmd.Hold > 0 {
		cmd.Hold = max(cmd.Hold, recoveryFor)
	}
	return cmd
}

// withdrawKeys returns an account's live keys that may withdraw, and those whose row was
// refused.
func (s *Service) withdrawKeys(id bourse.AccountID) (list []bourse.KeyID) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.facts.account(id)
	if f == nil {
		return nil
	}
	for _, key := range f.keys {
		if c := s.byKey[key]; c == nil || c.Scopes.Has(ScopeWithdraw) {
			list = append(list, key)
		}
	}
	return list
}

// tellAll mails a notice to an account's address and to old ones that can still take their
// change back.
func (s *Service) tellAll(ctx context.Context, row *AccountRow, what string) {
	s.tell(ctx, row.ID, row.Email, what)
	for i := range row.Undos {
		if u := &row.Undos[i]; s.now() < u.Expires && u.Email != row.Email {
			s.tell(ctx, row.ID, u.Email, what)
		}
	}
}

const byOperator = "By an operator."

// EndAccess ends all access to an account, for a holder whose second factor or address
// was stolen: sessions, keys, the authenticator application, the passkeys and the password,
// which only a reset sets again. Withdrawals are held. The old and the new address are told.
// Freeze the account first. ErrNone if the account has no person.
//
// A non-empty email is the holder's address and becomes the account's. Undos of old
// addresses then end as well, and the row is not trusted: it may be a forged one.
func (s *Service) EndAccess(ctx context.Context, id bourse.AccountID, email string) error {
	was, row, err := s.endPerson(ctx, id, email)
	if err != nil {
		return err
	}

	s.dropCodes(id, was.Email, row.Email)
	s.log(ctx, id, changedFactor, Visit{}, byOperator)
	const what = "An operator ended all sessions and keys, the second factors and the password."
	s.tellAll(ctx, &row, what)
	if was.Email != row.Email {
		s.tellAll(ctx, &was, what)
	}
	return nil
}

// endPerson removes the credentials of a row. It returns the old and the new row.
func (s *Service) endPerson(ctx context.Context, id bourse.AccountID, email string) (was, row AccountRow, err error) {
	defer s.naming.Lock(id)()
	if was, err = s.endable(ctx, id, email); err != nil {
		return was, row, err
	}
	row = was
	if email != "" {
		if row.Email, err = NormalizeEmail(email); err != nil {
			return was, row, err
		}
		row.Cases, row.Undos = s.Cases, nil
	}
	row.Password, row.TOTP, row.TOTPUsed, row.Passkeys = "", nil, false, nil
	return was, row, s.decidePerson(ctx, recovery(s.evictCommand(id)), &row)
}

// endable returns an account's row. If an address will replace the row's own, the digest is
// not checked.
func (s *Service) endable(ctx context.Context, id bourse.AccountID, email string) (AccountRow, error) {
	if email == "" {
		return s.person(ctx, id)
	}
	row, ok, err := s.Store.Account(ctx, id)
	if err == nil && !ok {
		err = ErrNone
	}
	return row, err
}
