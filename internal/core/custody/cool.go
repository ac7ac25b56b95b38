package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// ByOutput reports whether the network's money lies in outputs; false before its first block.
func (n *Network) ByOutput() bool { return n.byOutput }

// MayCool reports whether a transaction to cold storage is in no block and may be mined: one that was given up may,
// unless a block at least depth deep excludes it. A second one would move as much again.
func (n *Network) MayCool(depth uint64) bool {
	return ordered.Any(n.signed, func(s *bourse.SignedTx) bool {
		return s.Kind == bourse.SignedCool && s.State != bourse.SignedMined && !n.excluded(s, depth)
	})
}

// Beside reports whether a transaction from cold storage would not be the only one: another one waits for a block, or was
// given up and may be mined as well. One that shares an output with those given up takes their place.
func (n *Network) Beside(s *bourse.SignedTx, depth uint64) bool {
	return ordered.Any(n.signed, func(old *bourse.SignedTx) bool {
		switch {
		case old.Kind != bourse.SignedWarm || old.Tx == s.Tx || old.State == bourse.SignedMined:
			return false
		case old.State == bourse.SignedDropped:
			return !old.Rivals(s) && !n.excluded(old, depth)
		}
		return true
	})
}

// Drops gives up the transactions of a kind that are in no block, and reports whether there were any.
func (n *Network) Drops(ev *bourse.Events, kind bourse.SignedKind) bool {
	waiting := ordered.Select(n.signed,
		func(s *bourse.SignedTx) bool { return s.Kind == kind && s.State <= bourse.SignedAccepted },
		byHash)
	for _, s := range waiting {
		n.Drop(ev, s)
	}
	return len(waiting) > 0
}
