package account

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// Provider is the source of second factors.
type Provider string

// The providers, as clients name them.
const (
	ProviderEmail   Provider = "EMAIL"
	ProviderTOTP    Provider = "GA"
	ProviderPasskey Provider = "WEBAUTHN"
)

// FactorError asks the client to repeat the request, unchanged, with a code or an assertion.
type FactorError struct {
	Provider Provider
	// Place is where the user finds the factor, for a client's own sentence: a masked address,
	// "your authenticator app" or "your passkey".
	Place string
	// Passkey asks for an assertion in place of a code; if Provider is ProviderPasskey, no code
	// is accepted. Nil for an account without passkeys.
	Passkey *AskedAssertion
}

// Error returns a sentence with the place, for V1.
func (e *FactorError) Error() string {
	if e.Provider == ProviderPasskey {
		return "Confirm with " + e.Place + ", which V1 does not take: make the request in V2"
	}
	return "Enter the code from " + e.Place
}

// asksTOTP returns the error that asks for a code of the authenticator application.
func asksTOTP() *FactorError {
	return &FactorError{Provider: ProviderTOTP, Place: "your authenticator app"}
}

var (
	// ErrWrongFactor is the answer to a wrong second-factor code.
	ErrWrongFactor = bourse.Errorf(bourse.CodeForbidden, "The code is wrong")

	errTooMany      = bourse.Errorf(bourse.CodeBusy, "Too many requests, try again later")
	errFactorLocked = bourse.Errorf(bourse.CodeBusy,
		"Too many wrong codes: second factors are locked for up to an hour")
)

// FactorFor bounds the time to send a request's code.
const FactorFor = 5 * bourse.Minute

// Act is a request that a second factor may have to confirm.
type Act struct {
	// Case is the set of cases of which one must be on; zero for a request that is always
	// confirmed.
	Case   Cases
	Digest Digest
	// What describes the request in plain words, for the letter with the code. Client
	// values in it have passed [Plain].
	What string
	// Code and Assertion came with the request; empty and nil for none. Otherwise the code is
	// well formed. At most one is given.
	Code      string
	Assertion *Assertion
	Visit
}

// SecondFactor passes a request that needs no second factor or carries the right one.
// Call it after every other check. A key needs none: it is a factor of its own. The
// errors are *FactorError, which says that a code is on its way or a passkey must answer, and
// the request must be repeated with that; ErrWrongFactor and ErrWrongPasskey; ErrNoParty if
// only a passkey would do and there can be none; and *bourse.Errors with CodeBusy.
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
	if !out || !act.answers(&row, &c) {
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
	switch ok, err := s.tryFactor(ctx, &row, &c, act); {
	case err != nil:
		return err
	case !ok && act.Assertion != nil:
		s.log(ctx, id, failedSecondFactor, act.Visit, "By a passkey.")
		return ErrWrongPasskey
	case !ok:
		s.log(ctx, id, failedSecondFactor, act.Visit, "")
		return ErrWrongFactor
	}
	s.shared.Back(locks.quota, locks.name)
	s.shared.Back(source.quota, source.name)
	return nil
}

// answers reports whether a request carries an answer of a kind that its challenge takes.
func (a *Act) answers(row *AccountRow, c *Code) bool {
	if a.Assertion != nil {
		return c.Challenge != nil
	}
	return a.Code != "" && !row.strict(a)
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

// strict reports whether only a passkey confirms a request: once there is one, codes can no
// longer do more than log in.
func (row *AccountRow) strict(act *Act) bool { return len(row.Passkeys) > 0 && act.Case != CaseLogin }

// challenge asks for a second factor. A code is mailed, unless an authenticator application
// makes it or only a passkey will do. A pending challenge is asked for again, with the same
// code.
func (s *Service) challenge(ctx context.Context, row *AccountRow, c Code, act Act) error {
	asks := asksTOTP()
	switch {
	case row.strict(&act):
		if s.party == nil {
			return ErrNoParty
		}
		asks = &FactorError{Provider: ProviderPasskey, Place: "your passkey"}
	case !row.TOTPUsed:
		asks = &FactorError{Provider: ProviderEmail, Place: maskEmail(row.Email)}
		if err := s.spend(spending{factorLetters, idName(row.ID)}); err != nil {
			return err
		}
	}

	if c.ID == 0 {
		var err error
		if c, err = s.newFactor(row, asks.Provider, act); err != nil {
			return err
		}
		s.putChallenge(&c)
	}
	if c.Challenge != nil {
		asked := s.party.Asks(c.Challenge, row.credentials())
		asks.Passkey = &asked
	}
	if asks.Provider == ProviderEmail {
		m := &Mail{To: row.Email, Code: c.Text}
		if err := s.send(ctx, m, letterFactor, c.Text, act.said()); err != nil {
			return err
		}
	}
	return asks
}

// newFactor returns a new challenge for a request, with what each factor needs.
func (s *Service) newFactor(row *AccountRow, by Provider, act Act) (c Code, err error) {
	c = Code{
		Subject: idName(row.ID), Source: act.source(), Expires: s.now() + FactorFor,
		Account: row.ID, Digest: act.Digest,
	}
	if len(row.Passkeys) > 0 && s.party != nil {
		if c.Challenge, err = s.newChallenge(); err != nil {
			return c, err
		}
	}
	if by == ProviderEmail {
		err = s.drawApart(ForFactor, &c)
	}
	return c, err
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
	if from := a.address(); from != "" {
		what += "\n\nIt came from " + from + "."
	}
	return what
}

// tryFactor reports whether a code or an assertion confirms the challenge of a request.
func (s *Service) tryFactor(ctx context.Context, row *AccountRow, c *Code, act Act) (bool, error) {
	pick := func(c *Code) bool { return c.Digest == act.Digest }
	try := func(good func(*Code) bool) bool {
		_, v := s.shared.TryCode(ForFactor, idName(row.ID), pick, good, s.now())
		return v == Right
	}

	switch {
	case act.Assertion != nil:
		k, ok := s.party.Asserts(s.owner(row), c.Challenge, act.Assertion)
		if !try(func(tried *Code) bool { return ok && tried.ID == c.ID }) {
			return false, nil
		}
		return s.Store.UsePasskey(ctx, row.ID, k.Credential, k.Counter, s.now())
	case !row.TOTPUsed:
		return try(is(act.Code)), nil
	}

	step, ok, err := s.totpStep(row, act.Code)
	if err != nil {
		return false, err
	}
	if !try(func(*Code) bool { return ok }) {
		return false, nil
	}
	return s.Store.UseStep(ctx, row.ID, step)
}

// idName returns an account's name in quotas and subjects.
func idName(id bourse.AccountID) string { return fmt.Sprintf("account %d:", id) }
