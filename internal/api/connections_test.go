package api

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestConnectionsOfANetwork opens connections from many /64 networks in one /48 network:
// it may have four times the connections of a source, and its neighbour the same.
func TestConnectionsOfANetwork(t *testing.T) {
	var c Connections
	for _, site := range []string{"2001:db8:1", "2001:db8:2"} {
		for i := range 40 {
			from := netip.MustParseAddr(fmt.Sprintf("%s:%x::1", site, i))
			if fits := c.Add(from, 3); fits != (i < 12) {
				t.Errorf("connection %d of %s: %t", i, site, fits)
			}
			if i >= 12 {
				c.Remove(from)
			}
		}
	}

	one := netip.MustParseAddr("192.0.2.1")
	for i := range 4 {
		if fits := c.Add(one, 3); fits != (i < 3) {
			t.Errorf("connection %d of one address: %t", i, fits)
		}
	}
	for i := range 40 {
		if from := netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}); !c.Add(from, 3) {
			t.Errorf("address %s has no room", from)
		}
	}
	if !c.Add(one, 0) {
		t.Error("without a limit there is no room")
	}
}

// TestConnectionsAreForgotten removes all counted connections.
func TestConnectionsAreForgotten(t *testing.T) {
	var c Connections
	from := []string{"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "2001:db8:0:1::1", "2001:db8::2"}
	for _, a := range from {
		c.Add(netip.MustParseAddr(a), 1)
	}
	c.Add(netip.Addr{}, 1)
	if len(c.open) != 5 {
		t.Errorf("counted are %v", c.open)
	}
	for _, a := range from {
		c.Remove(netip.MustParseAddr(a))
	}
	c.Remove(netip.Addr{})
	if len(c.open) != 0 {
		t.Errorf("left are %v", c.open)
	}
}
