package engine_test

import (
	"flag"
	"testing"

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
