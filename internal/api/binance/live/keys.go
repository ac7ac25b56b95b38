package live

import (
	"sync"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// keys are the keys that a connection has used, which it must not outlive. Safe for concurrent
// use.
type keys struct {
	// mu is never held while another goroutine is waited for: the goroutine that applies takes
	// it, in the middle of a frame of the feed.
	mu sync.Mutex
	// expiries are those of the keys; zero is never.
	expiries map[bourse.KeyID]bourse.Time
}

// hold ties the connection to a key: it is closed when that is revoked or expires.
func (k *keys) hold(e *entry, who account.Identity) error {
	k.add(e, who)
	// Revoke may have missed the key until now, so it is checked once more.
	_, err := e.live.Facade.Listens.Holder(who.Key, e.From())
	return err
}

// add adds a key, and has the connection watched until the first of its keys expires.
func (k *keys) add(e *entry, who account.Identity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.expiries == nil {
		k.expiries = map[bourse.KeyID]bourse.Time{}
	}
	k.expiries[who.Key] = who.Expires

	next := bourse.Time(0)
	for _, at := range k.expiries {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	e.WatchExpiry(next) // under mu: of two keys that are added at once, neither hides the other
}

// Revoke closes the connection if it has used a key.
func (e *entry) Revoke(key bourse.KeyID) {
	e.keys.mu.Lock()
	_, used := e.keys.expiries[key]
	e.keys.mu.Unlock()
	if used {
		e.End(ws.StatusPolicyViolation, "key revoked", true)
	}
}

// Expire closes the connection, of which a key has expired.
func (e *entry) Expire(bourse.Time) { e.End(ws.StatusPolicyViolation, "key expired", true) }
