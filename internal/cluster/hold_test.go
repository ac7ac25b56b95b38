package cluster_test

import (
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
)

// TestHolds keeps segments from the archive for a learner's first day, for each learner anew, and no longer than it
// is one.
func TestHolds(t *testing.T) {
	look := cluster.NewHolds()
	begin := time.Unix(1e9, 0)
	for _, c := range []struct {
		why      string
		learners []uint64
		at       time.Duration
		holds    bool
	}{
		{"nobody joins", nil, 0, false},
		{"a node joins", []uint64{4}, time.Hour, true},
		{"it still lacks entries", []uint64{4}, 24 * time.Hour, true},
		{"it never came", []uint64{4}, 25 * time.Hour, false},
		{"another one joins", []uint64{4, 5}, 26 * time.Hour, true},
		{"both are gone", nil, 27 * time.Hour, false},
		{"the first one joins again", []uint64{4}, 28 * time.Hour, true},
	} {
		if got := look(c.learners, begin.Add(c.at)); got != c.holds {
			t.Errorf("%s: %t", c.why, got)
		}
	}
}
