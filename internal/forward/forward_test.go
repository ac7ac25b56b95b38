package forward_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// pair is a node that forwards, and the one that leads.
type pair struct {
	t         *testing.T
	gate      *forward.Gate
	forwarder *forward.Forwarder
	// url is where the forwarding node listens; leader is the node port of the other one.
	url    string
	leader net.Listener
	// away makes every dial fail; unknown has forwarder know no leader.
	away, unknown atomic.Bool
	// leads is the number of the node that leads beyond the first.
	leads atomic.Uint64
	// dialing, if not nil, is called at the beginning of each dial.
	dialing func()
}

// newPair starts two nodes, of which one leads with a handler.
func newPair(t *testing.T, leader http.Handler) *pair {
	t.Helper()
	p := &pair{t: t, gate: &forward.Gate{Refuse: refuse}}
	cert, key, pin, err := pinned.Certify(time.Now())
	must(t, err)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "crt"), filepath.Join(dir, "key")
	must(t, errors.Join(os.WriteFile(certFile, cert, 0o600), os.WriteFile(keyFile, key, 0o600)))
	config, err := pinned.TLS(certFile, keyFile, pin)
	must(t, err)

	port := config.Clone()
	port.NextProtos = []string{forward.ProtocolHTTP2, forward.ProtocolHTTP1}
	p.leader, err = tls.Listen("tcp", "127.0.0.1:0", port)
	must(t, err)
	far := &http.Server{
		Handler: p.gate, Protocols: new(http.Protocols), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: forward.MostAtOnce},
	}
	far.Protocols.SetHTTP1(true)
	far.Protocols.SetHTTP2(true)
	go func() { _ = far.Serve(p.leader) }()
	t.Cleanup(func() { _ = far.Close() })
	if leader != nil {
		p.gate.Open(leader, nil)
	}

	to := forward.Leader{ID: 1, Dial: func(ctx context.Context, protocol string) (net.Conn, error) {
		if p.away.Load() {
			return nil, errors.New("the machine is away")
		}
		if p.dialing != nil {
			p.dialing()
		}
		c := config.Clone()
		c.NextProtos = []string{protocol}
		return (&tls.Dialer{Config: c}).DialContext(ctx, "tcp", p.leader.Addr().String())
	}}
	p.forwarder = forward.New(forward.Options{
		Leader: func() *forward.Leader {
			if p.unknown.Load() {
				return nil
			}
			now := to
			now.ID += p.leads.Load()
			return &now
		},
		From: func(r *http.Request) netip.Addr {
			if from, err := netip.ParseAddr(r.Header.Get("Source")); err == nil {
				return from
			}
			at, _ := netip.ParseAddrPort(r.RemoteAddr)
			return at.Addr()
		},
		Refuse: refuse, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	near := httptest.NewServer(p.forwarder)
	t.Cleanup(near.Close)
	t.Cleanup(p.forwarder.Close)
	p.url = near.URL
	return p
}

// refuse answers with the code of an error and its text.
func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	var known *bourse.Error
	errors.As(err, &known)
	w.Header().Set("Code", fmt.Sprint(known.Code))
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, known.Message)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answer is an answer that was read.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends a request, and returns the answer.
func (p *pair) ask(r *http.Request) answer {
	p.t.Helper()
	a, err := http.DefaultTransport.RoundTrip(r)
	must(p.t, err)
	body, err := io.ReadAll(a.Body)
	must(p.t, errors.Join(err, a.Body.Close()))
	return answer{a.StatusCode, a.Header, string(body)}
}

// request makes a request to the forwarding node.
func (p *pair) request(method, path, body string) *http.Request {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, strings.NewReader(body))
	must(p.t, err)
	return r
}

// refused wants a request to be refused with a code.
func (p *pair) refused(r *http.Request, code bourse.Code) {
	p.t.Helper()
	if a := p.ask(r); a.header.Get("Code") != fmt.Sprint(code) {
		p.t.Errorf("%s %s is answered %+v, want code %d", r.Method, r.URL, a, code)
	}
}

