package api

import (
	"net/netip"

	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	// networkBits is the prefix length by which IPv6 connections are also counted:
	// providers give a customer up to 48 bits, 65,536 sources.
	networkBits = 48
	// networkShare is the connections of such a network, as a multiple of a source's.
	networkShare = 4
)

// Connections counts connections by source and, for IPv6, by network. The zero value is
// empty. Not safe for concurrent use.
type Connections struct {
	open map[netip.Prefix]int
}

// Add counts a connection. It reports whether its source now has at most perSource
// connections and its network at most networkShare times as many; zero is no limit.
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

// Remove undoes Add, whatever Add reported.
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

// counted returns the source of a connection as a prefix, and the network around it,
// which is invalid unless the address is IPv6.
func counted(from netip.Addr) (source, network netip.Prefix) {
	at := account.Neighbourhood(from)
	source = netip.PrefixFrom(at, at.BitLen())
	if at.Is6() {
		network, _ = at.Prefix(networkBits)
	}
	return source, network
}
