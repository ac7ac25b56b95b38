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

// Use counts the actions of a connection in the current second. Not safe for concurrent use.
type Use struct {
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
func (c *session) Meter(_ ws.OpCode, size int) error {
	if c.away != nil {
		return c.use.frame(c.server.Clock(), nil, api.Payer{}, size) // the leader counts it by account
	}
	return c.use.Frame(c.server, c.payer(), size)
}

// Frame counts a frame of a size, before its payload is read.
func (u *Use) Frame(s *Server, who api.Payer, size int) error {
	return u.frame(s.Clock(), s.Limits, who, size)
}

func (u *Use) frame(now time.Time, limits *api.Limiter, who api.Payer, size int) error {
	if now.Sub(u.second) >= time.Second {
		*u = Use{second: now}
	}

	weight := 1 + size/weighedBytes
	u.frames += weight
	u.over = limits.Charge(api.Frames, who, weight)
	if u.frames > maxFrames || u.over > 1 && u.frames > fairFrames {
		return errFlood
	}
	return nil
}

// Request counts a request and reports whether it is within the limits.
func (u *Use) Request() bool {
	u.requests++
	return u.requests <= maxRequests && u.over == 0
}

// Names counts the streams that a request names, and reports whether they are within the
// limits.
func (u *Use) Names(s *Server, who api.Payer, n int) bool {
	u.names += n
	return u.names <= maxNames && s.Limits.AdmitWork(api.Subscriptions, who, n)
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
