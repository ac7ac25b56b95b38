package api

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Class says what a request costs us; each class has a limit of its own, so that
// an account that places too many orders can still cancel them, and look.
type Class uint8

// The classes. The last two are those of streams.
const (
	Reads Class = iota
	Orders
	Cancels
	Frames
	Subscriptions
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
type Rates struct{ Reads, Orders, Cancels, Frames, Subscriptions Rate }

// SourceRates are those of requests without a good secret: such a request costs the
// same whatever it asks for.
type SourceRates struct{ Requests, Frames, Subscriptions Rate }

// Limits are what an account and, without a good secret, a source may do. The zero
// Limits allow everything.
type Limits struct {
	Account Rates
	Source  SourceRates
	// FailedAuth is how often a source may show a secret that is no good.
	FailedAuth Rate
	// Connections is how many connections a source may have open; zero for any
	// number.
	Connections int
}

// Payer is what a request is counted against: the account of a good secret, or, where
// Account is zero, the source.
type Payer struct {
	Account bourse.AccountID
	Source  netip.Addr
}

// Limiter counts requests against limits. A nil *Limiter allows everything. It is
// safe for concurrent use.
type Limiter struct {
	clock    func() time.Time
	began    time.Time
	accounts [classes]*buckets[bourse.AccountID]
	sources  [classes]*buckets[netip.Addr]
	failures *buckets[netip.Addr]
}

// NewLimiter returns a limiter that has seen nobody yet.
func NewLimiter(l Limits, clock func() time.Time) *Limiter {
	requests := newBuckets[netip.Addr](l.Source.Requests)
	return &Limiter{
		clock: clock,
		began: clock(),
		accounts: [classes]*buckets[bourse.AccountID]{
			Reads:         newBuckets[bourse.AccountID](l.Account.Reads),
			Orders:        newBuckets[bourse.AccountID](l.Account.Orders),
			Cancels:       newBuckets[bourse.AccountID](l.Account.Cancels),
			Frames:        newBuckets[bourse.AccountID](l.Account.Frames),
			Subscriptions: newBuckets[bourse.AccountID](l.Account.Subscriptions),
		},
		sources: [classes]*buckets[netip.Addr]{
			Reads: requests, Orders: requests, Cancels: requests,
			Frames:        newBuckets[netip.Addr](l.Source.Frames),
			Subscriptions: newBuckets[netip.Addr](l.Source.Subscriptions),
		},
		failures: newBuckets[netip.Addr](l.FailedAuth),
	}
}

// now returns the time since the limiter began, on a clock that cannot be set back.
func (l *Limiter) now() time.Duration { return l.clock().Sub(l.began) }

// Admit counts a request, and reports whether it may go on.
func (l *Limiter) Admit(class Class, who Payer) bool { return l.AdmitWork(class, who, 1) }

// AdmitWork counts a request whose weight is known beforehand.
func (l *Limiter) AdmitWork(class Class, who Payer, tokens int) bool {
	switch {
	case l == nil:
		return true
	case who.Account != 0:
		return l.accounts[class].take(who.Account, tokens, l.now())
	}
	return l.sources[class].take(account.Neighbourhood(who.Source), tokens, l.now())
}

// Charge counts work that a request turned out to cause, and reports how many
// times over the payer has spent its limit; zero while it is within.
func (l *Limiter) Charge(class Class, who Payer, tokens int) (over int) {
	switch {
	case l == nil:
		return 0
	case who.Account != 0:
		return l.accounts[class].charge(who.Account, tokens, l.now())
	}
	return l.sources[class].charge(account.Neighbourhood(who.Source), tokens, l.now())
}

// Overdrawn reports whether an account owes more than its requests took: for what they
// turned out to cause.
func (l *Limiter) Overdrawn(class Class, who bourse.AccountID) bool {
	return l != nil && l.accounts[class].overdrawn(who, l.now())
}

// weighedBytes is the size of an answer that its request has paid for; each further
// part of this size weighs as much as a request.
const weighedBytes = 16 << 10

// ChargeAnswer counts a large answer by its size.
func (l *Limiter) ChargeAnswer(class Class, who Payer, size int) {
	if more := size / weighedBytes; more > 0 {
		l.Charge(class, who, more)
	}
}

// Guard returns an authenticator that bounds how many bad secrets a source may
// show; beyond the limit a bad secret is ErrTooMany. A good one always passes: a
// secret has 256 random bits, so that any number of guesses finds none, and clients
// that share an address don't lock each other out.
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

// Authenticate finds out whose a secret is.
func (g *guard) Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error) {
	who, err := g.who.Authenticate(ctx, secret, from)
	if err == nil {
		return who, nil
	}

	known := (*bourse.Error)(nil)
	bad := errors.As(err, &known) && known.Code == bourse.CodeUnauthorized
	if bad && !g.limiter.failures.take(account.Neighbourhood(from), 1, g.limiter.now()) {
		return who, ErrTooMany
	}
	return who, err
}
