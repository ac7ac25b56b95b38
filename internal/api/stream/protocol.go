package stream

import (
	"context"
	"net/netip"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// Protocol is the requests and messages of a connection. Begin, Handle, Meter and Leave
// belong to the connection's reader; the others are called from any goroutine and return at
// once.
type Protocol interface {
	// Begin is called before the first message is read.
	Begin()
	// Meter counts a frame of a kind and size before its payload is read. An error is as
	// Handle's.
	Meter(op ws.OpCode, size int) error
	// Handle carries out a message, which is valid until it returns. A *CloseError closes
	// the connection; after any other error it is lost.
	Handle(message []byte) error
	// Leave is called when the reader has stopped. It must leave the feed.
	Leave()
	// Lost is called when the feed has lost messages of a counted topic.
	Lost(h *feed.Hold)
	// Revoke takes away the permissions of a revoked key.
	Revoke(key bourse.KeyID)
	// Expire takes away what keys allowed that have expired.
	Expire(now bourse.Time)
}

// From returns the client's address.
func (c *Conn) From() netip.Addr { return c.from }

// Subscriber returns the queue of the connection's outgoing frames.
func (c *Conn) Subscriber() *feed.Subscriber { return c.subscriber }

// Gone returns a context that ends with the connection.
func (c *Conn) Gone() context.Context { return c.gone }

// End queues a close frame, once. With now, the queued messages are dropped.
func (c *Conn) End(code ws.StatusCode, reason string, now bool) { c.end(code, reason, now) }

// WatchExpiry sets the time of the next call of the protocol's Expire; zero is never.
func (c *Conn) WatchExpiry(at bourse.Time) { c.server.watchExpiry(c, at) }
