package api

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Class says what a request costs us; each class has limits of its own, so that
// who places too many orders can still cancel them, and look.
type Class uint8

// The classes.
const (
	Reads Class = iota
	Orders
	Cancels
	classes
)

// Rate is how often something may be done. The zero Rate sets no limit.
type Rate struct {
	// PerSecond is the average that is kept up.
	PerSecond float64
	// Burst is how often at once, after a pause; at least once.
	Burst int
}

// Rates are those of the classes.
type Rates struct{ Reads, Orders, Cancels Rate }

// Limits are what is allowed to one address and to one key. The zero Limits
// allow everything.
type Limits struct {
	Address, Key Rates
	// FailedAuth is how often an address may show a secret that is no good.
	FailedAuth Rate
}

// Limiter counts requests against limits. A nil *Limiter allows everything. Any
// goroutine may call it.
type Limiter struct {
	clock     func() time.Time
	addresses [classes]*buckets[netip.Addr]
	keys      [classes]*buckets[bourse.KeyID]
	failures  *buckets[netip.Addr]
}

// NewLimiter returns a limiter that has seen nobody yet.
func NewLimiter(l Limits, clock func() time.Time) *Limiter {
	return &Limiter{
		clock: clock,
		addresses: [classes]*buckets[netip.Addr]{
			Reads:   newBuckets[netip.Addr](l.Address.Reads),
			Orders:  newBuckets[netip.Addr](l.Address.Orders),
			Cancels: newBuckets[netip.Addr](l.Address.Cancels),
		},
		keys: [classes]*buckets[bourse.KeyID]{
			Reads:   newBuckets[bourse.KeyID](l.Key.Reads),
			Orders:  newBuckets[bourse.KeyID](l.Key.Orders),
			Cancels: newBuckets[bourse.KeyID](l.Key.Cancels),
		},
		failures: newBuckets[netip.Addr](l.FailedAuth),
	}
}

// Admit counts a request of an address, and reports whether it may go on.
func (l *Limiter) Admit(class Class, from netip.Addr) bool {
	return l == nil || l.addresses[class].take(account.Neighbourhood(from), l.clock)
}

// AdmitKey does the same for a key.
func (l *Limiter) AdmitKey(class Class, key bourse.KeyID) bool {
	return l == nil || l.keys[class].take(key, l.clock)
}

// Guard returns an authenticator that passes on to another one what the limit of
// failures lets through; beyond it the error is ErrTooMany, right secrets
// included, so that guessing learns nothing.
func (l *Limiter) Guard(who Authenticator) Authenticator {
	if l == nil || l.failures == nil {
		return who
	}
	return &guard{l, who}
}

type guard struct {
	limiter *Limiter
	who     Authenticator
}

// Authenticate says who is asking.
func (g *guard) Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error) {
	at, failures := account.Neighbourhood(from), g.limiter.failures
	if failures.empty(at, g.limiter.clock) {
		return account.Identity{}, ErrTooMany
	}
	who, err := g.who.Authenticate(ctx, secret, from)
	if known := (*bourse.Error)(nil); errors.As(err, &known) && known.Code == bourse.CodeUnauthorized {
		failures.take(at, g.limiter.clock)
	}
	return who, err
}

// The bounds of buckets: how many there are at least before idle ones are looked
// for, and at most. A bucket takes some 50 bytes.
const (
	fewBuckets  = 1024
	mostBuckets = 1 << 17
)

// buckets are token buckets by name. Of each one only the moment is kept at which
// it will be full again; it is a moment of the past for one that is full, which
// therefore need not be kept at all.
type buckets[K comparable] struct {
	// every is what one token takes to come back; depth what it takes for all
	// but one.
	every, depth time.Duration

	mu sync.Mutex
	// full is by name; the zero name stands for all that found no room.
	full map[K]time.Time
	// sweep is at how many buckets idle ones are looked for, swept when they last
	// were.
	sweep int
	swept time.Time
}

// newBuckets returns nil for a rate that sets no limit.
func newBuckets[K comparable](r Rate) *buckets[K] {
	if r.PerSecond <= 0 {
		return nil
	}
	every := time.Duration(float64(time.Second) / r.PerSecond)
	return &buckets[K]{
		every: every, depth: every * time.Duration(max(r.Burst, 1)-1),
		full: map[K]time.Time{}, sweep: fewBuckets,
	}
}

// take takes a token, and reports whether there was one. Nil buckets never run
// dry.
func (b *buckets[K]) take(name K, clock func() time.Time) bool {
	if b == nil {
		return true
	}
	now := clock()
	b.mu.Lock()
	defer b.mu.Unlock()
	name = b.place(name, now)
	full := b.full[name]
	if full.Before(now) {
		full = now
	}
	if full.Sub(now) > b.depth {
		return false
	}
	b.full[name] = full.Add(b.every)
	return true
}

// empty reports whether take would fail.
func (b *buckets[K]) empty(name K, clock func() time.Time) bool {
	now := clock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full[b.place(name, now)].Sub(now) > b.depth
}

// place makes room for a name, or returns the one that stands for it.
func (b *buckets[K]) place(name K, now time.Time) K {
	if _, known := b.full[name]; known || len(b.full) < b.sweep {
		return name
	}
	var nobody K
	if len(b.full) >= mostBuckets && now.Sub(b.swept) < time.Second {
		return nobody
	}
	b.swept = now
	for n, full := range b.full {
		if !full.After(now) {
			delete(b.full, n)
		}
	}
	b.sweep = min(max(2*len(b.full), fewBuckets), mostBuckets)
	if len(b.full) >= mostBuckets {
		return nobody
	}
	return name
}
