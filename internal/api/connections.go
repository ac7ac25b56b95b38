package api

import (
	"net/netip"

	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	// networkBits is the length of the IPv6 networks that connections are counted by as
	// well: providers give a customer up to 48 bits, which hold 65,536 sources.
	networkBits = 48
	// networkShare is how many sources' connections such a network may have.
	networkShare = 4
)

// Connections counts connections by source and, of IPv6, by network. The zero value
// counts none yet. Not safe for concurrent use.
type Connections struct {
	open map[netip.Prefix]int
}

// Add counts a connection. It reports whether its source has at most perSource
// connections by now, and its network networkShare times as many; zero is no limit.
func (c *Connections) Add(from netip.Addr, perSource int) (fits bool) {
	if c.open == nil {
		c.open = map[netip.Prefix]int{}
	}

	source, network := counted(from)
	c.open[source]++
	fits = c.open[source] <= perSource
	if network.IsValid() {
		c.open[network]++
		fits = fits && c.open[network] <= networkShare*perSource
	}
	return fits || perSource == 0
}

// Remove takes back what Add counted, whatever it reported.
func (c *Connections) Remove(from netip.Addr) {
	source, network := counted(from)
	c.remove(source)
	if network.IsValid() {
		c.remove(network)
	}
}

func (c *Connections) remove(p netip.Prefix) {
	if c.open[p]--; c.open[p] == 0 {
		delete(c.open, p)
	}
}

// counted returns the source of a connection as a network, and the wider network around
// it; invalid if the address is not IPv6.
func counted(from netip.Addr) (source, network netip.Prefix) {
	at := account.Neighbourhood(from)
	source = netip.PrefixFrom(at, at.BitLen())
	if at.Is6() {
		network, _ = at.Prefix(networkBits)
	}
	return source, network
}
