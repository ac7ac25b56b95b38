package edge

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

func TestRoom(t *testing.T) {
	for files, want := range map[uint64]int{0: 0, 100: 50, 1024: 768, 1 << 20: 1<<20 - 256, 1<<64 - 1: 1 << 30} {
		if got := room(files); got != want {
			t.Errorf("%d files leave %d connections, want %d", files, got, want)
		}
	}
}

// connFrom is a connection from an address.
type connFrom struct {
	net.Conn
	from string
}

func (c connFrom) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(c.from), 5))
}

// crowd are connections that come and go.
type crowd struct {
	*testing.T
	*Admission
}

func newCrowd(t *testing.T, most, perPeer int) *crowd {
	return &crowd{t, &Admission{
		most: most, perPeer: perPeer, streams: func() int { return 0 }, log: slog.New(slog.DiscardHandler),
		trusts: func(a netip.Addr) bool { return a.String() == "10.0.0.1" || a.String() == "fd00::1" },
	}}
}

// come opens a connection, which is to be closed at once unless it is welcome.
func (c *crowd) come(from string, welcome bool) {
	c.Helper()
	c.comeTo(c.State, from, welcome)
}

func (c *crowd) comeTo(listener func(net.Conn, http.ConnState), from string, welcome bool) {
	c.Helper()
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close() }()
	listener(connFrom{ours, from}, http.StateNew)
	go func() { _, _ = ours.Write([]byte{1}) }()
	if _, err := theirs.Read(make([]byte, 1)); (err == nil) != welcome {
		c.Errorf("%s, welcome %v: %v", from, welcome, err)
	}
}

func (c *crowd) leave(from string, how http.ConnState) { c.State(connFrom{from: from}, how) }

// TestConnectionsAreBounded wants a connection too many to be closed, also when
// others have become streams, and room again when one has gone.
func TestConnectionsAreBounded(t *testing.T) {
	streams := 0
	c := newCrowd(t, 3, 0)
	c.streams = func() int { return streams }
	c.come("192.0.2.1", true)
	c.come("192.0.2.1", true)
	c.leave("192.0.2.1", http.StateHijacked)
	streams++
	if !c.Room() {
		t.Error("no room beside two connections of three")
	}
	c.come("192.0.2.2", true)
	if c.Room() {
		t.Error("room beside three connections")
	}
	c.come("192.0.2.3", false)
	c.leave("192.0.2.3", http.StateClosed) // the one that was turned away
	c.come("192.0.2.3", false)
	c.leave("192.0.2.3", http.StateClosed)
	c.leave("192.0.2.2", http.StateClosed)
	c.come("192.0.2.3", true)
}

// TestOperatorsHaveRoom wants operators to be let in while customers have taken all the room, though not without a
// bound.
func TestOperatorsHaveRoom(t *testing.T) {
	c := newCrowd(t, 2, keptForOperators)
	c.come("192.0.2.1", true)
	c.come("192.0.2.1", true)
	c.come("192.0.2.2", false)
	for i := range keptForOperators + 1 {
		c.comeTo(c.StateOfOperators, "192.0.2.3", i < keptForOperators)
	}
	c.StateOfOperators(connFrom{from: "192.0.2.3"}, http.StateClosed) // the one that was turned away
	c.StateOfOperators(connFrom{from: "192.0.2.3"}, http.StateClosed)
	c.comeTo(c.StateOfOperators, "192.0.2.4", true)
	c.comeTo(c.StateOfOperators, "192.0.2.4", false)
	c.come("192.0.2.2", false)
}

// TestPeersAreBounded wants one address to leave room for the others, a network of
// one customer to count as one, and a proxy to have as many as it likes.
func TestPeersAreBounded(t *testing.T) {
	c := newCrowd(t, 100, 2)
	for _, from := range [][2]string{{"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8::2"}} {
		c.come(from[0], true)
		c.come(from[1], true)
		c.come(from[0], false)
		c.leave(from[0], http.StateClosed)
		c.come(from[1], false)
		c.leave(from[1], http.StateClosed)
		c.leave(from[1], http.StateClosed)
		c.come(from[0], true)
	}
	for range 10 {
		c.come("10.0.0.1", true)
		c.come("fd00::1", true)
	}
	c.leave("192.0.2.1", http.StateClosed)
	c.leave("192.0.2.1", http.StateHijacked)
	c.come("192.0.2.1", true)
	c.come("192.0.2.1", true)
	c.come("192.0.2.1", false)
}

// TestNetworksAreBounded wants one network of 48 bits to leave room for the others,
// whichever of its addresses it comes from.
func TestNetworksAreBounded(t *testing.T) {
	c := newCrowd(t, 100, 2)
	for i := range 20 {
		c.come(fmt.Sprintf("2001:db8:0:%x::1", i), i < 8)
	}
	c.come("2001:db8:1::1", true)
	for i := range 20 {
		c.leave(fmt.Sprintf("2001:db8:0:%x::1", i), http.StateClosed)
	}
	c.come("2001:db8:0:77::1", true)
}
