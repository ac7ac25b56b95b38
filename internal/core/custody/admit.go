package custody

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Admit returns the reason why a block cannot be taken in, or zero. A node's answers are
// not trusted: a block that contradicts the state changes nothing.
func (n *Network) Admit(b *bourse.BlockEffect) bourse.Reason {
	if !n.follows(b) {
		return bourse.BlockOutOfOrder
	}
	if (len(n.blocks) > 0 || n.Recount != bourse.BlockRef{}) && n.byOutput != b.ByOutput ||
		b.Height == n.Recount.Height && n.Recount != (bourse.BlockRef{}) && b.BlockRef != n.Recount {
		return bourse.BlockInconsistent
	}
	t := trial{
		Network: n, block: b, seen: map[bourse.TxHash]bool{},
		made: map[bourse.Outpoint]*bourse.Inflow{}, spent: map[bourse.Outpoint]bool{}, has: map[place]bourse.Amount{},
	}
	for i := range b.Txs {
		if !t.try(&b.Txs[i]) {
			return bourse.BlockInconsistent
		}
	}
	return 0
}

func (n *Network) follows(b *bourse.BlockEffect) bool {
	switch {
	case len(n.blocks) == 0:
		return b.Part == 0 && (n.Recount == bourse.BlockRef{} || b.Height <= n.Recount.Height && b.Parent != n.former)
	case n.Part > 0:
		return b.Part == n.Part && b.BlockRef == n.Tip && b.Parent == n.blocks[len(n.blocks)-1].parent
	}
	return b.Part == 0 && b.Height == n.Tip.Height+1 && b.Parent == n.Tip.Hash
}

// trial carries out a block on a copy-on-write layer above the state.
type trial struct {
	*Network
	block *bourse.BlockEffect
	seen  map[bourse.TxHash]bool
	made  map[bourse.Outpoint]*bourse.Inflow
	spent map[bourse.Outpoint]bool
	// has holds the amounts at places that the block touched.
	has map[place]bourse.Amount
}

func (t *trial) try(tx *bourse.TxEffect) bool {
	if t.seen[tx.Hash] || !t.fresh(tx) {
		return false
	}

	t.seen[tx.Hash] = true
	if t.block.ByOutput {
		if !t.trySpent(tx) {
			return false
		}
	} else {
		for _, taken := range tx.Outflows {
			left, ok := t.at(place{taken.Address, taken.Asset}).Sub(taken.Amount)
			if !ok {
				return false
			}
			t.has[place{taken.Address, taken.Asset}] = left
		}
	}

	for i := range tx.Inflows {
		if !t.tryOutput(tx, &tx.Inflows[i]) {
			return false
		}
	}
	return true
}

// fresh reports whether a transaction may come now: it is in no remembered block, or has
// many outputs and goes on in the next part of its own block.
func (t *trial) fresh(tx *bourse.TxEffect) bool {
	height, mined := t.txs[tx.Hash]
	return !mined || height == t.block.Height && t.block.Part > 0 && len(tx.Outflows) == 0 && t.signed[tx.Hash] == nil
}

func (t *trial) at(p place) bourse.Amount {
	if has, touched := t.has[p]; touched {
		return has
	}
	return t.holdings[p]
}

// trySpent checks that the outputs that a transaction spends are known and unspent, and
// that their sums equal its outflows.
func (t *trial) trySpent(tx *bourse.TxEffect) bool {
	sums := map[place]bourse.Amount{}
	for _, at := range tx.Spent {
		p, amount := place{}, bourse.Amount{}
		if o := t.made[at]; o != nil {
			p, amount = place{o.Address, o.Asset}, o.Amount
		} else if u := t.unspent[at]; u != nil {
			p, amount = place{u.Address, u.Asset}, u.Amount
		}
		sum, fits := sums[p].Add(amount)
		if amount.IsZero() || t.spent[at] || !fits {
			return false
		}
		t.spent[at], sums[p] = true, sum
	}

	for _, taken := range tx.Outflows {
		p := place{taken.Address, taken.Asset}
		left, ok := sums[p].Sub(taken.Amount)
		if !ok {
			return false
		}
		sums[p] = left
		if left.IsZero() {
			delete(sums, p)
		}
	}
	return len(sums) == 0
}

func (t *trial) tryOutput(tx *bourse.TxEffect, o *bourse.Inflow) bool {
	at := bourse.Outpoint{Tx: tx.Hash, Index: o.Index}
	if d := t.deposits[at]; d != nil && (d.Mined || d.Asset != o.Asset || d.Amount != o.Amount) {
		return false
	}
	if t.block.ByOutput {
		known := t.made[at] != nil || t.unspent[at] != nil
		t.made[at] = o
		return !known
	}
	p := place{o.Address, o.Asset}
	sum, fits := t.at(p).Add(o.Amount)
	t.has[p] = sum
	return fits
}

// Sums adds up a block's outflows and inflows by asset, and reports false on overflow.
// The sums bound the debts that its postings can cause.
func Sums(b *bourse.BlockEffect) ([]bourse.AssetAmount, bool) {
	var s sums
	for i := range b.Txs {
		s.tx(&b.Txs[i])
	}
	return s.list, !s.overflow
}

// Sums adds up the blocks from a height on in the same way.
func (n *Network) Sums(height uint64) ([]bourse.AssetAmount, bool) {
	var s sums
	for i := range n.blocks {
		if n.blocks[i].Height >= height {
			for _, m := range n.blocks[i].txs {
				s.tx(m.TxEffect)
			}
		}
	}
	return s.list, !s.overflow
}

type sums struct {
	list     []bourse.AssetAmount
	overflow bool
}

func (s *sums) tx(tx *bourse.TxEffect) {
	for i := range tx.Outflows {
		s.add(tx.Outflows[i].Asset, tx.Outflows[i].Amount)
	}
	for i := range tx.Inflows {
		s.add(tx.Inflows[i].Asset, tx.Inflows[i].Amount)
	}
}

func (s *sums) add(asset bourse.AssetID, amount bourse.Amount) {
	at := slices.IndexFunc(s.list, func(a bourse.AssetAmount) bool { return a.Asset == asset })
	if at < 0 {
		s.list = append(s.list, bourse.AssetAmount{Asset: asset, Amount: amount})
		return
	}
	sum, fits := s.list[at].Amount.Add(amount)
	s.list[at].Amount = sum
	s.overflow = s.overflow || !fits
}
