package node

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/bourse-exchange/bourse"
)

func TestFromWhom(t *testing.T) {
	n := &Node{Options: Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
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

func TestMetricsStayHere(t *testing.T) {
	h := loopback(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		peer, header string
		want         int
	}{
		{"127.0.0.1:5", "", http.StatusOK},
		{"[::1]:5", "", http.StatusOK},
		{"192.0.2.1:5", "", http.StatusNotFound},
		{"127.0.0.1:5", "X-Forwarded-For", http.StatusNotFound},
		{"127.0.0.1:5", "Forwarded", http.StatusNotFound},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.RemoteAddr = c.peer
		if c.header != "" {
			r.Header.Set(c.header, "198.51.100.7")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("peer %s with %q: %d", c.peer, c.header, w.Code)
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
