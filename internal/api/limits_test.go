package api

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// watch is a manual clock.
type watch struct{ now time.Time }

func (w *watch) read() time.Time { return w.now }

func newWatch() *watch { return &watch{time.Unix(1_700_000_000, 0)} }

// admitted returns how many of n requests are admitted.
func admitted(n int, admit func() bool) (good int) {
	for range n {
		if admit() {
			good++
		}
	}
	return good
}

func source(text string) Payer { return Payer{Source: netip.MustParseAddr(text)} }

func TestLimits(t *testing.T) {
	w := newWatch()
	l := NewLimiter(Limits{
		Source:  SourceRates{Requests: Rate{PerSecond: 10, Burst: 5}, Frames: Rate{PerSecond: 1}},
		Account: Rates{Reads: Rate{PerSecond: 2, Burst: 4}},
	}, w.read)
	a, b := source("192.0.2.1"), source("192.0.2.2")
	mapped := Payer{Source: netip.AddrFrom16(a.Source.As16())}
	for _, c := range []struct {
		name  string
		class Class
		who   Payer
		after time.Duration
		want  int
	}{
		{"a burst", Orders, a, 0, 5},
		{"the same address in another form", Orders, mapped, 0, 0},
		{"another class of the same cost", Reads, a, 0, 0},
		{"another address", Orders, b, 0, 5},
		{"a class of its own", Frames, a, 0, 1},
		{"a class without limit", Subscriptions, a, 0, 20},
		{"an account", Reads, Payer{1, a.Source}, 0, 4},
		{"the account from elsewhere", Reads, Payer{1, b.Source}, 0, 0},
		{"another account", Reads, Payer{2, a.Source}, 0, 4},
		{"what came back", Orders, a, 250 * time.Millisecond, 2},
		{"not more than the burst", Orders, a, time.Hour, 5},
	} {
		w.now = w.now.Add(c.after)
		if got := admitted(20, func() bool { return l.Admit(c.class, c.who) }); got != c.want {
			t.Errorf("%s: %d of 20 went on, want %d", c.name, got, c.want)
		}
	}
}

// TestDebt checks that a weight beyond the burst is paid off in time, and that a debt is
// bounded.
func TestDebt(t *testing.T) {
	w := newWatch()
	l := NewLimiter(Limits{
		Source: SourceRates{Requests: Rate{PerSecond: 1, Burst: 3}}, Account: Rates{Orders: Rate{PerSecond: 1, Burst: 3}},
	}, w.read)
	a := source("192.0.2.1")
	if !l.AdmitWork(Reads, a, 6) || l.Admit(Reads, a) {
		t.Error("a weight of 6 is more than a burst of 3, and leaves nothing")
	}
	w.now = w.now.Add(3 * time.Second)
	if l.Admit(Reads, a) {
		t.Error("the debt was forgiven")
	}
	w.now = w.now.Add(time.Second)
	if !l.Admit(Reads, a) {
		t.Error("the debt was paid")
	}

	over := l.Charge(Reads, a, 6)
	if more := l.Charge(Reads, a, 1); over != 1 || more != 3 {
		t.Errorf("spent %d and %d times over, want 1 and 3", over, more)
	}
	for _, c := range []struct {
		more int
		want bool
	}{{2, false}, {1, false}, {1, true}} {
		if l.accounts[Orders].add(l.accounts[Orders].find(1, l.now()), c.more, l.now()); l.Overdrawn(Orders, 1) != c.want {
			t.Errorf("overdrawn by %d more: %t", c.more, !c.want)
		}
	}
	l.Charge(Reads, a, 1<<40)
	w.now = w.now.Add(mostOwed * 3 * time.Second)
	if !l.Admit(Reads, a) {
		t.Error("the debt has no end")
	}
}

// TestNeighbours checks that a customer's IPv6 network counts as one address.
func TestNeighbours(t *testing.T) {
	l := NewLimiter(Limits{Source: SourceRates{Requests: Rate{PerSecond: 1, Burst: 3}}}, newWatch().read)
	at, good := netip.MustParseAddr("2001:db8:0:1::"), 0
	for range 20 {
		at = at.Next()
		if l.Admit(Reads, Payer{Source: at}) {
			good++
		}
	}
	if good != 3 || !l.Admit(Reads, source("2001:db8:0:2::1")) {
		t.Errorf("%d went on, want 3, and the network beside it", good)
	}
}

func TestNoLimits(t *testing.T) {
	for _, l := range []*Limiter{nil, NewLimiter(Limits{}, newWatch().read)} {
		if admitted(1000, func() bool { return l.Admit(Orders, Payer{}) && l.Admit(Frames, Payer{Account: 1}) }) != 1000 {
			t.Error("a limit that nobody set")
		}
		if l.Charge(Reads, Payer{}, 1000) != 0 {
			t.Error("work beyond no limit")
		}
	}
}

