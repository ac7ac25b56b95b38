package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Recounts reports whether the tip is one of the blocks that are counted anew, or the chain begins anew.
func (n *Network) Recounts() bool {
	return n.Recount != (bourse.BlockRef{}) && n.Tip.Height <= n.Recount.Height
}

// Lost reports whether operators may have the network begin anew: it is halted at the oldest block that is remembered,
// or has not read what it counts anew.
func (n *Network) Lost() bool {
	return n.Halted != 0 && len(n.blocks) == 1 || n.Recounts() && n.Tip != n.Recount
}

// UndoAll takes all remembered blocks back, newest first.
func (n *Network) UndoAll(ev *bourse.Events, undo func(*Mined)) {
	if len(n.blocks) > 0 {
		n.former = n.Tip.Hash
	}
	for len(n.blocks) > 0 {
		n.Undo(ev, undo)
	}
}

// Anew forgets all that the network's chain has: the outputs and the balances of addresses, whose sums the engine has
// posted. All blocks were taken back before. Transactions of the exchange stay, and reserve their outputs once blocks
// have them again.
func (n *Network) Anew(ev *bourse.Events, until bourse.BlockRef) {
	for _, u := range n.outputs() {
		gone := *u
		gone.By, gone.Gone = bourse.TxHash{}, true
		ev.AddUnspent(&gone)
	}
	clear(n.unspent)
	for _, h := range n.sortedHoldings() {
		h.Amount = bourse.Amount{}
		ev.AddHolding(&h)
	}
	clear(n.holdings)
	n.Recount = until
}

// Mined returns the deposits that blocks have which are final, by number, once all others were taken back.
func (n *Network) Mined() []*bourse.Deposit {
	return ordered.Select(n.deposits,
		func(d *bourse.Deposit) bool { return d.Mined },
		func(a, b *bourse.Deposit) int { return int(int64(a.Number) - int64(b.Number)) })
}

// Strandings yields the transactions of a withdrawal that were given up, with one of remembered blocks that has the
// place of each and is not known as the exchange's: it spends the same output, or leaves the same address, whose nonce
// no other transaction of the exchange in a block has. It ends once yield reports false.
func (n *Network) Strandings(wallet bourse.WalletID, tx bourse.TxHash, yield func(*Mined, *bourse.SignedTx) bool) {
	height, mined := n.txs[tx]
	if !mined || n.signed[tx] != nil {
		return
	}
	m := n.stranger(tx, height)
	if m == nil {
		return
	}
	for _, old := range ordered.Select(n.signed, func(s *bourse.SignedTx) bool {
		return s.Pays(wallet) && s.State == bourse.SignedDropped && n.supplants(m, s)
	}, byHash) {
		if !yield(m, old) {
			return
		}
	}
}

// supplants reports whether a stranger's transaction can be on the chain in the place of one that was given up.
func (n *Network) supplants(m *Mined, old *bourse.SignedTx) bool {
	if n.byOutput {
		return excludes(m, old)
	}
	for _, t := range m.Outflows {
		if t.Address != old.From {
			return false
		}
	}
	return len(m.Outflows) > 0 && !ordered.Any(n.signed, func(s *bourse.SignedTx) bool {
		return s.State == bourse.SignedMined && s.Rivals(old)
	})
}
