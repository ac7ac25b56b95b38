package operator

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// ErrPasskey is the error for a passkey that was not made for an invitation.
var ErrPasskey = bourse.Errorf(bourse.CodeForbidden, "The passkey was not made for this invitation")

// Invited is an invitation, with a browser's options for making the passkey that accepts it.
type Invited struct {
	Invitation
	Passkey account.AskedPasskey
}

// Invited returns the invitation of a code. The errors are [account.ErrNoParty], *bourse.Errors
// and those of the store.
func (s *Service) Invited(ctx context.Context, code account.Secret) (asked Invited, err error) {
	if s.party == nil {
		return asked, account.ErrNoParty
	}
	i, plain, err := s.invitation(ctx, code, s.Store.Invitation)
	if err != nil {
		return asked, err
	}

	token := tokenOf(plain)
	return Invited{i, account.AskedPasskey{
		AskedAssertion: s.party.Asks(challengeOf(plain), nil), Issuer: s.Issuer + " operators", Email: i.Email, Handle: token[:],
	}}, nil
}

// Register verifies the passkey that was made for an invitation, uses the invitation up and adds
// its operator. A passkey that was not made for it leaves the invitation as it is. The answer and
// the errors are those of Accept, and ErrPasskey.
func (s *Service) Register(ctx context.Context, code account.Secret, r *account.Registration) (Accepted, error) {
	asked, err := s.Invited(ctx, code)
	if err != nil {
		return Accepted{}, err
	}
	made, ok := s.party.Registers(&account.PasskeyOwner{Handle: asked.Passkey.Handle}, asked.Passkey.Challenge, r)
	if !ok {
		return Accepted{}, ErrPasskey
	}
	accepted, err := s.Accept(ctx, code, made)
	if err == nil {
		s.tellInvited(ctx, &asked.Invitation, accepted.Fingerprint)
	}
	return accepted, err
}

// tellInvited writes to an invited person that the invitation was accepted. Who invited has seen the code, and could
// have accepted it with a second passkey, in that person's name.
func (s *Service) tellInvited(ctx context.Context, i *Invitation, fingerprint string) {
	m := &account.Mail{To: i.Email, Subject: "Your invitation was accepted", Text: fmt.Sprintf(
		"Somebody accepted your invitation as %s of %s, with a passkey whose fingerprint is %s.\n\n"+
			"If it was not you, or if the page showed you another fingerprint, tell an owner at once.",
		i.Role, s.Issuer, fingerprint)}
	if err := s.Mailer.Send(context.WithoutCancel(ctx), m); err != nil {
		s.Log.Error("an invited person was not told", slog.String("role", i.Role.String()), slog.Any("error", err))
	}
}

// Accept uses up an invitation and adds its operator with a passkey, which Register has verified.
// The errors are *bourse.Errors, those of the store and of the sequencer.
func (s *Service) Accept(ctx context.Context, code account.Secret, key account.Passkey) (Accepted, error) {
	if len(key.Credential) == 0 || len(key.PublicKey) == 0 {
		return Accepted{}, bourse.Errorf(bourse.CodeInvalid, "malformed passkey")
	}
	i, plain, err := s.invitation(ctx, code, s.Store.TakeInvitation)
	if err != nil {
		return Accepted{}, err
	}

	row := &Row{
		Token: tokenOf(plain), Email: i.Email, Name: i.Name, Credential: key.Credential, PublicKey: key.PublicKey,
		Synced: key.Synced, Counter: key.Counter, Created: s.now(),
	}
	if _, err := io.ReadFull(s.Random, row.Salt[:]); err != nil {
		return Accepted{}, fmt.Errorf("drawing a salt: %w", err)
	}
	return s.add(ctx, row, &i)
}

// codeChance is the number of random bytes before a code's MAC.
const codeChance = 16

// newCode returns the code of an invitation: random bytes, and a MAC over them and the invitation.
// Write access to the store is so not enough to invite in an owner's name, or to change a role.
func (s *Service) newCode(i *Invitation) ([]byte, error) {
	chance := make([]byte, codeChance)
	if _, err := io.ReadFull(s.Random, chance); err != nil {
		return nil, fmt.Errorf("drawing a code: %w", err)
	}
	return s.codeOf(chance, i), nil
}

