package sim_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/sim"
)

// TestChainFollowed simulates until an exchange follows a chain that changed deeper than it remembers.
func TestChainFollowed(t *testing.T) {
	if testing.Short() {
		return
	}
	const first, most = 1, 60
	var seen sim.Counts
	for seed := uint64(first); seen[sim.ChainFollowed] == 0; seed++ {
		if seed == first+most {
			t.Fatalf("%d seeds, and no such chain", most)
		}
		report, err := sim.Run(sim.Options{Seed: seed, Commands: 300})
		if err != nil {
			t.Fatal(err)
		}
		seen.Add(&report.Counts)
	}
}
