package account

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// Passkey is a public key that a holder's device or password manager signs for.
type Passkey struct {
	// Number names it among the account's, from 1 on.
	Number uint32
	// Name is the holder's.
	Name string
	// Credential is the authenticator's name of the key; PublicKey is in COSE's form.
	Credential, PublicKey []byte
	// Synced is set if the key may be copied to the holder's other devices.
	Synced bool
	// Counter is the authenticator's count of signatures when the key was made; zero if the
	// authenticator keeps no count.
	Counter uint32
	Created bourse.Time
}

// mostPasskeys bounds an account's passkeys.
const mostPasskeys = 10

// UsedPasskey is a passkey and the time of its last use, zero for never.
type UsedPasskey struct {
	Passkey
	Used bourse.Time
}

var (
	// ErrNoParty says that passkeys are not set up here.
	ErrNoParty = bourse.Errorf(bourse.CodeConflict, "Passkeys are not set up here")
	// ErrWrongPasskey is the answer to an assertion that confirms no request, and to a new
	// passkey that was not asked for.
	ErrWrongPasskey = bourse.Errorf(bourse.CodeForbidden, "The passkey was not made or used for this")

	errManyPasskeys = bourse.Errorf(bourse.CodeRefused, "There can be no more than %d passkeys", mostPasskeys)
	errNoPasskey    = bourse.Errorf(bourse.CodeNotFound, "There is no such passkey")
)

// AskedAssertion are a browser's options for asking for an assertion.
type AskedAssertion struct {
	Party     string
	Challenge []byte
	// Credentials are the accepted credentials; empty accepts any credential of the party.
	Credentials [][]byte
	// Wait is how long the answer is good.
	Wait bourse.Time
}

// AskedPasskey are a browser's options for making a passkey.
type AskedPasskey struct {
	AskedAssertion // Credentials are the account's credentials, which are excluded
	// Issuer is the exchange's name. Handle and Email are the holder's.
	Issuer, Email string
	Handle        []byte
}

// owner returns a row's holder with the passkeys.
func (s *Service) owner(row *AccountRow) *PasskeyOwner {
	return &PasskeyOwner{s.handleOf(row.ID), row.Passkeys}
}

// credentials returns the authenticators' names of a row's passkeys.
func (row *AccountRow) credentials() [][]byte {
	list := make([][]byte, len(row.Passkeys))
	for i := range row.Passkeys {
		list[i] = row.Passkeys[i].Credential
	}
	return list
}

// Passkeys returns an account's passkeys, oldest first.
func (s *Service) Passkeys(ctx context.Context, id bourse.AccountID) ([]UsedPasskey, error) {
	row, err := s.person(ctx, id)
	if err != nil || len(row.Passkeys) == 0 {
		return nil, err
	}
	uses, err := s.Store.PasskeyUses(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]UsedPasskey, len(row.Passkeys))
	for i, k := range row.Passkeys {
		list[i] = UsedPasskey{k, uses[string(k.Credential)]}
	}
	return list, nil
}

// PreparePasskey lets a session make one passkey within FactorFor, once the factor in use
// has confirmed it. A later call takes the place of an earlier one. The errors are
// ErrNoParty, those of SecondFactor, and *bourse.Errors with CodeRefused.
func (s *Service) PreparePasskey(ctx context.Context, who Identity, act Act) (asked AskedPasskey, err error) {
	if s.party == nil {
		return asked, ErrNoParty
	}
	row, err := s.person(ctx, who.Account)
	if err != nil {
		return asked, err
	}
	if len(row.Passkeys) >= mostPasskeys {
		return asked, errManyPasskeys
	}

	act.What = "Add a passkey"
	if err := s.confirm(ctx, who.Account, act); err != nil {
		return asked, err
	}

	c := Code{
		Subject: idName(who.Account), Source: act.source(), Expires: s.now() + FactorFor,
		Account: who.Account, Session: who.Session,
	}
	if c.Challenge, err = s.newChallenge(); err != nil {
		return asked, err
	}
	s.shared.DropCodes(ForPasskey, c.Subject, nil)
	s.shared.PutCode(ForPasskey, &c, s.now())
	return AskedPasskey{
		s.party.Asks(c.Challenge, row.credentials()), s.Issuer, row.Email, s.handleOf(row.ID),
	}, nil
}