// TestNobodySharesABucket uses more addresses than a table holds: each new one has its
// own burst, and a debt is kept.
func TestNobodySharesABucket(t *testing.T) {
	w := newWatch()
	b := newBuckets[uint32](Rate{PerSecond: 1, Burst: 4})
	now := func() time.Duration { return w.now.Sub(time.Unix(1_700_000_000, 0)) }
	b.take(1, 30, now())
	for name := range uint32(2 * mostBuckets) {
		if _, ok := b.take(name+2, 2, now()); !ok {
			t.Fatalf("the newcomer %d has no burst of its own", name)
		}
		if len(b.all) > mostBuckets || len(b.at) != len(b.all) {
			t.Fatalf("%d buckets by %d names", len(b.all), len(b.at))
		}
	}
	if _, ok := b.take(1, 1, now()); ok {
		t.Error("the debt was forgiven")
	}

	w.now = w.now.Add(time.Hour)
	for name := range uint32(mostBuckets) {
		b.take(name, 1, now())
		w.now = w.now.Add(time.Second)
	}
	if len(b.all) > fewBuckets {
		t.Errorf("%d buckets are left of those that are full again", len(b.all))
	}
}

// TestBucketsComeAndGo adds crowds of every size while earlier ones pay their debts, so
// that makeRoom starts at every position.
func TestBucketsComeAndGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	b := newBuckets[uint64](Rate{PerSecond: 100, Burst: 10})
	var now time.Duration
	for range 300_000 {
		b.take(rng.Uint64N(20_000), 1+rng.IntN(300), now)
		if rng.IntN(2_000) == 0 {
			now += time.Duration(rng.Int64N(int64(10 * time.Second)))
		}
	}
	for name, at := range b.at {
		if b.all[at].name != name {
			t.Fatalf("the bucket of %d is that of %d", name, b.all[at].name)
		}
	}
	slow := newBuckets[int](Rate{PerSecond: 0.00001, Burst: 2})
	slow.charge(1, math.MaxInt, 0)
	if owed := slow.all[0].full; owed != mostOwed*2*slow.every {
		t.Errorf("%v are owed", owed)
	}
}

// door accepts the secret "good".
type door struct{}

func (door) Authenticate(_ context.Context, secret account.Secret, _ netip.Addr) (account.Identity, error) {
	if secret != "good" {
		return account.Identity{}, account.ErrUnauthorized
	}
	return account.Identity{Account: 1}, nil
}

// TestGuard checks that a source has a limited number of bad secrets, and that a good one
// always passes.
func TestGuard(t *testing.T) {
	w := newWatch()
	who := NewLimiter(Limits{FailedAuth: Rate{PerSecond: 0.1, Burst: 3}}, w.read).Guard(door{})
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	ask := func(secret account.Secret, from netip.Addr, want error) {
		t.Helper()
		if _, err := who.Authenticate(t.Context(), secret, from); !errors.Is(err, want) {
			t.Errorf("%q from %v: %v, want %v", string(secret), from, err, want)
		}
	}
	for range 3 {
		ask("bad", a, account.ErrUnauthorized)
	}
	for range 100 {
		ask("bad", a, bourse.ErrBusy)
		ask("good", a, nil)
	}
	ask("bad", b, account.ErrUnauthorized)
	w.now = w.now.Add(10 * time.Second)
	ask("bad", a, account.ErrUnauthorized)
	ask("bad", a, bourse.ErrBusy)
	if e := (*bourse.Error)(nil); !errors.As(bourse.ErrBusy, &e) || e.Code != bourse.CodeBusy {
		t.Error("a client that asks too often is told something else")
	}
}

// TestSkippedRowsWeigh checks the weight of rows that a page skips: never more than the
// list has.
func TestSkippedRowsWeigh(t *testing.T) {
	l := NewLimiter(Limits{Account: Rates{Reads: Rate{PerSecond: 1, Burst: 10}}}, newWatch().read)
	for who, c := range map[bourse.AccountID]struct {
		skip  int
		count uint64
		left  int
	}{
		1: {skip: 999, count: 5000, left: 10},
		2: {skip: 1000, count: 5000, left: 9},
		3: {skip: 3500, count: 1 << 40, left: 7},
		4: {skip: MaxOffset, count: 4000, left: 6},
		5: {skip: MaxOffset, count: 0, left: 10},
	} {
		call := Call{Who: account.Identity{Account: who}, Limits: l, Class: Reads}
		call.ChargeSkipped(c.skip, c.count)
		if n := admitted(20, func() bool { return l.Admit(Reads, Payer{Account: who}) }); n != c.left {
			t.Errorf("skipping %d of %d rows leaves %d requests, want %d", c.skip, c.count, n, c.left)
		}
	}
}
