package engine_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// The whole proof is -seeds=100 -commands=100000; what runs by default is a
// sample of it.
var (
	seeds     = flag.Uint64("seeds", 10, "how many workloads TestAgreement draws")
	firstSeed = flag.Uint64("first-seed", 1, "the first of them")
	commands  = flag.Int("commands", 20_000, "how many commands each of them has")
	every     = flag.Int("every", 16, "after how many commands the whole state is compared")
)

// TestAgreement runs random workloads through the engine, a naive exchange and
// an engine restored from snapshots, and wants them to agree after each
// command. A failure names the seed that repeats it.
func TestAgreement(t *testing.T) {
	n := *commands
	if testing.Short() && n > 2000 {
		n = 2000
	}
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		src := enginetest.Seed(seed)
		agree(t, &src, seed, n)
	}
}

func agree(t *testing.T, src enginetest.Source, seed uint64, n int) {
	t.Helper()
	p := enginetest.NewPair()
	w := enginetest.NewWorkload(src, p.Oracle)
	for i := 0; i < n && !w.Done(); i++ {
		cmd := w.Next()
		err := p.Apply(&cmd)
		if err == nil && (i%*every == 0 || i < 200) {
			err = p.Check()
		}
		if err == nil && (i%997 == 996 || i%5 == 0 && p.Engine.Unfinished()) {
			err = p.Restore()
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, cmd)
		}
	}
	if err := p.Check(); err != nil {
		t.Fatalf("seed %d, at the end: %v", seed, err)
	}
	if err := p.Restore(); err != nil {
		t.Fatalf("seed %d, at the end: %v", seed, err)
	}
}

// TestWorkloadsDrawEveryStop wants random workloads to lead each type of order that waits to
// each of its ends, and to be refused for want of a collar: what they do not draw, agreement
// does not prove.
func TestWorkloadsDrawEveryStop(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 10; seed++ {
		src, p := enginetest.Seed(seed), enginetest.NewPair()
		w := enginetest.NewWorkload(&src, p.Oracle)
		for range 5000 {
			cmd := w.Next()
			if err := p.Apply(&cmd); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, e := range p.Events().List {
				if what := endOf(p.Events(), e); what != "" {
					seen[what]++
				}
			}
		}
	}

	wanted := []string{"refused without a collar"}
	for kind := bourse.StopLimit; kind <= bourse.LastOrderType; kind++ {
		for _, side := range []bourse.Side{bourse.Buy, bourse.Sell} {
			for _, end := range []string{"canceled while it waits", "filled", "killed in part", "killed"} {
				wanted = append(wanted, fmt.Sprintf("%s %s %s", kind, side, end))
			}
		}
	}
	for _, kind := range []bourse.OrderType{bourse.StopMarket, bourse.TakeProfitMarket} {
		wanted = append(wanted, kind.String()+" by total filled", kind.String()+" by total killed in part")
	}
	for _, what := range wanted {
		if seen[what] == 0 {
			t.Errorf("%s: never", what)
		}
	}
}

// endOf returns how an order that waited ended, in words; empty for other events.
func endOf(ev *bourse.Events, e bourse.Event) string {
	switch e.Kind {
	case bourse.EventOrderRejected:
		if e.Reason == bourse.NoCollar {
			return "refused without a collar"
		}
	case bourse.EventOrderClosed:
		o := &ev.Orders[e.At]
		name := fmt.Sprintf("%s %s ", o.Type, o.Side)
		if !o.Total.IsZero() {
			name = o.Type.String() + " by total "
		}
		switch {
		case !o.Type.HasStop():
		case !o.Triggered:
			return name + "canceled while it waits"
		case o.Status == bourse.Filled:
			return name + "filled"
		case o.Status == bourse.Killed && o.Filled > 0:
			return name + "killed in part"
		case o.Status == bourse.Killed:
			return name + "killed"
		}
	default:
	}
	return ""
}
