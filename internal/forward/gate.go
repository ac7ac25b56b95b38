package forward

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// ErrNotLeader is the error for a request of another node that took this one for the leader.
var ErrNotLeader = bourse.Errorf(bourse.CodeUnavailable,
	"The request was not taken: another node is about to lead; send it again")

// Gate takes the requests that other nodes send. It refuses them, as not taken, unless it is open.
type Gate struct {
	// Refuse answers a request that is not served.
	Refuse func(http.ResponseWriter, *http.Request, error)

	mu sync.Mutex
	// next serves requests; nil while the gate is shut. shown is the bound of other nodes' reads.
	next  http.Handler
	shown func(context.Context) (bourse.Seq, error)
	// inside counts the requests that next serves.
	inside sync.WaitGroup
}

// Open has a handler serve requests from now on. shown returns the last command whose effect clients may have seen here, once a
// majority has said, after the call, that this node leads.
func (g *Gate) Open(next http.Handler, shown func(context.Context) (bourse.Seq, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next, g.shown = next, shown
}

// Opened reports whether requests are served.
func (g *Gate) Opened() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.next != nil
}

// Close refuses requests from now on.
func (g *Gate) Close() error {
	g.Open(nil, nil)
	return nil
}

// Shutdown refuses requests from now on, and waits for those that are served until ctx ends.
func (g *Gate) Shutdown(ctx context.Context) error {
	g.Open(nil, nil)
	empty := make(chan struct{})
	go func() {
		defer close(empty)
		g.inside.Wait()
	}()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter returns what serves a request; nil if nothing does.
func (g *Gate) enter() (next http.Handler, shown func(context.Context) (bourse.Seq, error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next != nil {
		g.inside.Add(1)
	}
	return g.next, g.shown
}

// ServeHTTP serves a request as if it had come from the client itself.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	peer, local := r.Header.Get(headerPeer), r.Header.Get(headerLocal)
	r.Header.Del(headerPeer)
	r.Header.Del(headerLocal)
	if at, err := netip.ParseAddrPort(peer); err == nil {
		r.RemoteAddr = at.String()
	}
	if at, err := netip.ParseAddrPort(local); err == nil {
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(net.TCPAddrFromAddrPort(at))))
	}

	next, shown := g.enter()
	if next == nil {
		g.Refuse(w, r, ErrNotLeader)
		return
	}
	defer g.inside.Done()
	if peer == "" && r.URL.Path == boundPath {
		g.tell(w, r, shown)
		return
	}

	// All requests of a node share a connection, which has room for some bodies that no endpoint reads.
	if r.ContentLength != 0 && !IsStream(r) {
		if err := receive(r); err != nil {
			g.Refuse(w, r, err)
			return
		}
	}
	next.ServeHTTP(w, r)
}
