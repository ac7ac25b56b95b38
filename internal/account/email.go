package account

import (
	"context"
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
)

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
