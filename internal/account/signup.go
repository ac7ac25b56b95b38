package account

import (
	"context"
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// verifyFor is how long a code that confirms an address is good.
const verifyFor = 15 * bourse.Minute

// SignUp asks for an account.
type SignUp struct {
	Email, Password string
	// Challenge and Response are those of a captcha, where one is asked for.
	Challenge, Response string
}

// ErrVerification says that a code does not confirm what it should; it may be
// over, or used.
var ErrVerification = bourse.Errorf(bourse.CodeUnauthorized, "The code is wrong, or no longer good")

// SignUp mails a code that confirms the address. It does not tell whether the
// address has an account: its holder is told by mail. The errors are
// *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) SignUp(ctx context.Context, up SignUp) error {
	email, err := NormalizeEmail(up.Email)
	if err != nil {
		return err
	}
	if err := newPassword("password", up.Password); err != nil {
		return err
	}
	if err := s.checkCaptcha(email, up.Challenge, up.Response); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, s.Random, up.Password)
	if err != nil {
		return err
	}
	if _, has, err := s.Store.AccountOf(ctx, email); err != nil {
		return err
	} else if has {
		return s.send(ctx, email, letterExists, "")
	}
	return s.mailCode(ctx, codeName{forSignUp, email}, email, letterSignUp, hash)
}

// mailCode sends a code out that an address confirms with.
func (s *Service) mailCode(ctx context.Context, name codeName, to string, l letter, about any) error {
	text, err := newCode(s.Random)
	if err != nil {
		return err
	}
	if !s.codes.put(name, &code{text: text, expires: s.now() + verifyFor, about: about}, s.now()) {
		return errTooMany
	}
	return s.send(ctx, to, l, text)
}

// checkMailed takes a mailed code back, as often as that is allowed, and returns
// what it is about. Who counts says whose failures are counted.
func (s *Service) checkMailed(name codeName, given, who string) (any, error) {
	if !s.mailed.take(who, s.now()) {
		return nil, errTooMany
	}
	about, v := s.codes.try(name, given, s.now(), nil)
	if v != right {
		return nil, ErrVerification
	}
	s.mailed.back(who)
	return about, nil
}

// Verify makes the account whose address a code confirms. The errors are
// ErrVerification, *bourse.Errors with CodeBusy, and those of Create.
func (s *Service) Verify(ctx context.Context, email, text string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	about, err := s.checkMailed(codeName{forSignUp, email}, text, email)
	if err != nil {
		return err
	}
	hash, _ := about.(string)
	id, err := s.create(ctx, email, hash)
	if err != nil {
		return err
	}
	s.log(ctx, id, didSignUp, v, "")
	return nil
}

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

// ChangeEmail mails a code that makes a new address that of the account. The
// errors are ErrPassword, and *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) ChangeEmail(ctx context.Context, id bourse.AccountID, email, password string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	if _, err := s.ownPassword(ctx, id, password, v); err != nil {
		return err
	}
	if _, has, err := s.Store.AccountOf(ctx, email); err != nil {
		return err
	} else if has {
		// Whether the address has an account is told to its holder alone.
		s.codes.put(emailChange(id), &code{expires: s.now() + verifyFor, about: email}, s.now())
		return s.send(ctx, email, letterExists, "")
	}
	return s.mailCode(ctx, emailChange(id), email, letterEmail, email)
}

func emailChange(id bourse.AccountID) codeName { return codeName{forEmail, idName(id)} }

// PendingEmail returns the address that an account is about to get; empty for
// none.
func (s *Service) PendingEmail(id bourse.AccountID) string {
	about, _ := s.codes.find(emailChange(id), s.now())
	email, _ := about.(string)
	return email
}

// CancelEmail calls a change of address off; it reports whether there was one.
func (s *Service) CancelEmail(id bourse.AccountID) bool {
	was := s.PendingEmail(id) != ""
	s.codes.drop(emailChange(id))
	return was
}

// VerifyEmail makes the new address that of the account. Other sessions end, and
// withdrawals wait. The errors are ErrVerification, and *bourse.Errors with
// CodeConflict and CodeBusy.
func (s *Service) VerifyEmail(ctx context.Context, who Identity, text string, v Visit) error {
	about, err := s.checkMailed(emailChange(who.Account), text, idName(who.Account))
	if err != nil {
		return err
	}
	email, _ := about.(string)
	var old string
	err = s.secure(ctx, who.Account, who.Session, func(row *AccountRow) error {
		old, row.Email = row.Email, email
		return nil
	})
	if errors.Is(err, ErrTaken) {
		return errEmailTaken
	}
	if err != nil {
		return err
	}
	s.log(ctx, who.Account, changedEmail, v, maskEmail(email))
	for _, to := range slices.Compact([]string{old, email}) {
		s.tell(ctx, to, "The address of your account was changed to "+maskEmail(email)+".")
	}
	return nil
}
