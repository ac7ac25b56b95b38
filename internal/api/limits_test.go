package api

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// watch is a clock that is set by hand.
type watch struct{ now time.Time }

func (w *watch) read() time.Time { return w.now }

func newWatch() *watch { return &watch{time.Unix(1_700_000_000, 0)} }

// admitted counts how many of n requests go on.
func admitted(n int, admit func() bool) (good int) {
	for range n {
		if admit() {
			good++
		}
	}
	return good
}

func TestLimits(t *testing.T) {
	w := newWatch()
	l := NewLimiter(Limits{
		Address: Rates{Orders: Rate{PerSecond: 10, Burst: 5}, Cancels: Rate{PerSecond: 1}},
		Key:     Rates{Reads: Rate{PerSecond: 2, Burst: 4}},
	}, w.read)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for _, c := range []struct {
		name  string
		admit func() bool
		after time.Duration
		want  int
	}{
		{"a burst", func() bool { return l.Admit(Orders, a) }, 0, 5},
		{"the same address in another form", func() bool { return l.Admit(Orders, netip.AddrFrom16(a.As16())) }, 0, 0},
		{"another address", func() bool { return l.Admit(Orders, b) }, 0, 5},
		{"another class", func() bool { return l.Admit(Cancels, a) }, 0, 1},
		{"a class without limit", func() bool { return l.Admit(Reads, a) }, 0, 20},
		{"a key", func() bool { return l.AdmitKey(Reads, 1) }, 0, 4},
		{"another key", func() bool { return l.AdmitKey(Reads, 2) }, 0, 4},
		{"what came back", func() bool { return l.Admit(Orders, a) }, 250 * time.Millisecond, 2},
		{"not more than the burst", func() bool { return l.Admit(Orders, a) }, time.Hour, 5},
	} {
		w.now = w.now.Add(c.after)
		if got := admitted(20, c.admit); got != c.want {
			t.Errorf("%s: %d of 20 went on, want %d", c.name, got, c.want)
		}
	}
}

// TestNeighbours wants one customer's network of IPv6 to count as one address.
func TestNeighbours(t *testing.T) {
	l := NewLimiter(Limits{Address: Rates{Reads: Rate{PerSecond: 1, Burst: 3}}}, newWatch().read)
	at, good := netip.MustParseAddr("2001:db8:0:1::"), 0
	for range 20 {
		at = at.Next()
		if l.Admit(Reads, at) {
			good++
		}
	}
	if good != 3 || !l.Admit(Reads, netip.MustParseAddr("2001:db8:0:2::1")) {
		t.Errorf("%d went on, want 3, and the network beside it", good)
	}
}

func TestNoLimits(t *testing.T) {
	for _, l := range []*Limiter{nil, NewLimiter(Limits{}, newWatch().read)} {
		if admitted(1000, func() bool { return l.Admit(Orders, netip.Addr{}) && l.AdmitKey(Cancels, 1) }) != 1000 {
			t.Error("a limit that nobody set")
		}
	}
}

// TestBounded comes from more addresses than there is room for.
func TestBounded(t *testing.T) {
	w := newWatch()
	b := newBuckets[uint32](Rate{PerSecond: 1, Burst: 2})
	for name := range uint32(2 * mostBuckets) {
		b.take(name+1, w.read)
	}
	if len(b.full) > mostBuckets+1 {
		t.Errorf("%d buckets", len(b.full))
	}
	if b.take(3*mostBuckets, w.read) {
		t.Error("those without room have more together than one alone")
	}
	w.now = w.now.Add(time.Minute)
	if !b.take(3*mostBuckets, w.read) || len(b.full) > 2 {
		t.Errorf("%d buckets are left after a minute", len(b.full))
	}
}

// door lets the secret "good" in.
type door struct{}

func (door) Authenticate(_ context.Context, secret account.Secret, _ netip.Addr) (account.Identity, error) {
	if secret != "good" {
		return account.Identity{}, ErrUnauthorized
	}
	return account.Identity{Account: 1}, nil
}

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
	for range 100 {
		ask("good", a, nil)
	}
	for range 3 {
		ask("bad", a, ErrUnauthorized)
	}
	ask("bad", a, ErrTooMany)
	ask("good", a, ErrTooMany)
	ask("good", b, nil)
	w.now = w.now.Add(10 * time.Second)
	ask("good", a, nil)
	ask("bad", a, ErrUnauthorized)
	ask("bad", a, ErrTooMany)
	if e := (*bourse.Error)(nil); !errors.As(ErrTooMany, &e) || e.Code != bourse.CodeBusy {
		t.Error("who asks too often is told something else")
	}
}
