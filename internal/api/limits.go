package api

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Class groups requests by cost. Each class has its own limit, so that an account over
// its limit of orders can still cancel and read.
type Class uint8

// The classes. Frames and Subscriptions are those of streams.
const (
	Reads Class = iota
	Orders
	Cancels
	Frames
	Subscriptions
	classes
)

// Rate bounds the frequency of an action. The zero Rate sets no limit.
type Rate struct {
	// PerSecond is the sustained average.
	PerSecond float64
	// Burst is the number allowed at once after a pause, at least one.
	Burst int
}

// Rates has a Rate for each class.
type Rates struct{ Reads, Orders, Cancels, Frames, Subscriptions Rate }

// SourceRates limit requests without a valid secret; all classes of REST share Requests.
type SourceRates struct{ Requests, Frames, Subscriptions Rate }

// Limits apply to each account and, without a valid secret, to each source. The zero
// Limits allow everything.
type Limits struct {
	Account Rates
	Source  SourceRates
	// FailedAuth limits the invalid secrets of a source.
	FailedAuth Rate
	// Connections bounds the open connections of a source; zero is no bound.
	Connections int
	// Weight bounds the weight of a source's requests in a minute in the interface that bots of
	// Binance speak; zero is no bound.
	Weight int
}

// Payer is charged for a request: the account of a valid secret or, if Account is zero,
// the source.
type Payer struct {
	Account bourse.AccountID
	Source  netip.Addr
}

// Limiter counts requests against limits. A nil *Limiter allows everything. Safe for
// concurrent use.
type Limiter struct {
	clock    func() time.Time
	began    time.Time
	accounts [classes]*buckets[bourse.AccountID]
	sources  [classes]*buckets[netip.Addr]
	failures *buckets[netip.Addr]
}

// NewLimiter returns a limiter with full buckets.
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

// now returns the time since the limiter began, which follows the monotonic clock.
func (l *Limiter) now() time.Duration { return l.clock().Sub(l.began) }

// Admit counts a request and reports whether its payer is within the limit.
func (l *Limiter) Admit(class Class, who Payer) bool { return l.AdmitWork(class, who, 1) }

// AdmitWork counts a request whose weight is known in advance.
func (l *Limiter) AdmitWork(class Class, who Payer, tokens int) bool {
	_, ok := l.admit(class, who, tokens)
	return ok
}

// Take is Admit, with the state of the limit after it.
func (l *Limiter) Take(class Class, who Payer) (Standing, bool) { return l.admit(class, who, 1) }

// admit is AdmitWork, with the state of the limit after it.
func (l *Limiter) admit(class Class, who Payer, tokens int) (Standing, bool) {
	switch {
	case l == nil:
		return Standing{}, true
	case who.Account != 0:
		return l.accounts[class].take(who.Account, tokens, l.now())
	}
	return l.sources[class].take(account.Neighbourhood(who.Source), tokens, l.now())
}

// Charge counts work that a request caused. It returns the payer's debt as a multiple of
// its limit; zero while it is within.
func (l *Limiter) Charge(class Class, who Payer, tokens int) (over int) {
	over, _ = l.charge(class, who, tokens)
	return over
}

// charge is Charge, with the state of the limit after it.
func (l *Limiter) charge(class Class, who Payer, tokens int) (over int, after Standing) {
	switch {
	case l == nil:
		return 0, Standing{}
	case who.Account != 0:
		return l.accounts[class].charge(who.Account, tokens, l.now())
	}
	return l.sources[class].charge(account.Neighbourhood(who.Source), tokens, l.now())
}

// Overdrawn reports whether an account owes for work that its requests caused, beyond the
// requests themselves.
func (l *Limiter) Overdrawn(class Class, who bourse.AccountID) bool {
	return l != nil && l.accounts[class].overdrawn(who, l.now())
}

// weighedBytes is the size of an answer that its request pays for; each further part of
// this size weighs as much as a request.
const weighedBytes = 8 << 10

// ChargeAnswer counts an answer by its size.
func (l *Limiter) ChargeAnswer(class Class, who Payer, size int) {
	if more := size / weighedBytes; more > 0 {
		l.Charge(class, who, more)
	}
}

// Guard returns an authenticator that bounds the invalid secrets of a source; beyond the
// limit the error wraps bourse.ErrBusy. A valid secret always passes: with 256 random bits
// guessing is hopeless, and clients behind one address do not lock each other out.
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

// Authenticate finds the holder of a secret.
func (g *guard) Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error) {
	who, err := g.who.Authenticate(ctx, secret, from)
	return who, g.limiter.failed(from, err)
}

// failed counts an error for an invalid secret. Beyond the limit of its source it returns a
// *account.LimitError, else err.
func (l *Limiter) failed(from netip.Addr, err error) error {
	known := (*bourse.Error)(nil)
	if bad := errors.As(err, &known) && known.Code == bourse.CodeUnauthorized; !bad {
		return err
	}
	if after, ok := l.failures.take(account.Neighbourhood(from), 1, l.now()); !ok {
		return &account.LimitError{Limit: bourse.ErrBusy, Wait: after.Next}
	}
	return err
}

// GuardSigned is Guard for signed requests: an unknown key counts like an invalid secret, and
// so does a signature that does not fit.
func (l *Limiter) GuardSigned(v Verifier) Verifier {
	if l == nil || l.failures == nil {
		return v
	}
	return &signedGuard{l, v}
}

type signedGuard struct {
	limiter *Limiter
	signed  Verifier
}

// Signer returns the identity that a key claims.
func (g *signedGuard) Signer(ctx context.Context, key account.Secret, from netip.Addr) (account.Identity, error) {
	who, err := g.signed.Signer(ctx, key, from)
	return who, g.limiter.failed(from, err)
}

// VerifySigned returns the identity that a signature proves.
func (g *signedGuard) VerifySigned(
	ctx context.Context, r *account.Signed, from netip.Addr, once bool,
) (account.Identity, error) {
	who, err := g.signed.VerifySigned(ctx, r, from, once)
	return who, g.limiter.failed(from, err)
}
