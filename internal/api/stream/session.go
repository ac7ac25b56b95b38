package stream

import (
	"net/http"
	"sync/atomic"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// session is a connection of this interface.
type session struct {
	*Conn

	// identity and use are owned by the reader.
	identity account.Identity
	use      Use
	// armed is the connection's id in the journal if its end cancels the open orders of
	// identity's account, else zero. Owned by the reader.
	armed bourse.ConnectionID

	// key is identity's key, for Revoke; zero before auth.
	key atomic.Uint64
	// account is identity's account, for Lost; zero before auth.
	account atomic.Uint64
	late    late

	// shown is the credential that came with the upgrade; nil without one.
	shown *credential

	// opened is the request that opened the connection, and began has, by counted topic, the number behind which its messages
	// begin; both are nil at a node that has account streams itself. away is set once the connection has departed. All are
	// owned by the reader. departed is set before, for EndOwn.
	opened   *http.Request
	began    map[feed.Topic]uint64
	away     *away
	departed atomic.Bool
}

// Begin authenticates a connection whose credential came with the upgrade.
func (c *session) Begin() {
	if c.shown == nil {
		return
	}
	if err := c.become(c.shown, false); err != nil {
		c.end(ws.StatusPolicyViolation, "session ended", true)
	}
}

// Leave ends the connection's subscriptions and dead man's switches.
func (c *session) Leave() {
	c.disarm()
	c.server.Feed.Leave(c.subscriber)
	if c.away != nil {
		_ = c.away.conn.Close()
	}
}

// Revoke closes the connection if it authenticated with a key.
func (c *session) Revoke(key bourse.KeyID) {
	if c.key.Load() == uint64(key) {
		c.end(ws.StatusPolicyViolation, "key revoked", true)
	}
}

// Expire closes the connection, whose key has expired.
func (c *session) Expire(bourse.Time) { c.end(ws.StatusPolicyViolation, "key expired", true) }

// begins notes where the messages of topics begin that are about to be subscribed to: behind since, or else now.
func (c *session) begins(names []string, topics []feed.Topic, since map[string]uint64) {
	if c.began == nil {
		return
	}
	for i, t := range topics {
		at, resumes := since[names[i]]
		if _, known := c.began[t]; known || !t.Kind.Counted() {
			continue
		}
		if !resumes {
			at = c.server.position(t)
		}
		c.began[t] = at
	}
}

// own returns the protocol of this interface.
func own(c *Conn) Protocol { return &session{Conn: c} }