// CheckPasskeyName checks the name of a new passkey in a field. The error is an *bourse.Error
// with CodeInvalid.
func CheckPasskeyName(field, name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, control) {
		return bourse.Errorf(bourse.CodeInvalid, "%s: 1 to %d bytes, no control characters", field, maxName)
	}
	return nil
}

// AddPasskey adds the passkey that PreparePasskey asked this session for. Other sessions end,
// and withdrawals are held. The errors are ErrNoParty, ErrNotConfigured if none was asked for,
// ErrConfigured if the account has it, ErrWrongPasskey, and *bourse.Errors with CodeRefused.
func (s *Service) AddPasskey(
	ctx context.Context, who Identity, name string, r *Registration, v Visit,
) (made Passkey, err error) {
	if s.party == nil {
		return made, ErrNoParty
	}
	row, err := s.person(ctx, who.Account)
	if err != nil {
		return made, err
	}
	if made, err = s.registered(&row, who, r); err != nil {
		return made, err
	}

	made.Name, made.Created = name, s.now()
	err = s.changeFactor(ctx, who, v, "A passkey was added.", func(row *AccountRow) error {
		switch n := len(row.Passkeys); {
		case n >= mostPasskeys:
			return errManyPasskeys
		case slices.ContainsFunc(row.Passkeys, func(k Passkey) bool { return bytes.Equal(k.Credential, made.Credential) }):
			return ErrConfigured
		case n > 0:
			made.Number = row.Passkeys[n-1].Number
		}
		made.Number++
		row.Passkeys = append(slices.Clone(row.Passkeys), made)
		return nil
	})
	return made, err
}

// registered verifies a new passkey against the challenge of PreparePasskey, which it uses up.
func (s *Service) registered(row *AccountRow, who Identity, r *Registration) (made Passkey, err error) {
	var asked *Code
	for _, c := range s.shared.CodesOf(ForPasskey, idName(row.ID), s.now()) {
		if c.Session == who.Session && !c.Ended() {
			asked = &c
		}
	}
	if asked == nil {
		return made, ErrNotConfigured
	}

	made, ok := s.party.Registers(s.owner(row), asked.Challenge, r)
	pick := func(c *Code) bool { return c.ID == asked.ID }
	good := func(*Code) bool { return ok }
	if _, v := s.shared.TryCode(ForPasskey, idName(row.ID), pick, good, s.now()); v != Right {
		return made, ErrWrongPasskey
	}
	return made, nil
}

// Passkey returns a passkey of an account. The error is an *bourse.Error with CodeNotFound.
func (s *Service) passkey(ctx context.Context, id bourse.AccountID, number uint32) (Passkey, error) {
	row, err := s.person(ctx, id)
	if err != nil {
		return Passkey{}, err
	}
	at := slices.IndexFunc(row.Passkeys, func(k Passkey) bool { return k.Number == number })
	if at < 0 {
		return Passkey{}, errNoPasskey
	}
	return row.Passkeys[at], nil
}

// RemovePasskey removes a passkey. Other sessions end, and withdrawals are held. The errors
// are those of SecondFactor, and an *bourse.Error with CodeNotFound.
func (s *Service) RemovePasskey(ctx context.Context, who Identity, number uint32, act Act) error {
	k, err := s.passkey(ctx, who.Account, number)
	if err != nil {
		return err
	}
	act.What = "Remove a passkey"
	if err := s.confirm(ctx, who.Account, act); err != nil {
		return err
	}
	return s.changeFactor(ctx, who, act.Visit, "A passkey was removed.", func(row *AccountRow) error {
		at := slices.IndexFunc(row.Passkeys, func(now Passkey) bool {
			return now.Number == number && bytes.Equal(now.Credential, k.Credential)
		})
		if at < 0 {
			return errNoPasskey // a concurrent request was first
		}
		row.Passkeys = slices.Delete(slices.Clone(row.Passkeys), at, at+1)
		return nil
	})
}
