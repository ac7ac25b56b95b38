package account

import (
	"context"
	"net/netip"

	"github.com/bourse-exchange/bourse"
)

// source returns the neighbourhood of a visit, the unit of quotas.
func (v Visit) source() netip.Addr { return Neighbourhood(v.From) }

// network returns the network around a source that one operator is likely to own: the /16
// of an IPv4 address, the /32 of an IPv6 one.
func network(source netip.Addr) netip.Prefix {
	bits := 16
	if source.Is6() {
		bits = 32
	}
	p, _ := source.Prefix(bits)
	return p
}

// mostLogIns bounds the log-ins whose addresses knows reads. Ten a day are 900 in 90 days.
const mostLogIns = 1000

// knows reports whether an account has a log-in from a source within the last 90 days, among its newest mostLogIns.
// Such a source has quotas of its own, which strangers cannot use up. An account that
// does not exist costs the same query.
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
