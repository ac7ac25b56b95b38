package account

import (
	"context"
	"net/netip"

	"github.com/bourse-exchange/bourse"
)

// source returns the neighbourhood that a visit came from, which quotas count by.
func (v Visit) source() netip.Addr { return Neighbourhood(v.From) }

// network returns the network of a source that one operator is likely to own: 16
// bits of an IPv4 address, 32 of an IPv6 one.
func network(source netip.Addr) netip.Prefix {
	bits := 16
	if source.Is6() {
		bits = 32
	}
	p, _ := source.Prefix(bits)
	return p
}

// mostLogIns is how many sources of log-ins are looked through.
const mostLogIns = 64

// knows reports whether somebody has logged in to an account from a source within the
// last 90 days. Such a source has quotas of its own, which no stranger uses up. It
// asks the store the same for an account that is not there.
func (s *Service) knows(ctx context.Context, id bourse.AccountID, source netip.Addr) (bool, error) {
	list, err := s.Store.LogIns(ctx, id, mostLogIns)
	if err != nil {
		return false, err
	}
	for _, text := range list {
		if a, err := netip.ParseAddr(text); err == nil && Neighbourhood(a) == source {
			return true, nil
		}
	}
	return false, nil
}
