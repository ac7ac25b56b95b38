package account

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// ErrPasskeyLogIn is the answer to an assertion that begins no session, and does not say why.
var ErrPasskeyLogIn = bourse.Errorf(bourse.CodeUnauthorized,
	"The passkey is not one of an account here, or it answered too late")

// PasskeyLogIn is a request for a session by a passkey alone.
type PasskeyLogIn struct {
	Assertion *Assertion
	// Remember extends the session's life to rememberedFor.
	Remember bool
	Visit
}

// AskLogIn returns the challenge of a log-in, which any passkey of the party may answer. It
// keeps nothing, and is the same for everybody. ErrNoParty if passkeys are not set up.
func (s *Service) AskLogIn() (AskedAssertion, error) {
	if s.party == nil {
		return AskedAssertion{}, ErrNoParty
	}
	challenge, err := s.sealChallenge()
	if err != nil {
		return AskedAssertion{}, err
	}
	return s.party.Asks(challenge, nil), nil
}

// LogInByPasskey begins a session. A passkey is two factors: the device, and what unlocks it.
// The secret is returned this once. The errors are ErrNoParty, ErrPasskeyLogIn, and
// *bourse.Errors with CodeBusy.
func (s *Service) LogInByPasskey(ctx context.Context, in PasskeyLogIn) (Secret, error) {
	if s.party == nil {
		return "", ErrNoParty
	}
	challenge := in.Assertion.Challenge()
	id, ours := s.holderOf(in.Assertion.Handle())
	if !ours || !s.openChallenge(challenge) {
		return "", ErrPasskeyLogIn
	}

	row, err := s.person(ctx, id)
	if errors.Is(err, ErrNone) || errors.Is(err, ErrForged) {
		return "", ErrPasskeyLogIn
	}
	if err != nil {
		return "", err
	}
	if err := s.assertLogIn(ctx, &row, challenge, &in); err != nil {
		return "", err
	}
	return s.begin(ctx, &row, &LogIn{Remember: in.Remember, Act: Act{Visit: in.Visit}})
}

// assertLogIn verifies the assertion of a log-in and uses up its challenge. An account that may
// begin no session uses up none: the table of used ones is everybody's, and a full one forgets.
func (s *Service) assertLogIn(ctx context.Context, row *AccountRow, challenge []byte, in *PasskeyLogIn) error {
	sessions := spending{logInsByAccount, idName(row.ID)}
	if s.shared.Wait(sessions.quota, sessions.name, s.now()) > 0 {
		return s.exhausted(sessions, errTooMany)
	}

	source := spending{passkeysBySource, in.source().String()}
	if err := s.spend(source); err != nil {
		return err
	}

	k, ok := s.party.Asserts(s.owner(row), challenge, in.Assertion)
	ok = ok && s.shared.Take(challengesUsed, hex.EncodeToString(challenge), s.now())
	if ok {
		var err error
		if ok, err = s.Store.UsePasskey(ctx, row.ID, k.Credential, k.Counter, s.now()); err != nil {
			return err
		}
	}
	if !ok {
		s.log(ctx, row.ID, failedLogIn, in.Visit, "By a passkey.")
		return ErrPasskeyLogIn
	}
	s.shared.Back(source.quota, source.name)
	return nil
}
