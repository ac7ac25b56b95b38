package account

import (
	"context"
	"crypto/subtle"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// credential is what authentication has to know of a key.
type credential struct {
	Identity
	hash      Hash
	token     bourse.Token
	addresses []netip.Prefix
	// used is when it was last used, and noted whether that is on the list of what
	// the store has to be told.
	used  atomic.Int64
	noted atomic.Bool
	// session is that of a session.
	session Session
}

// useStep is how exactly it is known when a key was last used: who uses one often
// must not have all processors write to one place.
const useStep = bourse.Second

// errUnauthorized is the answer for every secret that is no good. It does not
// say why.
var errUnauthorized = bourse.Errorf(bourse.CodeUnauthorized, "Unauthorized")

// errStale is the answer for every secret while the store has been away too long.
var errStale = bourse.Errorf(bourse.CodeUnavailable, "Accounts are away; try again later")

// Reached says that the store has answered.
func (s *Service) Reached() { s.reached.Store(int64(s.now())) }

// stale reports whether the store has been away for longer than keys may be taken
// from memory.
func (s *Service) stale(now bourse.Time) bool {
	return s.Grace != 0 && now-bourse.Time(s.reached.Load()) > bourse.Time(s.Grace.Microseconds())
}

// Authenticate says whose a secret is, if it may be used now and from there. The
// error is always the same *bourse.Error with CodeUnauthorized, but for one with
// CodeUnavailable while the store has been away for too long. It reads memory
// alone. A frozen account is known like any other: it may look, and the engine
// refuses its orders.
func (s *Service) Authenticate(_ context.Context, secret Secret, from netip.Addr) (Identity, error) {
	if !secret.wellFormed() {
		return Identity{}, errUnauthorized
	}
	if s.stale(s.now()) {
		return Identity{}, errStale
	}
	hash := secret.hash()
	s.mu.RLock()
	c := s.credentials[hash]
	good := c != nil && s.facts.good(c)
	s.mu.RUnlock()
	// The map compares byte by byte, but hashes: their prefixes tell nothing
	// about a secret. The second look is for the day when somebody forgets it.
	now := s.now()
	if !good || subtle.ConstantTimeCompare(c.hash[:], hash[:]) != 1 || !c.usable(now, from) {
		return Identity{}, errUnauthorized
	}
	if int64(now)-c.used.Load() >= int64(useStep) {
		c.used.Store(int64(now))
		s.used.add(c)
	}
	return c.Identity, nil
}

// usedList is what was used since the store was last told, so that telling it costs
// what was used and not what there is.
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

// take empties the list.
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

// good reports whether the key or session of a credential is live in the journal.
func (f *facts) good(c *credential) bool {
	k := f.keys[c.Key]
	return k != nil && k.token == c.token && k.account == c.Account
}

func (c *credential) usable(now bourse.Time, from netip.Addr) bool {
	if c.Expires != 0 && now >= c.Expires {
		return false
	}
	if len(c.addresses) == 0 {
		return true
	}
	from = from.Unmap().WithZone("")
	for _, p := range c.addresses {
		if p.Contains(from) {
			return true
		}
	}
	return false
}

// row returns what is known of a key's row from when it was admitted.
func (c *credential) row() *KeyRow {
	return &KeyRow{Hash: c.hash, Token: c.token, Key: Key{
		ID: c.Key, Account: c.Account, Scopes: c.Scopes, Addresses: c.addresses, Expires: c.Expires,
	}}
}

// admit makes a key known to Authenticate. The caller holds mu.
func (s *Service) admit(row *KeyRow) {
	c := &credential{
		Identity: Identity{Account: row.Account, Key: row.ID, Scopes: row.Scopes, Expires: row.Expires},
		hash:     row.Hash, token: row.Token, addresses: row.Addresses,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash], s.byKey[row.ID] = c, c
}

// admitSession makes a session known to Authenticate. The caller holds mu.
func (s *Service) admitSession(row *SessionRow) {
	c := &credential{
		Identity: Identity{
			Account: row.Account, Key: row.ID.key(), Scopes: sessionScopes, Session: row.ID, Expires: row.Expires,
		},
		hash: row.Hash, session: row.Session,
	}
	c.used.Store(int64(row.Used))
	s.credentials[row.Hash], s.byKey[c.Key] = c, c
}

// Neighbourhood returns what counts as one address: of IPv6, the network of 64
// bits that a single customer of a provider has to himself.
func Neighbourhood(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, _ := a.Prefix(64)
	return p.Addr()
}
