package stream

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// pingEvery is the interval of pings to an idle connection; one without input for
	// aliveFor is cut.
	pingEvery = 20 * time.Second
	aliveFor  = 40 * time.Second
	// sendBuffer bounds the kernel's send buffer of a connection, in bytes.
	sendBuffer = 128 << 10
)

// Authenticator finds the holder of a secret.
type Authenticator interface {
	Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error)
}

// Options are the parts of a server.
type Options struct {
	Feed    *feed.Feed
	View    *view.View
	History *history.Reader
	// State returns the present state of a counted topic.
	State func(ctx context.Context, t feed.Topic) (State, error)
	Who   Authenticator
	// Signed checks operations with a signature.
	Signed api.Verifier
	// Submit carries out a command of a connection.
	Submit func(context.Context, *bourse.Command) (bourse.Outcome, error)
	From   func(*http.Request) netip.Addr
	// Limits count the input of accounts and sources over all their connections; nil
	// allows everything.
	Limits *api.Limiter
	// PerSource bounds the connections of a source; zero is no bound.
	PerSource int
	Clock     func() time.Time
	// After returns a channel that receives after a pause.
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
	// Elsewhere opens a connection of this interface at the node that has account streams, for the client of a request. It is nil
	// at that node, and set at others, which need neither Who nor Signed nor Submit.
	Elsewhere func(opened *http.Request) (io.ReadWriteCloser, error)
	// Current waits until the view shows all that clients have seen at any node before the call; nil if it always does.
	Current func(context.Context) error
}

// Server accepts and holds connections.
type Server struct {
	Options

	mu     sync.Mutex
	conns  map[*Conn]struct{}
	closed bool
	// suspended is true between Suspend and Resume.
	suspended bool
	// closing is closed with closed.
	closing chan struct{}
	// sources counts connections by source.
	sources api.Connections
	// expiring has the connections whose key expires.
	expiring map[*Conn]struct{}
	// open is done when all connections have ended.
	open    sync.WaitGroup
	forms   sync.Pool
	writers *writers
	// books are the resets of books, a *bookReset by topic.
	books sync.Map
}

// NewServer returns a server without connections.
func NewServer(o Options) *Server {
	s := &Server{Options: o, conns: map[*Conn]struct{}{}, expiring: map[*Conn]struct{}{},
		closing: make(chan struct{})}
	s.writers = newWriters(max(1, runtime.GOMAXPROCS(0)/4)) // the engine needs the other processors
	s.forms.New = func() any { return new(api.Form) }
	return s
}

// errConnections refuses a connection of a source that has too many.
var errConnections = bourse.Errorf(bourse.CodeBusy, "Too many connections of this address")

// ServeHTTP upgrades a request to a connection of this interface and returns.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	open := own
	if s.Elsewhere != nil {
		open = func(c *Conn) Protocol { return &session{Conn: c, opened: r, began: map[feed.Topic]uint64{}} }
	}
	s.Accept(w, r, open)
}

// AcceptAs is ServeHTTP for a connection that belongs from the start to the account of a
// secret.
func (s *Server) AcceptAs(w http.ResponseWriter, r *http.Request, secret account.Secret) {
	s.Accept(w, r, func(c *Conn) Protocol { return &session{Conn: c, shown: &credential{secret: secret}} })
}

// Accept upgrades a request to a connection with a protocol, and returns. The upgrade counts
// as a request of its source, because a key comes later, if at all.
func (s *Server) Accept(w http.ResponseWriter, r *http.Request, open func(*Conn) Protocol) {
	from := s.From(r)
	if !s.Limits.AdmitPage(w, api.Payer{Source: from}) {
		return
	}
	if !s.reserve(from) {
		api.Refuse(w, &account.LimitError{Limit: errConnections})
		return
	}

	raw, rw, _, err := ws.HTTPUpgrader{Header: w.Header()}.Upgrade(r, w)
	if err != nil {
		s.release(from)
		return // UpgradeHTTP has answered
	}

	if resumed, ok := raw.(interface{ Bare() net.Conn }); ok {
		raw = resumed.Bare()
	}
	if tcp, ok := raw.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // a hint: the queue is bounded too
	}
	c := newConn(s, raw, from, open)
	if !s.add(c) {
		s.release(from)
		_ = raw.Close()
		return
	}
	early, _ := rw.Peek(rw.Reader.Buffered())
	go c.serve(append([]byte(nil), early...))
}

func (s *Server) add(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.suspended {
		return false
	}
	s.conns[c] = struct{}{}
	s.open.Add(1)
	return true
}

func (s *Server) remove(c *Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	delete(s.expiring, c)
	s.mu.Unlock()
	s.release(c.from)
	s.open.Done()
}

// each calls f for every current connection.
func (s *Server) each(f func(*Conn)) {
	s.mu.Lock()
	list := make([]*Conn, 0, len(s.conns))
	for c := range s.conns {
		list = append(list, c)
	}
	s.mu.Unlock()
	for _, c := range list {
		f(c)
	}
}

// Ping pings idle connections. Call it every few seconds.
func (s *Server) Ping() {
	now := s.Clock()
	s.each(func(c *Conn) { c.ping(now) })
}

// watchExpiry registers the time of the protocol's next Expire; zero is never.
func (s *Server) watchExpiry(c *Conn, at bourse.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.expiring, c); at != 0 {
		c.expires = at
		s.expiring[c] = struct{}{}
	}
}

// Expire tells the connections that have a key that has expired. Call it several times a
// second.
func (s *Server) Expire() {
	now := bourse.TimeOf(s.Clock())
	var over []*Conn
	s.mu.Lock()
	for c := range s.expiring {
		if now >= c.expires {
			over = append(over, c)
			delete(s.expiring, c)
		}
	}
	s.mu.Unlock()

	for _, c := range over {
		c.protocol.Expire(now)
	}
}

// Revoke tells all connections that a key was revoked.
func (s *Server) Revoke(key bourse.KeyID) {
	s.each(func(c *Conn) { c.protocol.Revoke(key) })
}

// Len returns the number of connections.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Suspend refuses new connections until Resume, and closes the current ones with 1001.
func (s *Server) Suspend(reason string) {
	s.mu.Lock()
	s.suspended = true
	s.mu.Unlock()
	s.each(func(c *Conn) { c.end(ws.StatusGoingAway, reason, true) })
}

// EndOwn closes the connections with 1001 whose streams this node sends itself. Those that have departed stay: their streams
// are the leader's, and their end would cancel the orders of accounts that asked for cancel_on_close.
func (s *Server) EndOwn(reason string) {
	s.each(func(c *Conn) {
		if p, own := c.protocol.(*session); !own || !p.departed.Load() {
			c.end(ws.StatusGoingAway, reason, true)
		}
	})
}

// Resume takes connections again.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suspended = false
}

// Close refuses new connections, closes the current ones with 1001, and waits for them
// until ctx ends; then it cuts the rest.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.closing)
	}
	s.mu.Unlock()
	s.each(func(c *Conn) { c.end(ws.StatusGoingAway, "the exchange is going down", true) })
	done := make(chan struct{})
	go func() {
		s.open.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		s.each(func(c *Conn) { _ = c.raw.Close() })
		<-done
	}
}
