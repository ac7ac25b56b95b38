package forward

import (
	"net/netip"
	"testing"
)

// TestPlaces fills a node from many addresses: no request takes a place beyond the bound, and each place is free again once its
// request has left.
func TestPlaces(t *testing.T) {
	p := places{most: 10, perSource: 3}
	at := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}) }
	var held []netip.Addr
	for n := range 5 {
		for range 4 {
			if p.take(at(n)) {
				held = append(held, at(n))
			}
		}
	}
	if len(held) != 10 || p.len() != 10 || held[3] == held[0] {
		t.Errorf("%d places of 10 are taken, by %v", p.len(), held)
	}
	for _, a := range held {
		p.leave(a)
	}
	if p.len() != 0 || !p.take(at(9)) {
		t.Errorf("%d places are taken after all have left", p.len())
	}
}
