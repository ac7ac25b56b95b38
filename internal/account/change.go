package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// ChangePassword sets a new password. Other sessions end, and withdrawals wait.
// The errors are ErrPassword, and *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) ChangePassword(ctx context.Context, who Identity, old, password string, v Visit) error {
	if err := newPassword("password", password); err != nil {
		return err
	}
	row, err := s.ownPassword(ctx, who.Account, old, v)
	if err != nil {
		return err
	}
	return s.setPassword(ctx, &row, password, who.Session, changedPassword, v)
}

// ownPassword returns an account whose person knows its password.
func (s *Service) ownPassword(ctx context.Context, id bourse.AccountID, password string, v Visit) (AccountRow, error) {
	row, err := s.person(ctx, id)
	if err != nil {
		return row, err
	}
	ok, err := s.checkPassword(ctx, row.Email, row.Password, password, v)
	if err == nil && !ok {
		err = ErrPassword
	}
	return row, err
}

func (s *Service) setPassword(ctx context.Context, was *AccountRow, password string, but SessionID, kind string, v Visit) error {
	hash, err := s.hasher.hash(ctx, s.Random, password)
	if err != nil {
		return err
	}
	err = s.secure(ctx, was.ID, but, func(row *AccountRow) error {
		if row.Password != was.Password { // another request was first
			return ErrPassword
		}
		row.Password = hash
		return nil
	})
	if err != nil {
		return err
	}
	s.log(ctx, was.ID, kind, v, "")
	s.tell(ctx, was.Email, "The password of your account was changed.")
	return nil
}

// secure changes how a person gets in: all sessions but one end, and withdrawals
// wait, so that who comes in by a stolen way out gains nothing in a hurry.
func (s *Service) secure(ctx context.Context, id bourse.AccountID, but SessionID, change func(*AccountRow) error) error {
	err := s.Store.ChangePerson(ctx, id, func(row *AccountRow) error {
		row.HeldUntil = max(row.HeldUntil, s.now()+bourse.Time(s.Hold.Microseconds()))
		return change(row)
	})
	if err != nil {
		return err
	}
	return s.EndSessions(ctx, id, but)
}

// HeldUntil returns until when an account's withdrawals wait because of a change of
// how its person gets in; a moment of the past if they do not.
func (s *Service) HeldUntil(ctx context.Context, id bourse.AccountID) (bourse.Time, error) {
	row, _, err := s.Store.Account(ctx, id)
	return row.HeldUntil, err
}

// ForgotPassword mails a code that resets the password of an account, if the
// address has one; it does not tell.
func (s *Service) ForgotPassword(ctx context.Context, email string) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	row, has, err := s.Store.AccountOf(ctx, email)
	if err != nil || !has {
		return err
	}
	return s.mailCode(ctx, codeName{forReset, email}, email, letterReset, row.ID)
}

// ResetPassword sets a new password with the code that ForgotPassword mailed. All
// sessions end, and withdrawals wait. The errors are ErrVerification, and
// *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) ResetPassword(ctx context.Context, email, text, password string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if err := newPassword("password", password); err != nil {
		return err
	}
	about, err := s.checkMailed(codeName{forReset, email}, text, email)
	if err != nil {
		return err
	}
	id, _ := about.(bourse.AccountID)
	row, err := s.person(ctx, id)
	if err != nil {
		return err
	}
	return s.setPassword(ctx, &row, password, 0, resetPassword, v)
}
