package custody

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
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
		func(p, q *bourse.SignedTx) int { return compareHashes(p.Tx, q.Tx) })
	for _, s := range waiting {
		n.Drop(ev, s)
	}
	return len(waiting) > 0
}

// cools returns the networks with an open order, by id.
func (c *Custody) cools() []*Network {
	return slices.Collect(func(yield func(*Network) bool) {
		for n := range c.Networks {
			if n.Cool.ID != 0 && !yield(n) {
				return
			}
		}
	})
}

// WriteCools writes the open orders in their canonical form.
func (c *Custody) WriteCools(w *codec.Codec) {
	cooling := c.cools()
	w.Count(len(cooling))
	for _, n := range cooling {
		codeCool(w, &n.Network, &n.Cool)
	}
}

// ReadCools reads the open orders.
func (c *Custody) ReadCools(r *codec.Codec, in *Around) {
	count, last := r.Count(0), bourse.NetworkID(0)
	for ; count > 0 && r.OK(); count-- {
		var id bourse.NetworkID
		var o bourse.CoolOrder
		codeCool(r, &id, &o)
		known := id > last && int(id) < len(c.networks) && c.networks[id] != nil && c.networks[id].byOutput
		if r.Want(known && o.ID > 0 && o.ID <= c.lastWallet && in.Terms(id, o.Asset) && !o.Amount.IsZero()) {
			c.networks[id].Cool, last = o, id
		}
	}
}
