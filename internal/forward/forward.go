package forward

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

const (
	// MostRequests bounds the requests of a node that are on their way to the leader.
	MostRequests = 1024
	// MostAtOnce is a leader's bound for each node: its requests, and a question for a bound, which no crowd of requests keeps waiting.
	MostAtOnce = MostRequests + 1
	// mostStreams bounds the streams.
	mostStreams = 1024
	// requestsPerSource and streamsPerSource bound those of one client's address.
	requestsPerSource = MostRequests / 8
	streamsPerSource  = mostStreams / 8
	// mostCookies bounds the cookies of a request: HTTP/2 sends each as a field of its own, some 38 bytes for one that takes a byte here.
	mostCookies = 1000
	// answerWithin is the time for the head of an answer: longer than a leader lets a request wait for its key and
	// then for its endpoint.
	answerWithin = 25 * time.Second
	// lookEvery is the time between two looks of a stream at who leads.
	lookEvery = time.Second
	// writeWithin is the time for a client to take a part of an answer, or of a stream.
	writeWithin = 30 * time.Second
)

// Headers that nodes speak to each other with. Those of clients are removed.
const (
	// headerPeer has the address, HOST:PORT, from which a node got a request; headerLocal the one to which.
	headerPeer  = "Bourse-Forwarded-Peer"
	headerLocal = "Bourse-Forwarded-Local"
)

// The errors of requests that have no answer of the leader.
var (
	// ErrUnknown is the error for a request that was sent.
	ErrUnknown = bourse.Errorf(bourse.CodeUnknown,
		"Outcome unknown: the node that leads gave no answer; ask what became of the request before you send it again")
	// errNoLeader is the error for a request while no node leads.
	errNoLeader = bourse.Errorf(bourse.CodeUnavailable, "No node leads the exchange now; the request was not taken, send it again")
	// errNotSent is the error for a request that could not be sent.
	errNotSent = bourse.Errorf(bourse.CodeUnavailable,
		"The request was not taken: the node that leads cannot be reached from this one; send it again")
	// errCrowded is the error for a request beyond the bounds of this node.
	errCrowded = bourse.Errorf(bourse.CodeBusy,
		"Too many requests wait at this node for the one that leads; send it again in a moment, or to another node")
	// errCookies is the error for a request that the leader would not read.
	errCookies = bourse.Errorf(bourse.CodeInvalid, "A request may have at most %d cookies", mostCookies)
)

// Leader is the node that leads, as this one reaches it.
type Leader struct {
	// ID is the node's id.
	ID uint64
	// Dial connects to its node port, for one of the protocols of TLS that [net/http] serves.
	Dial func(ctx context.Context, protocol string) (net.Conn, error)
}

// Options configure a forwarder.
type Options struct {
	// Leader returns the leader; nil if none is known.
	Leader func() *Leader
	// From returns a client's address.
	From func(*http.Request) netip.Addr
	// Refuse answers a request, in its interface's form, that has no answer of the leader.
	Refuse func(http.ResponseWriter, *http.Request, error)
	Clock  func() time.Time
	Log    *slog.Logger
}

// Forwarder sends requests to the leader.
type Forwarder struct {
	Options
	requests, streams places
	bounds            bounds
	pool              pool
	proxy             *httputil.ReverseProxy
	// ended is canceled by Close.
	ended context.Context
	end   context.CancelFunc
}

// New returns a forwarder.
func New(o Options) *Forwarder {
	f := &Forwarder{
		Options:  o,
		requests: places{most: MostRequests, perSource: requestsPerSource},
		streams:  places{most: mostStreams, perSource: streamsPerSource},
	}
	f.pool.dials = make(chan struct{}, mostDials)
	f.ended, f.end = context.WithCancel(context.Background())
	f.proxy = &httputil.ReverseProxy{
		Rewrite: rewrite, Transport: f, ErrorHandler: f.fail,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return f
}

// Streams returns the number of streams that are open.
func (f *Forwarder) Streams() int { return f.streams.len() }

// Close ends what is on its way: requests without an answer have an unknown outcome, and streams end.
func (f *Forwarder) Close() {
	f.end()
	f.pool.close()
}

// ServeHTTP answers a request with the leader's answer.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !strings.HasPrefix(r.URL.Path, "/") || r.Method == http.MethodConnect:
		f.Refuse(w, r, api.ErrNoEndpoint) // HTTP/2 has no form for it
		return
	case cookies(r) > mostCookies:
		f.Refuse(w, r, errCookies)
		return
	}
	leader := f.Leader()
	if leader == nil {
		f.Refuse(w, r, errNoLeader)
		return
	}
	in := &f.requests
	if IsStream(r) {
		in = &f.streams
	} else if err := receive(r); err != nil {
		f.Refuse(w, r, err)
		return
	}

	from := f.From(r)
	if !in.take(from) {
		f.Refuse(w, r, errCrowded)
		return
	}
	defer in.leave(from)

	// A client that leaves gives no place back while the leader is at its request.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	defer context.AfterFunc(f.ended, cancel)() //nolint:contextcheck // the end of the forwarder ends the request, too
	if in == &f.streams {
		go f.endWithLead(ctx, leader.ID, cancel)
	}
	f.proxy.ServeHTTP(&timely{ResponseWriter: w, control: http.NewResponseController(w), clock: f.Clock}, r.WithContext(ctx))
}

