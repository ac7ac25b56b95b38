package account

import (
	"net/netip"

	"github.com/bourse-exchange/bourse"
)

// Holder returns the identity of a key or session that was authenticated before, if it is
// still good and may be used from this address. It reads memory alone. The errors are those of
// Authenticate.
func (s *Service) Holder(key bourse.KeyID, from netip.Addr) (Identity, error) {
	now := s.now()
	if s.stale(now) {
		return Identity{}, errStale
	}

	s.mu.RLock()
	c := s.byKey[key]
	good := c != nil && s.facts.good(c)
	s.mu.RUnlock()
	if !good || !c.usable(now, from) {
		return Identity{}, ErrUnauthorized
	}
	s.note(c, now)
	return c.Identity, nil
}