// codeOf returns the code of an invitation with the chance that was drawn for it.
func (s *Service) codeOf(chance []byte, i *Invitation) []byte {
	m := hmac.New(sha256.New, derived("invitations", s.Seal[:]))
	_, _ = m.Write(chance) // a hash never fails
	writeFields(m, []string{i.Email, i.Name, i.Reason}, uint64(i.Role), uint64(i.By), uint64(i.Expires))
	return append(slices.Clip(chance), m.Sum(nil)[:codeChance]...)
}

// writeFields writes texts with their lengths and then a fixed count of numbers to a MAC, so that different fields
// are different bytes.
func writeFields(m hash.Hash, texts []string, numbers ...uint64) {
	for _, text := range texts {
		_ = binary.Write(m, binary.LittleEndian, uint64(len(text))) // a hash never fails
		_, _ = m.Write([]byte(text))
	}
	for _, number := range numbers {
		_ = binary.Write(m, binary.LittleEndian, number)
	}
}

// invitation returns the invitation of a code as it was made, by one of the store's methods, and
// the code's bytes. The errors are errNoInvitation and those of the store.
func (s *Service) invitation(
	ctx context.Context, code account.Secret, get func(context.Context, [32]byte) (Invitation, bool, error),
) (i Invitation, plain []byte, err error) {
	if plain, err = hex.DecodeString(string(code)); err != nil || len(plain) != 2*codeChance {
		return i, nil, errNoInvitation
	}
	i, found, err := get(ctx, sha256.Sum256(plain))
	switch {
	case err != nil:
		return i, nil, err
	case !found || i.Expires <= s.now():
		return i, nil, errNoInvitation
	case !hmac.Equal(plain, s.codeOf(plain[:codeChance], &i)):
		s.OnForged("invitation", fmt.Errorf("the invitation of %s was not made here, or was changed", i.Email))
		return i, nil, errNoInvitation
	}
	return i, plain, nil
}

// tokenOf returns the token of the operator that an invitation makes. It is also the handle by
// which passkeys name the operator.
func tokenOf(code []byte) bourse.Token {
	return bourse.Token(derived("token", code)[:len(bourse.Token{})])
}

// challengeOf returns the challenge of the passkey that accepts an invitation. The code is chance
// that only the invited person has, and good for one passkey, so that nothing is kept for it.
func challengeOf(code []byte) []byte { return derived("challenge", code) }

func derived(use string, code []byte) []byte {
	m := hmac.New(sha256.New, code)
	_, _ = m.Write([]byte("bourse operator's " + use)) // a hash never fails
	return m.Sum(nil)
}

// The parts of a challenge before its MAC, in bytes.
const (
	saltSize = 16
	textSize = saltSize + 8
)

// challenge returns a challenge about something: chance, the time, and a MAC. Nothing is kept for
// it, so that strangers fill nothing.
func (s *Service) challenge(about []byte) ([]byte, error) {
	var salt [saltSize]byte
	if _, err := io.ReadFull(s.Random, salt[:]); err != nil {
		return nil, fmt.Errorf("drawing a challenge: %w", err)
	}
	text := binary.LittleEndian.AppendUint64(salt[:], uint64(s.now()))
	return append(text, s.mac(text, about)...), nil
}

// fresh reports whether a challenge is ours, about something, and young enough to be answered.
func (s *Service) fresh(challenge, about []byte) bool {
	if len(challenge) != textSize+sha256.Size || !hmac.Equal(challenge[textSize:], s.mac(challenge[:textSize], about)) {
		return false
	}
	made := bourse.Time(binary.LittleEndian.Uint64(challenge[saltSize:]))
	now := s.now()
	return made <= now && now < made+account.FactorFor
}

func (s *Service) mac(text, about []byte) []byte {
	m := hmac.New(sha256.New, s.challenges[:])
	_, _ = m.Write(text) // a hash never fails
	_, _ = m.Write(about)
	return m.Sum(nil)
}

// take uses up a fresh challenge, and reports whether it was the first to do so. Call it for a
// challenge that an operator's passkey signed alone.
func (s *Service) take(challenge []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for one, end := range s.used {
		if end <= now {
			delete(s.used, one)
		}
	}
	_, taken := s.used[string(challenge)]
	s.used[string(challenge)] = now + account.FactorFor
	return !taken
}

func (s *Service) now() bourse.Time { return bourse.TimeOf(s.Clock()) }