// endWithLead ends a stream once another node leads. A leader that was cut off from this node cannot end it, and the stream
// would stay silent until TCP gives the connection up.
func (f *Forwarder) endWithLead(ctx context.Context, leader uint64, end context.CancelFunc) {
	for ctx.Err() == nil {
		look, stop := context.WithTimeout(ctx, lookEvery)
		<-look.Done()
		stop()
		if now := f.Leader(); now != nil && now.ID != leader {
			end()
		}
	}
}

// IsStream reports whether a request opens a WebSocket.
func IsStream(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// cookies returns the number of a request's cookies.
func cookies(r *http.Request) (n int) {
	for _, list := range r.Header["Cookie"] {
		n += 1 + strings.Count(list, ";")
	}
	return n
}

// receive reads a request's body before the request takes a place, so that a slow client holds none. Of a body
// that is too long it keeps what makes the leader refuse it.
func receive(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, api.MaxBody+1))
	if err != nil {
		return api.ErrBrokenOff
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Trailer, r.TransferEncoding = nil, nil
	return nil
}

// rewrite makes the request that the leader gets: the client's, without what is between the client and this node.
func rewrite(p *httputil.ProxyRequest) {
	out := p.Out
	out.URL.Scheme, out.URL.Host = "https", "node" // the connection is made already
	out.URL.RawQuery, out.Host = p.In.URL.RawQuery, p.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if list, given := p.In.Header[name]; given {
			out.Header[name] = list // it is the leader that believes proxies, or does not
		}
	}
	out.Header.Del("Expect") // the body is here
	if !IsStream(p.In) {
		out.Header.Del("Connection")
		out.Header.Del("Upgrade")
	}

	address(out, p.In)
}

// address sets the headers that tell the leader of the client's connection.
func address(out, in *http.Request) {
	out.Header.Set(headerPeer, in.RemoteAddr)
	out.Header.Del(headerLocal)
	if local, ok := in.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		out.Header.Set(headerLocal, local.String())
	}
}

// RoundTrip implements [http.RoundTripper]: it sends a request to the leader, once.
func (f *Forwarder) RoundTrip(r *http.Request) (*http.Response, error) {
	leader := f.Leader()
	if leader == nil {
		return nil, errNoLeader
	}
	// The time ends with the head of the answer, whose body may take longer.
	late, cancel := context.WithCancel(r.Context())
	head, stop := context.WithTimeout(r.Context(), answerWithin)
	defer stop()
	defer context.AfterFunc(head, cancel)()
	conn, err := f.pool.conn(late, leader, IsStream(r))
	if err != nil {
		cancel()
		f.Log.Debug("a request was not sent to the leader", slog.Any("error", err))
		return nil, errNotSent
	}

	answer, err := conn.RoundTrip(r.WithContext(late))
	if err != nil {
		cancel()
		if IsStream(r) {
			_ = conn.Close()
		}
		f.Log.Warn("the leader gave no answer", slog.Any("error", err))
		return nil, ErrUnknown
	}
	if IsStream(r) && answer.StatusCode != http.StatusSwitchingProtocols {
		answer.Body = &lastBody{answer.Body, conn}
	}
	return answer, nil
}

// lastBody is the body of the only answer on a connection.
type lastBody struct {
	io.ReadCloser
	conn io.Closer
}

// Close closes the connection, too.
func (b *lastBody) Close() error { return errors.Join(b.ReadCloser.Close(), b.conn.Close()) }

// fail answers a request that has no answer of the leader. A client that has left is told nothing.
func (f *Forwarder) fail(w http.ResponseWriter, r *http.Request, err error) {
	var known *bourse.Error
	if !errors.As(err, &known) {
		known = ErrUnknown
	}
	f.Refuse(w, r, known)
}

// timely is a writer with writeWithin for each part of an answer.
type timely struct {
	http.ResponseWriter
	control *http.ResponseController
	clock   func() time.Time
}

// Write writes a part of the answer.
func (t *timely) Write(b []byte) (int, error) {
	if err := t.control.SetWriteDeadline(t.clock().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return t.ResponseWriter.Write(b)
}

// Hijack implements [http.Hijacker].
func (t *timely) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := t.control.Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := rw.Peek(rw.Reader.Buffered())
	return stream{conn, io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn), t.clock}, rw, err
}

// stream is a client's connection with writeWithin for each part of what the leader sends. It has no way to end one direction
// alone, so that it ends once the leader's does: a client that reads nothing, or does not leave, would keep its place.
type stream struct {
	net.Conn
	// in has what the client sent behind its request before the answer, and then what it sends.
	in    io.Reader
	clock func() time.Time
}

// Read reads what the client sends.
func (s stream) Read(b []byte) (int, error) { return s.in.Read(b) }

// Write writes a part.
func (s stream) Write(b []byte) (int, error) {
	if err := s.SetWriteDeadline(s.clock().Add(writeWithin)); err != nil {
		return 0, err
	}
	return s.Conn.Write(b)
}

// Unwrap returns the writer, for [http.ResponseController].
func (t *timely) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// places are what requests of one kind take while they are on their way.
type places struct {
	most, perSource int

	mu    sync.Mutex
	taken int
	// sources counts them by the client's address.
	sources api.Connections
}

// take takes a place; false if none is free for a client.
func (p *places) take(from netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.most {
		return false
	}
	if !p.sources.Add(from, p.perSource) {
		p.sources.Remove(from)
		return false
	}
	p.taken++
	return true
}

// leave gives back a place.
func (p *places) leave(from netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	p.sources.Remove(from)
}

// len returns the number of places that are taken.
func (p *places) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
