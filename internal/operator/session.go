package operator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// The bounds of sessions.
const (
	// sessionFor is a working day: an operator's browser that is forgotten somewhere is of no use
	// for longer.
	sessionFor = 10 * bourse.Hour
	// mostSessions bounds an operator's sessions; a new one ends the oldest.
	mostSessions = 8
)

// session is a session of an operator. It is in memory alone: a start ends all.
type session struct {
	id       account.SessionID
	operator bourse.OperatorID
	expires  bourse.Time
}

// AskLogIn returns the challenge of a log-in, which any operator's passkey may answer. The error is
// [account.ErrNoParty] if passkeys are not set up.
func (s *Service) AskLogIn() (account.AskedAssertion, error) {
	if s.party == nil {
		return account.AskedAssertion{}, account.ErrNoParty
	}
	challenge, err := s.challenge(nil)
	if err != nil {
		return account.AskedAssertion{}, err
	}
	return s.party.Asks(challenge, nil), nil
}

// LogIn begins a session. The secret is returned this once. The errors are [account.ErrNoParty],
// [account.ErrPasskeyLogIn], and those of the store.
func (s *Service) LogIn(ctx context.Context, a *account.Assertion) (account.Secret, error) {
	if s.party == nil {
		return "", account.ErrNoParty
	}
	o, endings := s.handled(a.Handle())
	if o == nil || !s.fresh(a.Challenge(), nil) {
		return "", account.ErrPasskeyLogIn
	}
	if ok, err := s.asserted(ctx, o, a); err != nil || !ok {
		return "", cmp.Or(err, error(account.ErrPasskeyLogIn))
	}
	s.Log.Info("an operator logged in", slog.Any("operator", o.ID))
	return s.begin(o.ID, endings)
}

// handled returns the enabled operator that passkeys name by a handle, nil if there is none, and how
// often the operator's access was ended before it was looked at.
func (s *Service) handled(handle []byte) (*bourse.Operator, uint64) {
	operators := s.View.Operators()
	at := slices.IndexFunc(operators, func(o bourse.Operator) bool { return string(o.Token[:]) == string(handle) })
	if at < 0 {
		return nil, 0
	}

	endings := s.endings(operators[at].ID)
	o, _ := s.ByID(operators[at].ID)
	if !o.Enabled {
		return nil, 0
	}
	return &o, endings
}

// asserted reports whether an operator's passkey answered a challenge that is fresh, for the first
// time.
func (s *Service) asserted(ctx context.Context, o *bourse.Operator, a *account.Assertion) (bool, error) {
	row, err := s.row(ctx, o)
	if err != nil || row == nil {
		return false, err
	}
	owner := account.PasskeyOwner{Handle: o.Token[:], Passkeys: []account.Passkey{{
		Credential: row.Credential, PublicKey: row.PublicKey, Synced: row.Synced,
	}}}
	k, ok := s.party.Asserts(&owner, a.Challenge(), a)
	if !ok || !s.take(a.Challenge()) {
		return false, nil
	}
	return s.Store.UseOperator(ctx, o.Token, k.Counter, s.now())
}

// row returns the operator's row; nil if there is none, or another one than the journal's.
func (s *Service) row(ctx context.Context, o *bourse.Operator) (*Row, error) {
	rows, err := s.Store.Operators(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(r Row) bool { return r.Token == o.Token })
	if at < 0 || rows[at].Digest() != o.Digest {
		s.OnForged("operator", fmt.Errorf("operator %d has no row, or not the journal's", o.ID))
		return nil, nil //nolint:nilnil // a row that differs is ignored
	}
	return &rows[at], nil
}

