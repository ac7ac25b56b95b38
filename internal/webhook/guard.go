package webhook

import (
	"fmt"
	"net/netip"
	"syscall"
)

// reserved are the blocks of the registries of special purposes without a method in netip: blocks
// of no public server, and blocks whose addresses carry an IPv4 address, which could be private.
var reserved = prefixes(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // behind a carrier's NAT
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // relays of 6to4
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"240.0.0.0/4",     // reserved, and broadcast
	"2001::/23",       // protocol assignments, with Teredo
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4
	"3fff::/20",       // documentation
)

// publicIPv6 has all public addresses of IPv6.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// admit refuses an address that is not public, unless the rules permit it: an endpoint must not
// make the exchange a client of what only its own network reaches.
func (r Rules) admit(address netip.Addr) error {
	if r.Private || isPublic(address.Unmap()) {
		return nil
	}
	return fmt.Errorf("%s is not a public address; webhook-private permits it", address)
}

func isPublic(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !publicIPv6.Contains(a) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// control is net.Dialer's Control: it sees each address that a name was resolved to, right
// before the connection to it, so that no later answer of the name's server counts.
func (r Rules) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return r.admit(at.Addr().WithZone(""))
}
