package account

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Provider is the source of second-factor codes.
type Provider string

// The providers, as clients name them.
const (
	ProviderEmail Provider = "EMAIL"
	ProviderTOTP  Provider = "GA"
)

// FactorError asks the client to repeat the request, unchanged, with a code.
type FactorError struct {
	Provider Provider
	// Place is where the user finds the code, for a client's own sentence: a masked address
	// or "your authenticator app".
	Place string
}

// Error returns a sentence with the place.
func (e *FactorError) Error() string { return "Enter the code from " + e.Place }

// asksTOTP returns the error that asks for a code of the authenticator application.
func asksTOTP() *FactorError { return &FactorError{ProviderTOTP, "your authenticator app"} }

var (
	// ErrWrongFactor is the answer to a wrong second-factor code.
	ErrWrongFactor = bourse.Errorf(bourse.CodeForbidden, "The code is wrong")

	errTooMany      = bourse.Errorf(bourse.CodeBusy, "Too many requests, try again later")
	errFactorLocked = bourse.Errorf(bourse.CodeBusy,
		"Too many wrong codes: second factors are locked for up to an hour")
)

// factorFor bounds the time to send a request's code.
const factorFor = 5 * bourse.Minute

// Act is a request that a second factor may have to confirm.
type Act struct {
	// Case is the set of cases of which one must be on; zero for a request that is always
	// confirmed.
	Case   Cases
	Digest Digest
	// What describes the request in plain words, for the letter with the code. Client
	// values in it have passed [Plain].
	What string
	// Code came with the request; empty for none. Otherwise it is well formed.
	Code string
	Visit
}

// SecondFactor passes a request that needs no second factor or carries the right one.
// Call it after every other check. A key needs none: it is a factor of its own. The
// errors are *FactorError, which says that a code is on its way and the request must be
// repeated with it; ErrWrongFactor; and *bourse.Errors with CodeBusy.
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
	if err := s.unlocked(id); err != nil {
		return err
	}
	c, out := s.challengeOf(id, act.Digest)
	if !out || act.Code == "" {
		return s.challenge(ctx, &row, c, act)
	}

	locks, source := factorLock(id), spending{codesBySource, act.source().String()}
	if err := s.spend(source); err != nil {
		return err
	}
	if s.spend(locks) != nil {
		s.shared.Back(source.quota, source.name)
		return s.exhausted(locks, errFactorLocked)
	}
	switch ok, err := s.tryFactor(ctx, &row, act); {
	case err != nil:
		return err
	case !ok:
		s.log(ctx, id, failedSecondFactor, act.Visit, "")
		return ErrWrongFactor
	}
	s.shared.Back(locks.quota, locks.name)
	s.shared.Back(source.quota, source.name)
	return nil
}

// factorLock is the quota of an account's wrong codes.
func factorLock(id bourse.AccountID) spending { return spending{factorsByAccount, idName(id)} }

// unlocked returns an error while an account has had too many wrong codes. Requests that
// hash a password before they ask for a code check it first, because hashing is expensive.
func (s *Service) unlocked(id bourse.AccountID) error {
	if lock := factorLock(id); s.shared.Wait(lock.quota, lock.name, s.now()) > 0 {
		return s.exhausted(lock, errFactorLocked)
	}
	return nil
}

// challengeOf returns the pending challenge of an account's request.
func (s *Service) challengeOf(id bourse.AccountID, digest Digest) (Code, bool) {
	for _, c := range s.shared.CodesOf(ForFactor, idName(id), s.now()) {
		if c.Digest == digest && !c.Ended() {
			return c, true
		}
	}
	return Code{}, false
}

// challenge asks for a code and mails it, unless an authenticator application makes it. A
// pending challenge's code is mailed again.
func (s *Service) challenge(ctx context.Context, row *AccountRow, c Code, act Act) error {
	asks := asksTOTP()
	if !row.TOTPUsed {
		asks = &FactorError{ProviderEmail, maskEmail(row.Email)}
		if err := s.spend(spending{factorLetters, idName(row.ID)}); err != nil {
			return err
		}
	}
	if c.ID == 0 {
		c = Code{
			Subject: idName(row.ID), Source: act.source(), Expires: s.now() + factorFor,
			Account: row.ID, Digest: act.Digest,
		}
		if !row.TOTPUsed {
			if err := s.drawApart(ForFactor, &c); err != nil {
				return err
			}
		}
		s.putChallenge(&c)
	}

	if !row.TOTPUsed {
		m := &Mail{To: row.Email, Code: c.Text}
		if err := s.send(ctx, m, letterFactor, c.Text, act.said()); err != nil {
			return err
		}
	}
	return asks
}

// putChallenge adds a challenge. If the account has too many, its oldest one goes.
func (s *Service) putChallenge(c *Code) {
	for !s.shared.PutCode(ForFactor, c, s.now()) {
		if list := s.shared.CodesOf(ForFactor, c.Subject, s.now()); len(list) > 0 {
			oldest := list[0].ID
			s.shared.DropCodes(ForFactor, c.Subject, func(c *Code) bool { return c.ID == oldest })
		}
	}
}

// said describes a request in a letter.
func (a *Act) said() string {
	what := a.What
	if a.From.IsValid() {
		what += "\n\nIt came from " + a.From.Unmap().WithZone("").String() + "."
	}
	return what
}

// tryFactor reports whether a code confirms the challenge of a request.
func (s *Service) tryFactor(ctx context.Context, row *AccountRow, act Act) (bool, error) {
	pick := func(c *Code) bool { return c.Digest == act.Digest }
	if !row.TOTPUsed {
		_, v := s.shared.TryCode(ForFactor, idName(row.ID), pick, is(act.Code), s.now())
		return v == Right, nil
	}
	step, ok, err := s.totpStep(row, act.Code)
	if err != nil {
		return false, err
	}
	good := func(*Code) bool { return ok }
	if _, v := s.shared.TryCode(ForFactor, idName(row.ID), pick, good, s.now()); v != Right {
		return false, nil
	}
	return s.Store.UseStep(ctx, row.ID, step)
}

// idName returns an account's name in quotas and subjects.
func idName(id bourse.AccountID) string { return fmt.Sprintf("account %d:", id) }
