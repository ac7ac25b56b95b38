package stream

import (
	"net/netip"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/internal/api"
)

// Limits of a connection per second. They always apply; the limiter's apply to its
// account or source, over all connections.
const (
	// maxRequests bounds the requests carried out.
	maxRequests = 100
	// maxNames bounds the streams that requests name: each takes the lock under which
	// trading publishes.
	maxNames = 4096
	// maxFrames bounds the frames of any kind; each weighedBytes of a frame count as
	// another one.
	maxFrames    = 1000
	weighedBytes = 2 << 10
	// fairFrames is the number of frames that never close a connection, even if its payer
	// is over the limit.
	fairFrames = 20
)

// use counts the actions of a connection in the current second.
type use struct {
	second                  time.Time
	frames, requests, names int
	// over is the payer's debt as a multiple of its limit of frames.
	over int
}

// payer returns the account or source that pays for the connection.
func (c *session) payer() api.Payer { return api.Payer{Account: c.identity.Account, Source: c.from} }

// errFlood closes a connection that sends too many frames.
var errFlood = &CloseError{ws.StatusPolicyViolation, "too many frames"}

// Meter counts a frame before its payload is read.
func (c *session) Meter(size int) error {
	if now := c.server.Clock(); now.Sub(c.use.second) >= time.Second {
		c.use = use{second: now}
	}

	weight := 1 + size/weighedBytes
	c.use.frames += weight
	c.use.over = c.server.Limits.Charge(api.Frames, c.payer(), weight)
	if c.use.frames > maxFrames || c.use.over > 1 && c.use.frames > fairFrames {
		return errFlood
	}
	return nil
}

// admit counts a request and reports whether it is within the limits.
func (c *session) admit() bool {
	c.use.requests++
	return c.use.requests <= maxRequests && c.use.over == 0
}

// admitNames counts the streams that a request names.
func (c *session) admitNames(n int) bool {
	c.use.names += n
	return c.use.names <= maxNames && c.server.Limits.AdmitWork(api.Subscriptions, c.payer(), n)
}

// reserve counts a connection of a source unless it has too many.
func (s *Server) reserve(from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sources.Add(from, s.PerSource) {
		s.sources.Remove(from)
		return false
	}
	return true
}

// release undoes reserve.
func (s *Server) release(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources.Remove(from)
}
