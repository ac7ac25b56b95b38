package account

import (
	"context"
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

// Act is a request that a second factor may have to confirm.
type Act struct {
	// Case are those of which one must be on; zero for what is always confirmed.
	Case   Cases
	Digest Digest
	// What says in plain words what the code confirms, for the letter that brings it.
	// What a client wrote stands in it as [Plain] shows it.
	What string
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
	locks := spending{factorsByAccount, idName(id)}
	if !s.shared.Free(locks.quota, locks.name, s.now()) {
		return errFactorLocked
	}
	c, out := s.challengeOf(id, act.Digest)
	if !out || act.Code == "" {
		return s.challenge(ctx, &row, c, act)
	}

	source := spending{codesBySource, act.source().String()}
	if !s.spend(source) {
		return errTooMany
	}
	if !s.spend(locks) {
		s.shared.Back(source.quota, source.name)
		return errFactorLocked
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

// challengeOf returns the challenge that is out for a request of an account.
func (s *Service) challengeOf(id bourse.AccountID, digest Digest) (Code, bool) {
	for _, c := range s.shared.CodesOf(ForFactor, idName(id), s.now()) {
		if c.Digest == digest && !c.Ended() {
			return c, true
		}
	}
	return Code{}, false
}

// challenge asks for a code, which it mails unless an application makes it. The code
// of a challenge that is out is mailed again.
func (s *Service) challenge(ctx context.Context, row *AccountRow, c Code, act Act) error {
	asks := &FactorError{ProviderTOTP, "Enter the code that your authenticator application shows"}
	if !row.TOTPUsed {
		asks = &FactorError{ProviderEmail, "Enter the code that was sent to " + maskEmail(row.Email)}
		if !s.spend(spending{factorLetters, idName(row.ID)}) {
			return errTooMany
		}
	}
	if c.ID == 0 {
		c = Code{Subject: idName(row.ID), Source: act.source(), Expires: s.now() + factorFor, Account: row.ID, Digest: act.Digest}
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

// putChallenge adds a challenge, in place of the account's oldest one if it has too
// many.
func (s *Service) putChallenge(c *Code) {
	for !s.shared.PutCode(ForFactor, c, s.now()) {
		if list := s.shared.CodesOf(ForFactor, c.Subject, s.now()); len(list) > 0 {
			oldest := list[0].ID
			s.shared.DropCodes(ForFactor, c.Subject, func(c *Code) bool { return c.ID == oldest })
		}
	}
}

// said is what a letter says of a request.
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

// idName is an account's name where names are texts.
func idName(id bourse.AccountID) string { return fmt.Sprintf("account %d:", id) }
