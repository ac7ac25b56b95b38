package sim_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/sim"
)

// simulateUntil simulates 60 seeds at most, from the first on, until the sum of their counts has been seen.
func simulateUntil(t *testing.T, first uint64, commands int, seen func(*sim.Counts) bool) {
	t.Helper()
	if testing.Short() {
		return
	}
	const most = 60
	var counts sim.Counts
	for seed := first; !seen(&counts); seed++ {
		if seed == first+most {
			t.Fatalf("%d seeds, and it has not been seen", most)
		}
		report, err := sim.Run(sim.Options{Seed: seed, Commands: commands})
		if err != nil {
			t.Fatal(err)
		}
		counts.Add(&report.Counts)
	}
}

// TestColdMoves simulates until blocks had moves from cold storage, and moves to or from there that were given up.
func TestColdMoves(t *testing.T) {
	simulateUntil(t, 7141, 2000, func(c *sim.Counts) bool { return c[sim.Warmed] > 0 && c[sim.EndedMoveMined] > 0 })
}