// begin begins a session and returns its secret. The error is [account.ErrPasskeyLogIn] if the
// operator's access was ended again meanwhile.
func (s *Service) begin(id bourse.OperatorID, endings uint64) (account.Secret, error) {
	var b [32]byte
	if _, err := io.ReadFull(s.Random, b[:]); err != nil {
		return "", fmt.Errorf("drawing a secret: %w", err)
	}
	secret := account.Secret(hex.EncodeToString(b[:]))

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[id] != endings {
		return "", account.ErrPasskeyLogIn
	}
	now := s.now()
	maps.DeleteFunc(s.sessions, func(_ [32]byte, one *session) bool { return one.expires <= now })
	s.endOldest(id)
	s.last++
	s.sessions[sha256.Sum256([]byte(secret))] = &session{s.last, id, now + sessionFor}
	return secret, nil
}

// endOldest makes room for one more session of an operator. The caller holds mu.
func (s *Service) endOldest(id bourse.OperatorID) {
	var oldest [32]byte
	n, least := 0, s.last+1
	for hash, one := range s.sessions {
		if one.operator != id {
			continue
		}
		if n++; one.id < least {
			oldest, least = hash, one.id
		}
	}
	if n >= mostSessions {
		delete(s.sessions, oldest)
	}
}

// Authenticate finds the operator of the secret of a session or a key: see Caller. Account of the identity
// of a session is the operator's id, and that of a key pays for the key alone: nothing that asks operators
// has accounts of customers. The errors are those of the store, and [account.ErrUnauthorized] for any secret
// but that of a live session or key of an enabled operator.
func (s *Service) Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error) {
	if IsKey(secret) {
		return s.byKey(ctx, secret, from)
	}
	one := s.live(secret)
	if one == nil {
		return account.Identity{}, account.ErrUnauthorized
	}
	return account.Identity{
		Account: bourse.AccountID(one.operator), Scopes: account.ScopeRead | account.ScopeAccount, Session: one.id,
		Expires: one.expires,
	}, nil
}

// IsLive reports whether a secret is that of a live session of an enabled operator.
func (s *Service) IsLive(secret account.Secret) bool { return s.live(secret) != nil }

// live returns the live session of a secret; nil if there is none.
func (s *Service) live(secret account.Secret) *session {
	s.mu.Lock()
	one := s.sessions[sha256.Sum256([]byte(secret))]
	s.mu.Unlock()
	if one == nil || one.expires <= s.now() {
		return nil
	}
	if o, found := s.ByID(one.operator); !found || !o.Enabled {
		return nil
	}
	return one
}

// LogOut ends a session.
func (s *Service) LogOut(id account.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.sessions, func(_ [32]byte, one *session) bool { return one.id == id })
}

// ByID returns an operator as the journal has it.
func (s *Service) ByID(id bourse.OperatorID) (bourse.Operator, bool) {
	operators := s.View.Operators()
	if id == 0 || int(id) > len(operators) {
		return bourse.Operator{}, false
	}
	return operators[id-1], true
}

// Confirm wants an operator's passkey to sign for a request with a digest, within
// [account.FactorFor] and once. Without an assertion the error is an *account.FactorError with the
// challenge, for another one [account.ErrWrongPasskey].
func (s *Service) Confirm(
	ctx context.Context, id bourse.OperatorID, digest account.Digest, a *account.Assertion,
) error {
	if err := s.dropKeys(ctx); err != nil {
		return err // an operator enabled again has no keys from before
	}
	o, found := s.ByID(id)
	if !found || s.party == nil {
		return account.ErrNoParty
	}
	row, err := s.row(ctx, &o)
	if err != nil {
		return err
	}
	if row == nil {
		return account.ErrWrongPasskey
	}
	about := append(binary.LittleEndian.AppendUint16(nil, uint16(id)), digest[:]...)
	if a == nil {
		challenge, err := s.challenge(about)
		if err != nil {
			return err
		}
		asked := s.party.Asks(challenge, [][]byte{row.Credential})
		return &account.FactorError{Provider: account.ProviderPasskey, Place: "your passkey", Passkey: &asked}
	}

	if !s.fresh(a.Challenge(), about) {
		return account.ErrWrongPasskey
	}
	if ok, err := s.asserted(ctx, &o, a); err != nil || !ok {
		return cmp.Or(err, error(account.ErrWrongPasskey))
	}
	return nil
}