// TestForwarding has the leader see a request as if the client had sent it there, whatever the client says of its address in
// the headers that nodes use among themselves, and the client get the leader's answer.
func TestForwarding(t *testing.T) {
	var seen *http.Request
	var body string
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		seen, body = r, string(text)
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "answer")
	}))

	r := p.request(http.MethodPut, "//a/%2e/b%2Fc?x=1;y=%zz&&q", `{"k":1}`)
	r.Host = "exchange.example"
	for name, values := range map[string][]string{
		"X-Forwarded-For": {"192.0.2.1", "192.0.2.2"}, "Origin": {"http://exchange.example"}, "Cookie": {"s=1; t=2"},
		"Bourse-Forwarded-Peer": {"192.0.2.3:1"}, "Bourse-Forwarded-Local": {"192.0.2.4:1"}, "Upgrade": {"h2c"},
		"Connection": {"Bourse-Forwarded-Local, X-Private, Upgrade"}, "X-Private": {"1"}, "X-Twice": {"1", "2"}, "Expect": {"100-continue"},
	} {
		r.Header[name] = values
	}
	var from string
	direct := &http.Transport{DialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, at)
		if err == nil {
			from = c.LocalAddr().String()
		}
		return c, err
	}}
	defer direct.CloseIdleConnections()
	a, err := direct.RoundTrip(r)
	must(t, err)
	text, err := io.ReadAll(a.Body)
	must(t, errors.Join(err, a.Body.Close()))
	if a.StatusCode != http.StatusTeapot || string(text) != "answer" || !reflect.DeepEqual(a.Header["Set-Cookie"], []string{"a=1", "b=2"}) {
		t.Errorf("the client gets %s %v %s", a.Status, a.Header, text)
	}

	local, _ := seen.Context().Value(http.LocalAddrContextKey).(net.Addr)
	for what, pair := range map[string][2]any{
		"method": {seen.Method, http.MethodPut}, "target": {seen.RequestURI, "//a/%2e/b%2Fc?x=1;y=%zz&&q"}, "body": {body, `{"k":1}`},
		"host": {seen.Host, "exchange.example"}, "client": {seen.RemoteAddr, from}, "server": {"http://" + fmt.Sprint(local), p.url},
		"length": {seen.ContentLength, int64(7)}, "twice": {seen.Header["X-Twice"], []string{"1", "2"}},
		"origin": {seen.Header.Get("Origin"), "http://exchange.example"}, "cookie": {seen.Header.Get("Cookie"), "s=1; t=2"},
		"hops": {seen.Header["X-Forwarded-For"], []string{"192.0.2.1", "192.0.2.2"}},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: the leader sees %v, and the client meant %v", what, pair[0], pair[1])
		}
	}
	for _, name := range []string{"Bourse-Forwarded-Peer", "Bourse-Forwarded-Local", "X-Private", "Upgrade", "Connection", "Expect"} {
		if v, given := seen.Header[name]; given {
			t.Errorf("the leader sees %s: %v", name, v)
		}
	}
}

// TestLongBodies has the leader refuse a body that is too long, of which it gets a byte more than it may have.
func TestLongBodies(t *testing.T) {
	var size atomic.Int64
	p := newPair(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { size.Store(r.ContentLength) }))
	for given, want := range map[int]int64{0: 0, api.MaxBody: api.MaxBody, api.MaxBody + 1: api.MaxBody + 1, 1 << 20: api.MaxBody + 1} {
		p.ask(p.request(http.MethodPost, "/", strings.Repeat("x", given)))
		if size.Load() != want {
			t.Errorf("of %d bytes the leader gets %d, want %d", given, size.Load(), want)
		}
	}
}

// TestNotSent has requests refused as not taken while no leader is known, it cannot be reached, or it leads no more, which it says
// itself: it does not send them on. Then they reach it again.
func TestNotSent(t *testing.T) {
	served := 0
	leader := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ })
	p := newPair(t, nil)
	ask := func() *http.Request { return p.request(http.MethodPost, "/", "{}") }
	p.unknown.Store(true)
	p.refused(ask(), bourse.CodeUnavailable)
	p.unknown.Store(false)
	p.away.Store(true)
	p.refused(ask(), bourse.CodeUnavailable)
	p.refused(p.request("CONNECT", "", ""), bourse.CodeNotFound)
	p.away.Store(false)
	p.refused(ask(), bourse.CodeUnavailable)
	if served != 0 {
		t.Errorf("the leader served %d requests", served)
	}
	p.gate.Open(leader, nil)
	if a := p.ask(ask()); a.status != http.StatusOK || served != 1 {
		t.Errorf("%+v, and the leader served %d requests", a, served)
	}
	must(t, p.gate.Shutdown(t.Context()))
	p.refused(ask(), bourse.CodeUnavailable)
}

// TestUnsendable refuses what HTTP/2 has no form for, or what takes the leader far more bytes than this node, by a known outcome: it
// is not sent.
func TestUnsendable(t *testing.T) {
	p := newPair(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the leader gets a request") }))
	p.refused(p.request("CONNECT", "/order", ""), bourse.CodeNotFound)
	r := p.request(http.MethodGet, "/", "")
	r.Header.Set("Cookie", strings.Repeat(";", 16<<10))
	p.refused(r, bourse.CodeInvalid)
}

// TestNeverTwice breaks the connection once the leader has a request: the client learns that the outcome is unknown, and the
// leader gets no request a second time, also not one that a client of HTTP may repeat by itself.
func TestNeverTwice(t *testing.T) {
	var got atomic.Int64
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPut} {
		got.Store(0)
		one := newPair(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got.Add(1)
			s, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
			_ = s.Close()
		}))
		r := one.request(method, "/", "")
		r.Header.Set("Idempotency-Key", "1")
		one.refused(r, bourse.CodeUnknown)
		if n := got.Load(); n != 1 {
			t.Errorf("%s: the leader got %d requests", method, n)
		}
	}
}

