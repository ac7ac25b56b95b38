package cluster_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
)

// asker asks a node by requests, on one connection.
func asker(t *testing.T, from *cluster.Transport, node uint64) (*http.ClientConn, error) {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	client := &http.Transport{Protocols: protocols, DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return from.Dial(ctx, node, "h2")
	}}
	return client.NewClientConn(t.Context(), "https", "node:443")
}

// get asks for a page, and returns it.
func get(t *testing.T, c *http.ClientConn) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://node/", nil)
	want(t, err)
	a, err := c.RoundTrip(r)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	return string(text), err
}

// TestRequestsOfNodes has a node send requests to another one beside the messages of raft. A stranger sends none, and a node that is
// no member any more has its connections closed.
func TestRequestsOfNodes(t *testing.T) {
	sites := newSites(t, 3)
	listening, _ := run(t, sites[0].options(sites[:2]), sites[0].listener)
	member, _ := run(t, sites[1].options(sites), sites[1].listener)
	stranger, _ := run(t, sites[2].options(sites), sites[2].listener)
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }),
		ReadHeaderTimeout: time.Minute,
	}
	go func() { _ = server.Serve(listening.Requests()) }()
	defer func() { _ = server.Close() }()

	connect(member, 1)
	c, err := asker(t, member, 1)
	want(t, err)
	for range 2 {
		if text, err := get(t, c); text != "served" || err != nil {
			t.Errorf("a member gets %q, %v", text, err)
		}
	}
	if c, err := asker(t, stranger, 1); err == nil {
		if text, err := get(t, c); err == nil {
			t.Errorf("a stranger gets %q", text)
		}
	}
	if _, err := asker(t, member, 9); err == nil {
		t.Error("a node that is no member is dialed")
	}

	want(t, listening.Set(nil))
	if text, err := get(t, c); err == nil {
		t.Errorf("a node that left gets %q", text)
	}
}

// TestStreamsHaveSmallBuffers dials for a stream: what its client does not read fills small buffers of the kernel at both nodes.
func TestStreamsHaveSmallBuffers(t *testing.T) {
	sites := newSites(t, 2)
	listening, _ := run(t, sites[0].options(sites), sites[0].listener)
	member, _ := run(t, sites[1].options(sites), sites[1].listener)
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := listening.Requests().Accept()
		if err != nil {
			close(accepted)
			return
		}
		accepted <- conn
	}()
	connect(member, 1)
	dialed, err := member.Dial(t.Context(), 1, "http/1.1")
	want(t, err)
	defer func() { _ = dialed.Close() }()
	conn, ok := <-accepted
	if !ok {
		t.Fatal("no connection came")
	}
	defer func() { _ = conn.Close() }()

	size := func(c net.Conn, option int) (n int) {
		raw, err := cluster.Bare(c).SyscallConn()
		want(t, err)
		want(t, raw.Control(func(fd uintptr) { n, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, option) }))
		want(t, err)
		return n
	}
	const least, most = cluster.StreamBuffer, 2 * cluster.StreamBuffer // Linux doubles it
	if n := size(conn, syscall.SO_SNDBUF); n < least || n > most {
		t.Errorf("the leader keeps %d bytes", n)
	}
	if n := size(dialed, syscall.SO_RCVBUF); n < least || n > most {
		t.Errorf("the other node keeps %d bytes", n)
	}
}
