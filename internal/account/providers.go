package account

import (
	"bytes"
	"context"

	"github.com/bourse-exchange/bourse"
)

var (
	// ErrConfigured says that a provider is in use already.
	ErrConfigured = bourse.Errorf(bourse.CodeConflict, "It is in use already")
	// ErrNotConfigured says that a provider must be prepared first.
	ErrNotConfigured = bourse.Errorf(bourse.CodeConflict, "It is not configured")
)

// Factors are an account's second factors.
type Factors struct {
	// Prepared is set if there is a TOTP secret; Used is set if codes come from it and
	// not by e-mail. Passkeys is set if the account has passkeys.
	Prepared, Used, Passkeys bool
	Cases                    Cases
}

// Factors returns an account's second factors.
func (s *Service) Factors(ctx context.Context, id bourse.AccountID) (Factors, error) {
	row, err := s.person(ctx, id)
	return Factors{row.TOTP != nil, row.TOTPUsed, len(row.Passkeys) > 0, row.Cases}, err
}

// TOTPKey is the secret of an authenticator application, with its URL.
type TOTPKey struct {
	// URL is the otpauth URL that holds Secret.
	URL, Secret Secret
}

// PrepareTOTP makes a key for an authenticator application and returns it, this once.
// Codes come by e-mail until UseTOTP gets a code from the application. ErrConfigured if
// one is in use.
func (s *Service) PrepareTOTP(ctx context.Context, id bourse.AccountID, act Act) (TOTPKey, error) {
	row, err := s.person(ctx, id)
	if err != nil {
		return TOTPKey{}, err
	}
	if row.TOTPUsed {
		return TOTPKey{}, ErrConfigured
	}

	act.What = "Prepare an authenticator application"
	if err := s.confirm(ctx, id, act); err != nil {
		return TOTPKey{}, err
	}

	sealed, key, err := s.newTOTP(&row)
	if err != nil {
		return TOTPKey{}, err
	}

	return key, s.changePerson(ctx, &bourse.Command{
		Kind: bourse.CommandSetPerson, Account: id,
	}, func(row *AccountRow) error {
		if row.TOTPUsed {
			return ErrConfigured
		}
		row.TOTP = sealed
		return nil
	})
}

// UseTOTP makes the authenticator application the second factor, given a code from it.
// Other sessions end, and withdrawals are held. The errors are *FactorError without a
// code, ErrNotConfigured, ErrConfigured, ErrWrongFactor, and *bourse.Errors with CodeBusy.
func (s *Service) UseTOTP(ctx context.Context, who Identity, act Act) error {
	row, err := s.person(ctx, who.Account)
	switch {
	case err != nil:
		return err
	case row.TOTPUsed:
		return ErrConfigured
	case row.TOTP == nil:
		return ErrNotConfigured
	case act.Code == "":
		return asksTOTP()
	}

	locks := spending{factorsByAccount, idName(who.Account)}
	if s.spend(locks) != nil {
		return s.exhausted(locks, errFactorLocked)
	}

	step, ok, err := s.totpStep(&row, act.Code)
	if err == nil && ok {
		ok, err = s.Store.UseStep(ctx, who.Account, step)
	}
	switch {
	case err != nil:
		return err
	case !ok:
		s.log(ctx, who.Account, failedSecondFactor, act.Visit, "")
		return ErrWrongFactor
	}

	s.shared.Back(locks.quota, locks.name)
	return s.changeFactor(ctx, who, act.Visit,
		"Codes come from an authenticator application now.", func(now *AccountRow) error {
			if now.TOTPUsed || !bytes.Equal(now.TOTP, row.TOTP) {
				return ErrConfigured // a concurrent request was first
			}
			now.TOTPUsed = true
			return nil
		})
}

// UseEmail switches codes back to e-mail. Other sessions end, and withdrawals are held.
// The errors are ErrConfigured and those of SecondFactor.
func (s *Service) UseEmail(ctx context.Context, who Identity, act Act) error {
	f, err := s.Factors(ctx, who.Account)
	if err == nil && !f.Used {
		err = ErrConfigured
	}
	if err != nil {
		return err
	}
	act.What = "Let codes come by e-mail"
	if err := s.confirm(ctx, who.Account, act); err != nil {
		return err
	}
	return s.changeFactor(ctx, who, act.Visit, "Codes come by e-mail now.", func(row *AccountRow) error {
		row.TOTPUsed = false
		return nil
	})
}

// RemoveTOTP removes the authenticator application. Other sessions end, and withdrawals
// are held. The errors are ErrNotConfigured and those of SecondFactor.
func (s *Service) RemoveTOTP(ctx context.Context, who Identity, act Act) error {
	f, err := s.Factors(ctx, who.Account)
	if err == nil && !f.Prepared {
		err = ErrNotConfigured
	}
	if err != nil {
		return err
	}
	act.What = "Remove the authenticator application"
	if err := s.confirm(ctx, who.Account, act); err != nil {
		return err
	}
	return s.changeFactor(ctx, who, act.Visit,
		"The authenticator application was removed.", func(row *AccountRow) error {
			row.TOTP, row.TOTPUsed = nil, false
			return nil
		})
}

func (s *Service) changeFactor(
	ctx context.Context, who Identity, v Visit, what string, change func(*AccountRow) error,
) error {
	var email string
	err := s.secure(ctx, s.secureCommand(who.Account, who.Session), func(row *AccountRow) error {
		email = row.Email
		return change(row)
	})
	if err != nil {
		return err
	}
	s.log(ctx, who.Account, changedFactor, v, what)
	s.tell(ctx, who.Account, email, what)
	return nil
}

// SetCases switches the cases of on on and those of off off, and returns the result. The
// errors are those of SecondFactor.
func (s *Service) SetCases(ctx context.Context, who Identity, on, off Cases, act Act) (Cases, error) {
	act.What = "Change what a second factor is asked for"
	for _, change := range []struct {
		cases Cases
		to    string
	}{{on, " on"}, {off, " off"}} {
		if change.cases != 0 {
			act.What += ", " + change.cases.String() + change.to
		}
	}

	if err := s.confirm(ctx, who.Account, act); err != nil {
		return 0, err
	}

	var now Cases
	var email string
	err := s.secure(ctx, s.secureCommand(who.Account, who.Session), func(row *AccountRow) error {
		row.Cases = row.Cases&^off | on
		now, email = row.Cases, row.Email
		return nil
	})
	if err != nil {
		return 0, err
	}

	s.log(ctx, who.Account, changedCases, act.Visit, now.String())
	s.tell(ctx, who.Account, email, "What a second factor is asked for was changed.")
	return now, nil
}