// TestBrokenAnswers has the leader break off an answer: the client does not take the part for the whole, and nothing is repeated.
func TestBrokenAnswers(t *testing.T) {
	var got atomic.Int64
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		got.Add(1)
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	a, err := client.RoundTrip(p.request(http.MethodPost, "/", "{}"))
	if err == nil {
		_, err = io.ReadAll(a.Body)
		_ = a.Body.Close()
	}
	if err == nil || got.Load() != 1 {
		t.Errorf("an answer breaks off with %v; the leader got %d requests", err, got.Load())
	}
}

// TestSlowBodiesHoldNothing begins as many requests as one address may have on their way, and sends no body: another one of the
// same address is served.
func TestSlowBodiesHoldNothing(t *testing.T) {
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }))
	for range forward.RequestsPerSource {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		must(t, err)
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
		must(t, err)
	}
	if a := p.ask(p.request(http.MethodPost, "/", "{}")); a.body != "served" {
		t.Errorf("beside slow bodies: %+v", a)
	}
}

// TestForwardedRequestsAreBounded has one address fill its places with requests that the leader does not answer: its next one is
// refused, and once they are answered it is served.
func TestForwardedRequestsAreBounded(t *testing.T) {
	inside, answer := make(chan struct{}), make(chan struct{})
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inside <- struct{}{}
		<-answer
	}))
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	for range forward.RequestsPerSource {
		r := p.request(http.MethodGet, "/", "")
		all.Go(func() {
			a, err := client.RoundTrip(r)
			if err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("a request within the bound: %v %v", a, err)
				return
			}
			_ = a.Body.Close()
		})
	}
	for range forward.RequestsPerSource {
		<-inside
	}
	p.refused(p.request(http.MethodGet, "/", ""), bourse.CodeBusy)
	close(answer)
	all.Wait()
	go func() { <-inside }()
	if a := p.ask(p.request(http.MethodGet, "/", "")); a.status != http.StatusOK {
		t.Errorf("afterwards: %+v", a)
	}
}

// TestLeavingFreesNoPlace has clients leave while the leader is at their requests: it goes on, and the next request waits for a place
// until it has answered.
func TestLeavingFreesNoPlace(t *testing.T) {
	inside, answer, left := make(chan struct{}), make(chan struct{}), make(chan error, forward.RequestsPerSource)
	p := newPair(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		inside <- struct{}{}
		<-answer
		left <- r.Context().Err()
	}))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	client := &http.Transport{}
	var all sync.WaitGroup
	for range forward.RequestsPerSource {
		r := p.request(http.MethodPost, "/", "{}").WithContext(ctx)
		all.Go(func() {
			if a, err := client.RoundTrip(r); err == nil {
				_ = a.Body.Close()
				t.Error("a client that leaves is answered")
			}
		})
	}
	for range forward.RequestsPerSource {
		<-inside
	}
	leave()
	all.Wait()
	p.refused(p.request(http.MethodPost, "/", "{}"), bourse.CodeBusy)
	close(answer)
	for range forward.RequestsPerSource {
		if err := <-left; err != nil {
			t.Fatalf("a client left, and its request ended at the leader: %v", err)
		}
	}
}

// switched upgrades a client's connection at a leader, tells the client the address that the leader sees, and closes the
// connection behind serve.
func switched(t *testing.T, w http.ResponseWriter, r *http.Request, serve func(net.Conn, *bufio.ReadWriter)) {
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAt: " + r.RemoteAddr + "\r\n\r\n")
	_ = rw.Flush()
	serve(c, rw)
}

// TestForwardedStreams upgrades a connection at a node that does not lead: bytes pass both ways, also those that come before the
// answer, and the connection ends when the node forwards no more.
func TestForwardedStreams(t *testing.T) {
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switched(t, w, r, func(c net.Conn, rw *bufio.ReadWriter) { _, _ = io.Copy(c, rw) })
	}))
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly")
	must(t, err)
	r := bufio.NewReader(c)
	a, err := http.ReadResponse(r, nil) //nolint:bodyclose // it is the connection
	must(t, err)
	if a.StatusCode != http.StatusSwitchingProtocols || a.Header.Get("At") != c.LocalAddr().String() || p.forwarder.Streams() != 1 {
		t.Errorf("the upgrade: %s %v, %d streams", a.Status, a.Header, p.forwarder.Streams())
	}
	early := make([]byte, len("early"))
	if _, err := io.ReadFull(r, early); err != nil || string(early) != "early" {
		t.Errorf("what the client sent with its request comes back as %q: %v", early, err)
	}
	echo := bytes.Repeat([]byte("echo"), 1<<16)
	go func() { _, _ = c.Write(echo) }()
	back := make([]byte, len(echo))
	if _, err := io.ReadFull(r, back); err != nil || !bytes.Equal(back, echo) {
		t.Errorf("bytes come back changed, or not: %v", err)
	}
	p.forwarder.Close()
	if _, err := r.ReadByte(); err == nil {
		t.Error("the stream goes on")
	}
}

