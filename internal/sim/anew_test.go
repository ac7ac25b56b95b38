package sim_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/sim"
)

// TestChainFollowed simulates until an exchange follows a chain that changed deeper than it remembers.
func TestChainFollowed(t *testing.T) {
	simulateUntil(t, 1, 300, func(c *sim.Counts) bool { return c[sim.ChainFollowed] > 0 })
}
