package edge

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestFromWhom(t *testing.T) {
	p := &Proxies{
		Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"192.0.2.1:5", "198.51.100.7", "192.0.2.1"},
		{"10.1.1.1:5", "198.51.100.7", "198.51.100.7"},
		{"10.1.1.1:5", "203.0.113.9, 198.51.100.7", "198.51.100.7"},
		{"10.1.1.1:5", "198.51.100.7, 10.2.2.2", "198.51.100.7"},
		{"10.1.1.1:5", "nonsense", "10.1.1.1"},
		{"10.1.1.1:5", "", "10.1.1.1"},
		{"[::ffff:10.1.1.1]:5", "198.51.100.7", "198.51.100.7"},
		{"[2001:db8::1]:5", "", "2001:db8::1"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := p.From(r).String(); got != c.want {
			t.Errorf("peer %s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

// TestDistrustIsTold wants a warning for each peer that is not trusted and speaks for
// others, once an hour, with what to set, and a bounded number of them.
func TestDistrustIsTold(t *testing.T) {
	var log strings.Builder
	p := &Proxies{
		Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Clock: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	ask := func(peer string, header string) {
		r := &http.Request{RemoteAddr: peer + ":5", Header: http.Header{}}
		if header != "" {
			r.Header.Set(header, "198.51.100.7")
		}
		p.From(r)
	}
	ask("172.16.0.1", "")
	ask("10.0.0.1", "X-Forwarded-For")
	if log.Len() > 0 {
		t.Errorf("told was %s", log.String())
	}

	for i := range 1000 {
		ask(fmt.Sprintf("192.0.%d.%d", 2+i/250, i%250), "X-Forwarded-For")
		ask("172.16.0.1", "X-Forwarded-For")
	}
	if got := strings.Count(log.String(), "\n"); got != mostTold+1 {
		t.Errorf("%d warnings, want %d", got, mostTold+1)
	}
	if got := strings.Count(log.String(), `peer=172.16.0.1 set="trusted-proxies: [172.16.0.1/32]"`); got != 1 {
		t.Errorf("the proxy was told of %d times", got)
	}

	now := time.Now()
	for _, after := range []time.Duration{time.Minute, toldEvery} {
		if due := p.warned.due(netip.MustParseAddr("172.16.0.1"), now.Add(after)); due != (after > time.Minute) {
			t.Errorf("due after %s: %v", after, due)
		}
	}
}
