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

// DropCools gives up the transactions to cold storage that are in no block, and reports whether there were any.
func (n *Network) DropCools(ev *bourse.Events) bool {
	waiting := ordered.Select(n.signed,
		func(s *bourse.SignedTx) bool { return s.Kind == bourse.SignedCool && s.State <= bourse.SignedAccepted },
		byHash)
	for _, s := range waiting {
		n.Drop(ev, s)
	}
	return len(waiting) > 0
}
