package account

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// ChangePassword sets a new password. Other sessions end, and withdrawals are held. The
// errors are ErrPassword, those of SecondFactor if AlwaysConfirm is set, and
// *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) ChangePassword(ctx context.Context, who Identity, old, password string, act Act) error {
	if err := CheckPassword("password", password); err != nil {
		return err
	}
	if s.AlwaysConfirm {
		if err := s.unlocked(who.Account); err != nil {
			return err
		}
	}

	row, err := s.ownPassword(ctx, who, old, act.Visit)
	if err != nil {
		return err
	}
	if s.AlwaysConfirm {
		if err := s.confirm(ctx, who.Account, act); err != nil {
			return err
		}
	}

	hash, err := s.hasher.hash(ctx, act.source(), s.Random, password)
	if err != nil {
		return err
	}
	err = s.secure(ctx, s.secureCommand(row.ID, who.Session), func(now *AccountRow) error { return now.setPassword(&row, hash) })
	if err != nil {
		return err
	}
	s.log(ctx, row.ID, changedPassword, act.Visit, "")
	s.tell(ctx, row.ID, row.Email, passwordChanged)
	return nil
}

const passwordChanged = "The password of your account was changed."

// setPassword sets the hash of a new password in the place of that of an earlier row.
func (row *AccountRow) setPassword(was *AccountRow, hash string) error {
	if row.Password != was.Password { // a concurrent request was first
		return ErrPassword
	}
	row.Password = hash
	return nil
}

// ownPassword checks the password of a session's own account and returns its row.
// Failures count against the session alone, so that strangers cannot lock a holder out.
func (s *Service) ownPassword(ctx context.Context, who Identity, password string, v Visit) (AccountRow, error) {
	row, err := s.person(ctx, who.Account)
	if err != nil {
		return row, err
	}
	session := spending{passwordsBySession, fmt.Sprint(who.Session)}
	ok, err := s.checkPassword(ctx, row.Password, password, v, session)
	if err == nil && !ok {
		err = ErrPassword
	}
	return row, err
}

// secure changes a person's credentials. Pending codes of the account end; cmd ends
// sessions and, with On, keys, and holds withdrawals, so that a thief with a stolen
// credential gains nothing quickly. A longer hold stays.
func (s *Service) secure(ctx context.Context, cmd *bourse.Command, change func(*AccountRow) error) error {
	var addresses [2]string
	err := s.changePerson(ctx, cmd, func(row *AccountRow) error {
		addresses[0] = row.Email
		err := change(row)
		addresses[1] = row.Email
		return err
	})
	if err == nil {
		s.dropCodes(cmd.Account, addresses[:]...)
	}
	return err
}

// secureCommand returns the command that ends all sessions but one and holds withdrawals.
func (s *Service) secureCommand(id bourse.AccountID, but SessionID) *bourse.Command {
	return &bourse.Command{
		Kind: bourse.CommandSecureAccount, Account: id, Key: but.key(), Hold: min(s.hold(), bourse.MaxHold),
	}
}

// evictCommand returns the command that ends all sessions and API keys and holds
// withdrawals.
func (s *Service) evictCommand(id bourse.AccountID) *bourse.Command {
	cmd := s.secureCommand(id, 0)
	cmd.On = true
	return cmd
}

// hold is the hold of withdrawals after a change of credentials.
func (s *Service) hold() bourse.Time { return bourse.Time(s.Hold.Microseconds()) }

// dropCodes ends the pending codes of an account.
func (s *Service) dropCodes(id bourse.AccountID, addresses ...string) {
	for _, email := range addresses {
		s.shared.DropCodes(ForReset, email, nil)
	}
	s.shared.DropCodes(ForEmail, idName(id), nil)
	s.shared.DropCodes(ForFactor, idName(id), nil)
	s.shared.DropCodes(ForPasskey, idName(id), nil)
}

// HeldUntil returns the end of an account's hold of withdrawals; a time in the past if
// there is none.
func (s *Service) HeldUntil(id bourse.AccountID) bourse.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.facts.account(id); f != nil {
		return f.held
	}
	return 0
}

// ForgotPassword mails a code that resets the password of the address's account. The
// answer and the work are the same without an account. A source that asks again gets its
// pending code again; codes of other sources are unaffected.
func (s *Service) ForgotPassword(ctx context.Context, email string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	row, has, err := s.personOf(ctx, email)
	if err != nil {
		return err
	}
	known, err := s.knows(ctx, row.ID, v.source())
	if err != nil {
		return err
	}
	from := v.source().String()
	takes := s.strangersLetter(email)
	if known {
		takes = []spending{{lettersKnown, email + " from " + from}}
	}
	if err := s.spend(spending{lettersBySource, from}); err != nil {
		return err
	}
	if s.spend(takes...) != nil {
		return nil //nolint:nilerr // the answer must not say whether a letter was sent
	}

	c := s.ownCode(ForReset, email, v)
	if c.ID == 0 {
		c = Code{Subject: email, Source: v.source(), Expires: s.now() + verifyFor, Account: row.ID}
		if err := s.drawApart(ForReset, &c); err != nil {
			return err
		}
		if !s.shared.PutCode(ForReset, &c, s.now()) {
			return errTooMany
		}
	}
	if has {
		err = s.send(ctx, &Mail{To: email, Code: c.Text, Source: c.Source}, letterReset, c.Text)
	}
	if err != nil { // an error would reveal that the account exists
		s.OnFailure("a letter was not sent", err)
	}
	return nil
}

// ownCode returns a source's pending code of a subject; its id is zero if there is none.
func (s *Service) ownCode(p Purpose, subject string, v Visit) Code {
	for _, c := range s.shared.CodesOf(p, subject, s.now()) {
		if c.Source == v.source() && !c.Ended() {
			return c
		}
	}
	return Code{}
}
