package stream

import (
	"net/netip"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/internal/api"
)

// What a connection may do in a second. These bounds hold always; those of its account
// or source, over all connections, are the limiter's.
const (
	// maxRequests is how many requests are carried out.
	maxRequests = 100
	// maxNames is how many streams requests may name: each takes the lock that trading
	// publishes under.
	maxNames = 4096
	// maxFrames is how many frames of any kind are read, where each weighedBytes of
	// a frame weigh as another one.
	maxFrames    = 1000
	weighedBytes = 2 << 10
	// fairFrames is how many frames end no connection whose neighbours send too many.
	fairFrames = 20
)

// use is what a connection has done in its second.
type use struct {
	second                  time.Time
	frames, requests, names int
	// over is how many times the payer has spent its limit of frames.
	over int
}

// payer returns what the connection is counted against.
func (c *conn) payer() api.Payer { return api.Payer{Account: c.identity.Account, Source: c.from} }

// errFlood ends a connection that sends without measure.
var errFlood = &closeError{ws.StatusPolicyViolation, "too many frames"}

// meter counts a frame, before its payload is read.
func (c *conn) meter(size int64) error {
	if now := c.server.Clock(); now.Sub(c.use.second) >= time.Second {
		c.use = use{second: now}
	}

	weight := 1 + int(size)/weighedBytes
	c.use.frames += weight
	c.use.over = c.server.Limits.Charge(api.Frames, c.payer(), weight)
	if c.use.frames > maxFrames || c.use.over > 1 && c.use.frames > fairFrames {
		return errFlood
	}
	return nil
}

// admit counts a request against the connection's limit.
func (c *conn) admit() bool {
	c.use.requests++
	return c.use.requests <= maxRequests && c.use.over == 0
}

// admitNames counts the streams that a request names.
func (c *conn) admitNames(n int) bool {
	c.use.names += n
	return c.use.names <= maxNames && c.server.Limits.AdmitWork(api.Subscriptions, c.payer(), n)
}

// reserve takes room for a connection of a source, and reports whether there was some.
func (s *Server) reserve(from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sources.Add(from, s.PerSource) {
		s.sources.Remove(from)
		return false
	}
	return true
}

// release gives it back.
func (s *Server) release(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources.Remove(from)
}
