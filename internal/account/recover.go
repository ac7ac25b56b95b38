package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// ResetFactor lets the codes of an account come by e-mail again, for a holder who has
// lost an authenticator application. Sessions end, and withdrawals wait. ErrNone if
// the account has no person.
func (s *Service) ResetFactor(ctx context.Context, id bourse.AccountID) error {
	var email string
	err := s.secure(ctx, s.secureCommand(id, 0), func(row *AccountRow) error {
		email, row.TOTP, row.TOTPUsed = row.Email, nil, false
		return nil
	})
	if err != nil {
		return err
	}
	s.log(ctx, id, changedFactor, Visit{}, byOperator)
	s.tell(ctx, id, email, "An operator took the authenticator application away: codes come by e-mail now.")
	return nil
}

const byOperator = "By an operator."

// EndAccess ends every way into an account, for a holder whose second factor or
// address was stolen: sessions, keys, the authenticator application and the password,
// which only a reset sets again. Withdrawals wait. The account should be frozen first.
// ErrNone if the account has no person.
//
// With the holder's address, which becomes the account's, ways back to old addresses
// end as well, and nothing is believed of the row: it may be one that was refused.
func (s *Service) EndAccess(ctx context.Context, id bourse.AccountID, email string) error {
	was, now, err := s.endPerson(ctx, id, email)
	if err != nil {
		return err
	}

	s.dropCodes(id, was, now)
	s.log(ctx, id, changedFactor, Visit{}, byOperator)
	s.tell(ctx, id, now, "An operator ended all sessions and keys, the second factor and the password.")
	return nil
}

// endPerson makes a row that nobody gets in by. It returns the address that the row had
// and the one that it has.
func (s *Service) endPerson(ctx context.Context, id bourse.AccountID, email string) (was, now string, err error) {
	defer s.naming.Lock(id)()
	row, err := s.endable(ctx, id, email)
	if err != nil {
		return "", "", err
	}
	was = row.Email
	if email != "" {
		if row.Email, err = NormalizeEmail(email); err != nil {
			return "", "", err
		}
	}
	row.Password, row.TOTP, row.TOTPUsed = "", nil, false
	if email != "" {
		row.Cases, row.Undos = s.Cases, nil
	}
	return was, row.Email, s.decidePerson(ctx, s.evictCommand(id), &row)
}

// endable returns the row of an account, whoever wrote it if there is an address to put
// into it.
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
