package account

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// credential is the part of a key or session that authentication reads.
type credential struct {
	Identity
	hash      Hash
	token     bourse.Token
	addresses []netip.Prefix
	// kind is the credential's kind. material is the column of the key's row, and secret the
	// signing secret of a key of KindHMAC.
	kind     KeyKind
	material []byte
	secret   Secret
	// used is the time of the last use. noted is set while the credential is in usedList.
	used  atomic.Int64
	noted atomic.Bool
	// session is set for sessions only.
	session Session
}

// useStep is the resolution of used: a busy key must not have all processors write to one
// cache line.
const useStep = bourse.Second

// ErrUnauthorized is the answer to every bad secret, and does not give the reason.
var ErrUnauthorized = bourse.Errorf(bourse.CodeUnauthorized, "Unauthorized")

// errStale is the answer to every secret while the store is unreachable for longer than
// Grace.
var errStale = bourse.Errorf(bourse.CodeUnavailable, "Accounts are away; try again later")

// Reached notes that the store has answered.
func (s *Service) Reached() { s.reached.Store(int64(s.now())) }

// stale reports whether the store has been unreachable for longer than Grace.
func (s *Service) stale(now bourse.Time) bool {
	return s.Grace != 0 && now-bourse.Time(s.reached.Load()) > bourse.Time(s.Grace.Microseconds())
}

// Authenticate returns the identity behind a secret that is valid now and from this
// address. It reads memory alone. Every failure is ErrUnauthorized, except for
// CodeUnavailable while the store has been unreachable for too long. The id of a key that
// signs is no secret of this kind: it fails as well. The owner of a frozen account
// authenticates like any other: reads are allowed, and the engine refuses the orders.
func (s *Service) Authenticate(_ context.Context, secret Secret, from netip.Addr) (Identity, error) {
	c, err := s.find(secret, from)
	if err != nil {
		return Identity{}, err
	}
	if c.kind != KindSecret {
		return Identity{}, ErrUnauthorized
	}
	s.note(c, s.now())
	return c.Identity, nil
}

// find returns the credential of a secret or a signing key's id that is valid now and from
// this address. The errors are those of Authenticate.
func (s *Service) find(secret Secret, from netip.Addr) (*credential, error) {
	if !secret.wellFormed() {
		return nil, ErrUnauthorized
	}
	if s.stale(s.now()) {
		return nil, errStale
	}

	hash := secret.hash()
	s.mu.RLock()
	c := s.credentials[hash]
	good := c != nil && s.facts.good(c)
	s.mu.RUnlock()

	// The map compares hashes, so its timing leaks prefixes of a hash and not of the
	// secret. The constant-time comparison is a second line of defence.
	now := s.now()
	if !good || subtle.ConstantTimeCompare(c.hash[:], hash[:]) != 1 || !c.usable(now, from) {
		return nil, ErrUnauthorized
	}
	return c, nil
}

// note notes the use of a credential.
func (s *Service) note(c *credential, now bourse.Time) {
	if int64(now)-c.used.Load() >= int64(useStep) {
		c.used.Store(int64(now))
		s.used.add(c)
	}
}

// usedList holds the credentials used since the store was last told, so that an update
// costs as much as was used, not as much as exists.
type usedList struct {
	mu   sync.Mutex
	list []*credential
}

func (l *usedList) add(c *credential) {
	if c.noted.Swap(true) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, c)
}

// take empties the list and returns its credentials.
func (l *usedList) take() []*credential {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	for _, c := range list {
		c.noted.Store(false)
	}
	return list
}

// good reports whether the journal has the credential's key or session as live.
func (f *facts) good(c *credential) bool {
	k := f.keys[c.Key]
	return k != nil && k.token == c.token && k.account == c.Account
}

func (c *credential) usable(now bourse.Time, from netip.Addr) bool {
	if c.Expires != 0 && now >= c.Expires {
		return false
	}
	return Admits(c.addresses, from)
}

// Admits reports whether a key with networks may be used from an address. No networks admit any.
func Admits(addresses []netip.Prefix, from netip.Addr) bool {
	if len(addresses) == 0 {
		return true
	}
	from = from.Unmap().WithZone("")
	for _, p := range addresses {
		if p.Contains(from) {
			return true
		}
	}
	return false
}

// row returns the key's row as it was admitted, without the name and the times.
func (c *credential) row() *KeyRow {
	return &KeyRow{Hash: c.hash, Token: c.token, Material: c.material, Key: Key{
		ID: c.Key, Account: c.Account, Kind: c.kind, Scopes: c.Scopes, Addresses: c.addresses, Expires: c.Expires,
	}}
}

// admit adds a key to Authenticate's map, unless its secret cannot be unsealed. The caller
// holds mu.
func (s *Service) admit(row *KeyRow) {
	secret, err := s.signingSecret(row)
	if err != nil {
		s.OnFailure(fmt.Sprintf("key %d of account %d is refused", row.ID, row.Account), err)
		return
	}
	c := &credential{
		Identity: Identity{Account: row.Account, Key: row.ID, Scopes: row.Scopes, Expires: row.Expires},
		hash:     row.Hash, token: row.Token, addresses: row.Addresses,
		kind: row.Kind, material: row.Material, secret: secret,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash], s.byKey[row.ID] = c, c
}

// admitSession adds a session to Authenticate's map. The caller holds mu.
func (s *Service) admitSession(row *SessionRow) {
	c := &credential{
		Identity: Identity{
			Account: row.Account, Key: row.ID.key(), Scopes: sessionScopes, Session: row.ID, Expires: row.Expires,
		},
		hash: row.Hash, kind: KindSecret, session: row.Session,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash], s.byKey[c.Key] = c, c
}

// Neighbourhood returns the unit by which clients are counted: an IPv4 address, or the
// /64 of an IPv6 address, which a provider gives to a single customer.
func Neighbourhood(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, _ := a.Prefix(64)
	return p.Addr()
}
