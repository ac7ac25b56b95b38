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
