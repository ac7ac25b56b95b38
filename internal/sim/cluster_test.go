package sim_test

import (
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/sim"
)

// TestClusterSeeds simulates clusters of three nodes, one seed after the other: raft draws
// from a source of the whole process. The default is a sample; `make sim` is the gate.
func TestClusterSeeds(t *testing.T) {
	n, rounds := *seeds, *commands
	if n == 0 {
		n = 8
	}
	if rounds == 0 {
		rounds = 3000
	}
	began := time.Now()
	var counts sim.ClusterCounts
	var commands, simulated, done uint64
	for seed := max(*oneSeed, 1); done < n; seed++ {
		report, err := sim.RunCluster(sim.Options{Seed: seed, Commands: rounds})
		if err != nil {
			t.Fatalf("%v\n\nto repeat it:\n\tmake sim-cluster SEED=%d", err, seed)
		}
		counts.Add(&report.Counts)
		commands, simulated, done = commands+report.Commands, simulated+report.Simulated, done+1
	}
	took := time.Since(began)
	t.Logf("%d seeds in %v, each twice: %v simulated, %d commands, %v",
		done, took.Round(time.Second), time.Duration(simulated)*time.Microsecond, commands, &counts)
	if missing := counts.Missing(); done >= enough && len(missing) > 0 {
		t.Errorf("what never happened: %v", missing)
	}
}
