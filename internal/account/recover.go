package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// ResetFactor lets the codes of an account come by e-mail again, for a holder who has
// lost an authenticator application. Sessions end, and withdrawals wait. ErrNone if
// the account has no person.
func (s *Service) ResetFactor(ctx context.Context, id bourse.AccountID) error {
	email, err := s.restore(ctx, id, func(row *AccountRow) { row.TOTP, row.TOTPUsed, row.TOTPStep = nil, false, 0 })
	if err != nil {
		return err
	}
	s.tell(ctx, id, email, "An operator took the authenticator application away: codes come by e-mail now.")
	return nil
}

// EndAccess ends every way into an account, for a holder whose second factor or
// address was stolen: sessions, keys, the authenticator application and the password,
// which only a reset sets again. Withdrawals wait. The account should be frozen first.
// ErrNone if the account has no person.
func (s *Service) EndAccess(ctx context.Context, id bourse.AccountID) error {
	if err := s.endKeys(ctx, id); err != nil {
		return err
	}
	email, err := s.restore(ctx, id, func(row *AccountRow) {
		row.Password, row.TOTP, row.TOTPUsed, row.TOTPStep = "", nil, false, 0
	})
	if err != nil {
		return err
	}
	s.tell(ctx, id, email, "An operator ended all sessions and keys, the second factor and the password.")
	return s.endKeys(ctx, id)
}

// restore changes how a person gets in, for an operator.
func (s *Service) restore(ctx context.Context, id bourse.AccountID, change func(*AccountRow)) (email string, err error) {
	err = s.secure(ctx, id, 0, func(row *AccountRow) error {
		email = row.Email
		change(row)
		return nil
	})
	if err == nil {
		s.log(ctx, id, changedFactor, Visit{}, "By an operator.")
	}
	return email, err
}
