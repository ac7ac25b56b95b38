package account

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ChangeEmail mails a code to a new address after the factor in use has confirmed the
// request; without an authenticator application that is a code to the old address. The
// errors are ErrPassword, those of SecondFactor, and *bourse.Errors with CodeInvalid and
// CodeBusy.
func (s *Service) ChangeEmail(ctx context.Context, who Identity, email, password string, act Act) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	takes := []spending{
		{lettersBySource, act.source().String()},
		{changesByHour, idName(who.Account)}, {changesByDay, idName(who.Account)},
	}
	for _, t := range takes {
		if s.shared.Wait(t.quota, t.name, s.now()) > 0 {
			return s.exhausted(t, errTooMany)
		}
	}

	if err := s.unlocked(who.Account); err != nil {
		return err
	}

	row, err := s.ownPassword(ctx, who, password, act.Visit)
	if err != nil {
		return err
	}
	act.What = "Change the address of the account to " + Plain(email)
	if err := s.confirm(ctx, who.Account, act); err != nil {
		return err
	}
	if err := s.spend(takes...); err != nil {
		return err
	}
	return s.mailNewAddress(ctx, &row, email, act.Visit)
}

// mailNewAddress mails the code of a change. If the new address has an account, only its
// holder is told so.
func (s *Service) mailNewAddress(ctx context.Context, row *AccountRow, email string, v Visit) error {
	_, has, err := s.personOf(ctx, email)
	if err != nil {
		return err
	}
	c := Code{Subject: idName(row.ID), Source: v.source(), Expires: s.now() + verifyFor, Account: row.ID, Email: email}
	if err := s.drawApart(ForEmail, &c); err != nil {
		return err
	}
	letter, values := letterEmail, []string{c.Text}
	if has {
		letter, values, c.Text = letterExists, nil, ""
	}

	s.shared.DropCodes(ForEmail, c.Subject, nil)
	s.shared.PutCode(ForEmail, &c, s.now())
	if s.spend(s.strangersLetter(email)...) != nil {
		return nil //nolint:nilerr // the answer must not say whether a letter was sent
	}
	return s.send(ctx, &Mail{To: email, Code: c.Text, Source: c.Source}, letter, values...)
}

// PendingEmail returns the new address that awaits its code; empty for none.
func (s *Service) PendingEmail(id bourse.AccountID) string {
	for _, c := range s.shared.CodesOf(ForEmail, idName(id), s.now()) {
		if !c.Ended() {
			return c.Email
		}
	}
	return ""
}

// CancelEmail cancels a pending change of address; it reports whether there was one.
func (s *Service) CancelEmail(id bourse.AccountID) bool {
	was := s.PendingEmail(id) != ""
	s.shared.DropCodes(ForEmail, idName(id), nil)
	return was
}

// VerifyEmail changes the account's address to the new one. Other sessions end,
// withdrawals are held, and the old address gets a code that undoes the change; see
// UndoEmail. The errors are ErrVerification, and *bourse.Errors with CodeConflict and
// CodeBusy.
func (s *Service) VerifyEmail(ctx context.Context, who Identity, code string, v Visit) error {
	takes := spending{codesBySource, v.source().String()}
	if err := s.spend(takes); err != nil {
		return err
	}
	all := func(*Code) bool { return true }
	c, verdict := s.shared.TryCode(ForEmail, idName(who.Account), all, is(code), s.now())
	if verdict != Right {
		return ErrVerification
	}
	s.shared.Back(takes.quota, takes.name)

	undo, err := newUndoCode(s.Random)
	if err != nil {
		return err
	}
	var old string
	err = s.secure(ctx, s.secureCommand(who.Account, who.Session), func(row *AccountRow) error {
		old, row.Email = row.Email, c.Email
		return s.addUndo(row, old, undo)
	})
	if errors.Is(err, ErrTaken) {
		return errEmailTaken
	}
	if err != nil {
		return err
	}

	s.log(ctx, who.Account, changedEmail, v, maskEmail(c.Email))
	s.tell(ctx, who.Account, c.Email, "This is the address of your account now.")
	if old != c.Email {
		_ = s.send(ctx, &Mail{To: old, Code: undo}, letterUndo, maskEmail(c.Email), undo, s.page("/undo"))
	}
	return nil
}
