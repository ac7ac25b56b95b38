package main

import (
	"net"
	"testing"
)

// TestListenAt takes ports that systems give to nobody else, and the port that is named only if it is free.
func TestListenAt(t *testing.T) {
	for range 100 {
		l, err := listenAt("127.0.0.1", anyPort)
		must(t, err)
		defer func() { _ = l.Close() }()
		if port := l.Addr().(*net.TCPAddr).Port; port < firstPort || port > lastPort {
			t.Fatalf("port %d", port)
		}
		_, named, err := net.SplitHostPort(l.Addr().String())
		must(t, err)
		if other, err := listenAt("127.0.0.1", named); err == nil {
			_ = other.Close()
			t.Fatalf("port %s is taken twice", named)
		}
	}
}

// TestPortOf gives nodes the ports from the first one's on.
func TestPortOf(t *testing.T) {
	for _, c := range []struct{ first, second string }{
		{"127.0.0.1:9100", "127.0.0.1:9101"}, {"[::1]:1", "[::1]:2"}, {"127.0.0.1:0", "127.0.0.1:0"}, {"", ""},
	} {
		for node, want := range map[uint64]string{1: c.first, 2: c.second} {
			if got, err := portOf(c.first, node); got != want || err != nil {
				t.Errorf("%q, node %d: %q, %v", c.first, node, got, err)
			}
		}
	}
	for _, bad := range []string{"9100", "127.0.0.1:metrics", "127.0.0.1:70000"} {
		if got, err := portOf(bad, 1); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
