package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
)

func TestFromWhom(t *testing.T) {
	n := &Node{Options: Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Log: slog.New(slog.DiscardHandler),
	}}
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
		if got := n.from(r).String(); got != c.want {
			t.Errorf("peer %s for %q: %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
}

// TestDistrustIsTold wants a warning for each peer that is not trusted and speaks for
// others, once an hour, with what to set, and a bounded number of them.
func TestDistrustIsTold(t *testing.T) {
	var log strings.Builder
	n := &Node{Options: Options{
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	}}
	ask := func(peer string, header string) {
		r := &http.Request{RemoteAddr: peer + ":5", Header: http.Header{}}
		if header != "" {
			r.Header.Set(header, "198.51.100.7")
		}
		n.from(r)
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
		if due := n.forwarded.due(netip.MustParseAddr("172.16.0.1"), now.Add(after)); due != (after > time.Minute) {
			t.Errorf("due after %s: %v", after, due)
		}
	}
}

// TestMetricsKnowTheirHost wants pages of other names to read nothing, whatever
// address their name leads to.
func TestMetricsKnowTheirHost(t *testing.T) {
	h := knownHost("metrics.internal", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:9100": 200, "127.0.0.1:9100": 200, "127.1.2.3": 200, "[::1]:9100": 200, "[::1]": 200,
		"metrics.internal:9100": 200, "Metrics.Internal": 200, "192.0.2.7:9100": 200, "[::ffff:192.0.2.7]": 200,
		"": 421, "evil.example": 421, "evil.example:9100": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421,
		"192.0.2.8": 421, "metrics.internal.evil.example": 421, "0": 421, "2130706433": 421,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 9100}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, here)))
		if w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

func TestBrokenInvariantEndsTheProcess(t *testing.T) {
	n := &Node{failed: make(chan error, 1)}
	serve := func(cause any) {
		defer func() { _ = recover() }()
		n.watchful(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(cause) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}
	serve("something else")
	select {
	case err := <-n.failed:
		t.Fatalf("stopped for %v", err)
	default:
	}
	serve(bourse.InvariantError("a test's"))
	var broken bourse.InvariantError
	if err := <-n.failed; !errors.As(err, &broken) {
		t.Errorf("stopped for %v", err)
	}
}
