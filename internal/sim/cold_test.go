package sim_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/sim"
)

// TestColdMoves simulates until blocks had moves from cold storage, and moves to or from there that were given up.
func TestColdMoves(t *testing.T) {
	if testing.Short() {
		return
	}
	const first, most = 7141, 60
	var seen sim.Counts
	for seed := uint64(first); seen[sim.Warmed] == 0 || seen[sim.EndedMoveMined] == 0; seed++ {
		if seed == first+most {
			t.Fatalf("%d seeds, and no such moves", most)
		}
		report, err := sim.Run(sim.Options{Seed: seed, Commands: 2000})
		if err != nil {
			t.Fatal(err)
		}
		seen.Add(&report.Counts)
	}
}