// TestRefusedUpgrade has the leader refuse an upgrade, whose answer reaches the client, and gives the place back.
func TestRefusedUpgrade(t *testing.T) {
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "too many", http.StatusTooManyRequests) }))
	r := p.request(http.MethodGet, "/stream", "")
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	if a := p.ask(r); a.status != http.StatusTooManyRequests || a.body != "too many\n" {
		t.Errorf("%+v", a)
	}
}

// TestDialsOfStreamsAreBounded opens many streams at once: the leader has few connections to greet at a time.
func TestDialsOfStreamsAreBounded(t *testing.T) {
	p := newPair(t, http.NotFoundHandler())
	var now, most atomic.Int64
	entered, pass := make(chan struct{}, 100), make(chan struct{})
	p.dialing = func() {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		entered <- struct{}{}
		<-pass
		now.Add(-1)
	}
	var all sync.WaitGroup
	for range 10 * forward.MostDials {
		r := p.request(http.MethodGet, "/stream", "")
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		all.Go(func() {
			if a, err := new(http.Transport).RoundTrip(r); err == nil {
				_ = a.Body.Close()
			}
		})
	}
	for range forward.MostDials {
		<-entered
	}
	close(pass)
	all.Wait()
	if most.Load() > forward.MostDials {
		t.Errorf("%d connections were made at once, of at most %d", most.Load(), forward.MostDials)
	}
}

// TestSpentConnection has the leader take no more requests on a connection that still has one: the others go on another one, and
// none of them has an unknown outcome.
func TestSpentConnection(t *testing.T) {
	inside, answer := make(chan struct{}), make(chan struct{})
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(inside)
			<-answer
		}
		w.Header().Set("Connection", "close") // HTTP/2 says by it that the connection is spent
		_, _ = io.WriteString(w, "served")
	}))
	slow := make(chan error, 1)
	r := p.request(http.MethodGet, "/slow", "")
	go func() {
		a, err := new(http.Transport).RoundTrip(r)
		if err == nil {
			err = a.Body.Close()
		}
		slow <- err
	}()
	<-inside
	for n := range 20 {
		if a := p.ask(p.request(http.MethodGet, "/", "")); a.body != "served" {
			t.Fatalf("request %d: %+v", n, a)
		}
	}
	close(answer)
	must(t, <-slow)
}

// TestStreamsThatAreNotRead has the leader end streams of a client that reads nothing, or reads and does not leave: neither keeps
// its place.
func TestStreamsThatAreNotRead(t *testing.T) {
	for _, flood := range []bool{false, true} {
		ended := make(chan struct{})
		p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			switched(t, w, r, func(c net.Conn, _ *bufio.ReadWriter) {
				for flood {
					if _, err := c.Write(make([]byte, 1<<20)); err != nil {
						return
					}
				}
			})
		}))
		if flood { // each write is late at once
			p.forwarder.Clock = func() time.Time { return time.Now().Add(-time.Hour) }
		}
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		must(t, err)
		defer func() { _ = c.Close() }()
		_, err = io.WriteString(c, "GET /stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		must(t, err)
		<-ended
		for p.forwarder.Streams() > 0 {
			runtime.Gosched()
		}
	}
}

// TestBodiesThatAreNotRead leaves the bodies of many requests unread at the leader, as an endpoint does that has no use for one: a
// request of somebody else, with a body, is served beside them.
func TestBodiesThatAreNotRead(t *testing.T) {
	inside, answer := make(chan struct{}), make(chan struct{})
	p := newPair(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/unread" {
			inside <- struct{}{}
			<-answer
			return
		}
		_, _ = io.Copy(w, r.Body)
	}))
	client := &http.Transport{}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	const many = 4 << 20 / api.MaxBody
	for range many {
		r := p.request(http.MethodGet, "/unread", strings.Repeat("x", api.MaxBody))
		all.Go(func() {
			a, err := client.RoundTrip(r)
			if err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("a request whose body is not read: %v, %v", a, err) // the other one waited until it was given up
				return
			}
			_ = a.Body.Close()
		})
	}
	for range many {
		<-inside
	}
	if a := p.ask(p.request(http.MethodPost, "/", "order")); a.body != "order" {
		t.Errorf("beside unread bodies: %+v", a)
	}
	close(answer)
	all.Wait()
}
