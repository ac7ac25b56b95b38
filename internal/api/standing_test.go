package api

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
)

// TestStandingIsExact compares a bucket's Standing with its behavior: it admits Left requests,
// the next one after Next, and Limit requests after Full.
func TestStandingIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		rate := Rate{PerSecond: 0.2 + 50*rng.Float64(), Burst: 1 + rng.IntN(30)}
		spent, charged := rng.IntN(40), rng.IntN(40)*rng.IntN(2)
		pause := time.Duration(rng.Int64N(int64(3 * time.Second)))

		// after returns a bucket with this past, and the state of it at a later time.
		after := func(more time.Duration) (*buckets[int], time.Duration, Standing) {
			b := newBuckets[int](rate)
			for range spent {
				b.take(1, 1, 0)
			}
			b.charge(1, charged, 0)
			return b, pause + more, b.look(1, pause+more)
		}
		admits := func(more time.Duration) int {
			b, now, _ := after(more)
			return admitted(100, func() bool { _, ok := b.take(1, 1, now); return ok })
		}

		_, _, told := after(0)
		if got := admits(0); got != told.Left || told.Limit != rate.Burst {
			t.Fatalf("%+v, %d and %d spent, %v later: %+v, and %d are admitted", rate, spent, charged, pause, told, got)
		}
		if told.Full > 0 && admits(told.Full-1) == rate.Burst || admits(told.Full) != rate.Burst {
			t.Fatalf("%+v: not full in exactly %v", rate, told.Full)
		}
		if (told.Next > 0) != (told.Left == 0) || told.Next > 0 && admits(told.Next-1) > 0 || admits(told.Next) == 0 {
			t.Fatalf("%+v: %+v, and the next request is not admitted exactly then", rate, told)
		}
	}

	b := newBuckets[int](Rate{PerSecond: 1, Burst: 3})
	taken, _ := b.take(1, 1, 0)
	_, charged := b.charge(2, 5, 0)
	for got, want := range map[Standing]Standing{
		taken:        {3, 2, time.Second, 0},
		charged:      {3, 0, 5 * time.Second, 3 * time.Second},
		b.look(3, 0): {Limit: 3, Left: 3},
	} {
		if got != want {
			t.Errorf("told %+v, want %+v", got, want)
		}
	}
	if got := newBuckets[int](Rate{}).look(1, 0); got != (Standing{}) {
		t.Errorf("no limit is %+v", got)
	}
	for d, want := range map[time.Duration]int{0: 0, 1: 1, time.Second: 1, time.Second + 1: 2} {
		if got := (Standing{Full: d}).Reset(); got != want {
			t.Errorf("%v are %d seconds, want %d", d, got, want)
		}
	}
}

// TestLimitsAreListed checks which limits a payer sees: its account's, or its source's, and
// none that is not set.
func TestLimitsAreListed(t *testing.T) {
	one := Rate{PerSecond: 1, Burst: 10}
	l := NewLimiter(Limits{
		Account:    Rates{Reads: one, Orders: one, Cancels: one, Frames: one},
		Source:     SourceRates{Requests: one, Subscriptions: one},
		FailedAuth: one,
	}, newWatch().read)
	alice, stranger := Payer{Account: 1, Source: source("192.0.2.1").Source}, source("192.0.2.1")
	l.Admit(Orders, alice)
	l.Charge(Frames, alice, 3)
	l.Admit(Orders, stranger)
	l.Admit(Reads, stranger)

	spent := func(class, scope string, n int) Limited {
		return Limited{class, scope, Standing{Limit: 10, Left: 10 - n, Full: time.Duration(n) * time.Second}}
	}
	for who, want := range map[Payer][]Limited{
		alice: {
			spent("reads", "account", 0), spent("orders", "account", 1), spent("cancels", "account", 0),
			spent("frames", "account", 3),
		},
		stranger: {
			spent("requests", "source", 2), spent("subscriptions", "source", 0), spent("invalid_keys", "source", 0),
		},
		{Account: bourse.AccountID(2)}: {
			spent("reads", "account", 0), spent("orders", "account", 0), spent("cancels", "account", 0),
			spent("frames", "account", 0),
		},
	} {
		if got := l.List(who); !slices.Equal(got, want) {
			t.Errorf("%+v: %+v, want %+v", who, got, want)
		}
	}
	var none *Limiter
	if got := slices.Concat(none.List(alice), NewLimiter(Limits{}, newWatch().read).List(alice)); len(got) > 0 {
		t.Errorf("limits that are not set: %v", got)
	}
}
