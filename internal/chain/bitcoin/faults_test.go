package bitcoin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestFaults gives a real node faults that the suite of all networks lacks.
func TestFaults(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) { t.Run("Pruned", testPruned) })
}

// testPruned reads from a node that threw old blocks away: those are named as pruned, and later ones are read.
func testPruned(t *testing.T) {
	r := rig(t, nodetest.Pruned())
	out := r.Outside.(*nodetest.Outside)
	head, err := out.Mine(700)
	if err != nil {
		t.Fatal(err)
	}
	up, err := out.Prune(head.Height - 300)
	if err != nil || up == 0 {
		t.Fatalf("pruned up to %d: %v", up, err)
	}
	for _, height := range []uint64{1, up} {
		_, err := r.Network.Block(t.Context(), height)
		if !errors.Is(err, chain.ErrPruned) || !strings.Contains(err.Error(), "block") {
			t.Errorf("block %d: %v", height, err)
		}
	}
	for _, height := range []uint64{up + 1, head.Height} {
		if b, err := r.Network.Block(t.Context(), height); err != nil || b.Height != height {
			t.Errorf("block %d: %v", height, err)
		}
	}
}
