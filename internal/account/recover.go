package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// ResetFactor switches an account's codes back to e-mail, for a holder who lost the
// authenticator application. Sessions end, and withdrawals are held. ErrNone if the
// account has no person.
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

// EndAccess ends all access to an account, for a holder whose second factor or address
// was stolen: sessions, keys, the authenticator application and the password, which only
// a reset sets again. Withdrawals are held. Freeze the account first. ErrNone if the
// account has no person.
//
// A non-empty email is the holder's address and becomes the account's. Undos of old
// addresses then end as well, and the row is not trusted: it may be a forged one.
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

// endPerson removes the credentials of a row. It returns the old and the new address.
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
