package lane

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves the connections of a listener. Its fields must not change once it serves.
type Server struct {
	Listener net.Listener
	// Handler serves the requests here; net/http serves the same one on Rest.
	Handler http.Handler
	// Prefixes are those of the paths served here.
	Prefixes []string
	// MaxBody bounds the bodies read here.
	MaxBody int
	// Patience bounds the time of a request. Requests of the same second share a context,
	// so that it is up to a second less.
	Patience time.Duration
	// FirstWithin is the time for a new connection's first bytes, IdleFor that between
	// requests, and WriteWithin that for the client to read an answer.
	FirstWithin, IdleFor, WriteWithin time.Duration
	// State is called for new and closed connections, like http.Server.ConnState. One
	// that net/http takes over is closed here and new there.
	State func(net.Conn, http.ConnState)
	Clock func() time.Time
	Log   *slog.Logger

	closing atomic.Bool
	// current is the context of the current second.
	current atomic.Pointer[shared]
	rest    rest

	mu    sync.Mutex
	conns map[*conn]struct{}
	open  sync.WaitGroup
}

// shared is the context that requests of one second share.
type shared struct {
	began time.Time
	ctx   context.Context //nolint:containedctx // requests share it
}

// rest is the listener of the connections that net/http takes over.
type rest struct {
	server *Server
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Rest returns the listener for net/http. Call it once, before Serve.
func (s *Server) Rest() net.Listener {
	s.rest.server, s.rest.conns, s.rest.closed = s, make(chan net.Conn), make(chan struct{})
	return &s.rest
}

// Accept waits for a connection to take over.
func (r *rest) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept; later connections are closed instead of handed over.
func (r *rest) Close() error {
	r.once.Do(func() { close(r.closed) })
	return nil
}

// Addr returns the address of the underlying listener.
func (r *rest) Addr() net.Addr { return r.server.Listener.Addr() }

// Serve accepts connections until Shutdown or Close.
func (s *Server) Serve() {
	const pause = 50 * time.Millisecond
	for {
		raw, err := s.Listener.Accept()
		switch {
		case err == nil:
			s.begin(raw)
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of file descriptors, or the client has left
			s.Log.Warn("accepting a connection", slog.Any("error", err))
			rest, cancel := context.WithTimeout(context.Background(), pause)
			<-rest.Done()
			cancel()
		}
	}
}

// begin serves a connection on its own goroutine.
func (s *Server) begin(raw net.Conn) {
	s.State(raw, http.StateNew)
	c := newConn(s, raw)
	s.mu.Lock()

	defer s.mu.Unlock()
	if s.closing.Load() {
		s.State(raw, http.StateClosed)
		_ = raw.Close()
		return
	}

	if s.conns == nil {
		s.conns = map[*conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	s.open.Go(func() { s.run(c) })
}

func (s *Server) run(c *conn) {
	goesOn := c.serve()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.State(c.Conn, http.StateClosed)
	if !goesOn || !s.handOver(&Resumed{c.Conn, c.in}) {
		_ = c.Close()
	}
}

// handOver passes a connection to net/http; false if Rest is closed.
func (s *Server) handOver(c net.Conn) bool {
	select {
	case s.rest.conns <- c:
		return true
	case <-s.rest.closed:
		return false
	}
}

// takes reports whether a path is served here.
func (s *Server) takes(path string) bool {
	for _, prefix := range s.Prefixes {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// context returns the context of a request.
func (s *Server) context(now time.Time) context.Context {
	if c := s.current.Load(); c != nil && now.Sub(c.began) < time.Second {
		return c.ctx
	}
	ctx, cancel := context.WithDeadline(context.Background(), now.Add(s.Patience))
	context.AfterFunc(ctx, cancel)
	s.current.Store(&shared{now, ctx})
	return ctx
}

// Shutdown stops accepting, closes silent connections, and waits until the others have
// their answers or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.stop(func(c *conn) { _ = c.SetReadDeadline(s.Clock()) })
	done := make(chan struct{})
	go func() {
		s.open.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes all connections at once.
func (s *Server) Close() error { return s.stop(func(c *conn) { _ = c.Close() }) }

// stop closes the listener and calls each for every connection.
func (s *Server) stop(each func(*conn)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if !s.closing.Swap(true) {
		err = s.Listener.Close()
	}
	for c := range s.conns {
		each(c)
	}
	return err
}
