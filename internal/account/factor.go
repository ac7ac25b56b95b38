package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Provider is where the codes of a second factor come from.
type Provider string

// The providers.
const (
	ProviderEmail Provider = "EMAIL"
	ProviderTOTP  Provider = "TOTP"
)

// FactorError says that a request must come again, unchanged, with a code.
type FactorError struct {
	Provider Provider
	// Message says where the code is.
	Message string
}

// Error says where the code is.
func (e *FactorError) Error() string { return e.Message }

var (
	// ErrWrongFactor says that the code of a second factor is wrong.
	ErrWrongFactor = bourse.Errorf(bourse.CodeForbidden, "The code is wrong")

	errTooMany      = bourse.Errorf(bourse.CodeBusy, "Too many requests, try again later")
	errFactorLocked = bourse.Errorf(bourse.CodeBusy, "Too many wrong codes: second factors are locked for up to an hour")
)

// factorFor is how long a request waits for its code.
const factorFor = 5 * bourse.Minute

// mostFactorFailures is how many wrong codes within an hour lock an account's
// second factor.
const mostFactorFailures = 10

// Act is a request that a second factor may have to confirm.
type Act struct {
	// Case are those of which one must be on; zero for what is always confirmed.
	Case   Cases
	Digest Digest
	// Code came along; empty for none. Otherwise it has the form of one.
	Code string
	Visit
}

// SecondFactor lets a request pass that needs no second factor, or brings the
// right one. Call it when the request has been found good in everything else. The
// errors are *FactorError: the request must come again with a code, which is on
// its way; ErrWrongFactor; and *bourse.Errors with CodeBusy. A key needs none: it
// is a factor of its own.
func (s *Service) SecondFactor(ctx context.Context, who Identity, act Act) error {
	if who.Session == 0 {
		return nil
	}
	return s.confirm(ctx, who.Account, act)
}

func (s *Service) confirm(ctx context.Context, id bourse.AccountID, act Act) error {
	row, err := s.person(ctx, id)
	if err != nil || act.Case != 0 && row.Cases&act.Case == 0 {
		return err
	}
	locks := idName(id)
	if !s.factors.free(locks, s.now()) {
		return errFactorLocked
	}
	name := codeName{forFactor, locks + string(act.Digest[:])}
	if _, out := s.codes.find(name, s.now()); !out || act.Code == "" {
		return s.challenge(ctx, &row, name)
	}
	if !s.factors.take(locks, s.now()) {
		return errFactorLocked
	}
	switch ok, err := s.tryFactor(ctx, &row, name, act.Code); {
	case err != nil:
		return err
	case !ok:
		s.log(ctx, id, failedSecondFactor, act.Visit, "")
		return ErrWrongFactor
	}
	s.factors.back(locks)
	return nil
}

// challenge asks for a code, which it mails unless an application makes it.
func (s *Service) challenge(ctx context.Context, row *AccountRow, name codeName) error {
	is := &code{expires: s.now() + factorFor}
	asks := &FactorError{ProviderTOTP, "Enter the code that your authenticator application shows"}
	if !row.TOTPUsed {
		text, err := newCode(s.Random)
		if err != nil {
			return err
		}
		is.text = text
		asks = &FactorError{ProviderEmail, "Enter the code that was sent to " + maskEmail(row.Email)}
	}
	if !s.codes.put(name, is, s.now()) {
		return errTooMany
	}
	if is.text != "" {
		if err := s.send(ctx, row.Email, letterFactor, is.text); err != nil {
			return err
		}
	}
	return asks
}

// tryFactor reports whether a code confirms what is out under a name.
func (s *Service) tryFactor(ctx context.Context, row *AccountRow, name codeName, text string) (bool, error) {
	if !row.TOTPUsed {
		_, v := s.codes.try(name, text, s.now(), nil)
		return v == right, nil
	}
	step, ok, err := s.totpStep(row, text)
	if err != nil {
		return false, err
	}
	if _, v := s.codes.try(name, text, s.now(), func() bool { return ok }); v != right {
		return false, nil
	}
	return s.useStep(ctx, row.ID, step, nil)
}

var errStepUsed = errors.New("the time step was used")

// useStep takes a time step for good, with what else changes at that moment; false
// if another request took it first.
func (s *Service) useStep(ctx context.Context, id bourse.AccountID, step int64, also func(*AccountRow) error) (bool, error) {
	err := s.Store.ChangePerson(ctx, id, func(row *AccountRow) error {
		if step <= row.TOTPStep {
			return errStepUsed
		}
		row.TOTPStep = step
		if also != nil {
			return also(row)
		}
		return nil
	})
	if errors.Is(err, errStepUsed) {
		return false, nil
	}
	return err == nil, err
}

// person returns the row of an account that has a person.
func (s *Service) person(ctx context.Context, id bourse.AccountID) (AccountRow, error) {
	row, ok, err := s.Store.Account(ctx, id)
	if err == nil && !ok {
		err = bourse.Errorf(bourse.CodeNotFound, "Account not found")
	}
	return row, err
}

// idName is an account's name where names are texts.
func idName(id bourse.AccountID) string { return fmt.Sprintf("account %d:", id) }
