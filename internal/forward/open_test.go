package forward_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestOpen opens streams at the leader for a client of this node. The leader has the client's address and what proxies say, and no
// cookie. A stream ends with its client, with the forwarder and once another node leads; its place is free then. Refusals are errors.
func TestOpen(t *testing.T) {
	refusal := 0
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusal != 0 {
			w.WriteHeader(refusal)
			return
		}
		if r.URL.String() != "/stream" || r.RemoteAddr != "192.0.2.1:7" || r.Header.Get("X-Forwarded-For") != "192.0.2.2" || r.Header.Get("Cookie") != "" {
			t.Errorf("the leader is asked for %s by %s, %v", r.URL, r.RemoteAddr, r.Header)
		}
		switched(t, w, r, func(c net.Conn, rw *bufio.ReadWriter) { _, _ = io.Copy(c, rw) })
	}))
	q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/web/stream?x=1", nil)
	q.RemoteAddr = "192.0.2.1:7"
	q.Header = http.Header{
		"Connection": {"keep-alive, Upgrade, X-Other"}, "Upgrade": {"websocket"}, "X-Forwarded-For": {"192.0.2.2"}, "Cookie": {"a=b"},
		"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "Bourse-Forwarded-Peer": {"192.0.2.9:1"},
	}
	open := func() io.ReadWriteCloser {
		t.Helper()
		s, err := p.forwarder.Open(q, "/stream")
		must(t, err)
		_, err = io.WriteString(s, "hello")
		must(t, err)
		said := make([]byte, 5)
		if _, err := io.ReadFull(s, said); err != nil || !bytes.Equal(said, []byte("hello")) {
			t.Fatalf("the leader says %q, %v", said, err)
		}
		return s
	}
	ended := func(s io.Reader) {
		t.Helper()
		if n, err := s.Read(make([]byte, 1)); err == nil {
			t.Errorf("a stream that ended has %d bytes more", n)
		}
		if n := p.forwarder.Streams(); n != 0 {
			t.Errorf("%d places are taken", n)
		}
	}

	one := open()
	must(t, one.Close())
	must(t, one.Close())
	ended(one)
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusOK} {
		refusal = status
		_, err := p.forwarder.Open(q, "/stream")
		var known *bourse.Error
		if !errors.As(err, &known) || known.Code == bourse.CodeBusy != (status == http.StatusTooManyRequests) {
			t.Errorf("the leader answers %d: %v", status, err)
		}
	}
	refusal = 0
	p.unknown.Store(true)
	if _, err := p.forwarder.Open(q, "/stream"); err == nil || !strings.Contains(err.Error(), "No node leads") {
		t.Error(err)
	}
	p.unknown.Store(false)
	p.away.Store(true)
	if _, err := p.forwarder.Open(q, "/stream"); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
	p.away.Store(false)

	two := open()
	p.leads.Add(1)
	ended(two)
	three := open()
	p.forwarder.Close()
	ended(three)
}

// TestOpenedStreamsTakePlaces opens streams for one address until no place is left for it.
func TestOpenedStreamsTakePlaces(t *testing.T) {
	p := newPair(t, nil) // each is refused by the gate once it has its place
	q := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/stream", nil)
	leave := p.forwarder.TakeStreams(q)
	if _, err := p.forwarder.Open(q, "/stream"); err == nil || !strings.Contains(err.Error(), "Too many") {
		t.Errorf("a stream beyond the bound: %v", err)
	}
	leave()
	if _, err := p.forwarder.Open(q, "/stream"); err == nil || strings.Contains(err.Error(), "Too many") {
		t.Errorf("a stream within the bound: %v", err)
	}
}

// TestEndedStreamsAreForgotten opens a stream and closes it. The forwarder, which lives on, keeps nothing of it: a stranger whose
// key is refused opens one with each auth.
func TestEndedStreamsAreForgotten(t *testing.T) {
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switched(t, w, r, func(_ net.Conn, rw *bufio.ReadWriter) { _, _ = io.Copy(io.Discard, rw) })
	}))
	waiting := p.forwarder.Waiting()
	s, err := p.forwarder.Open(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/stream", nil), "/stream")
	must(t, err)
	if waiting() == 0 {
		t.Error("the stream does not end with the forwarder")
	}
	must(t, s.Close())
	for waiting() > 0 {
		runtime.Gosched()
	}
}
