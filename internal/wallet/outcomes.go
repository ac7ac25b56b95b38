package wallet

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// maxOutcomes bounds how often a transaction may be mined with another outcome.
const maxOutcomes = 1 << 32 / chain.MaxIndex

// Index returns the index of an inflow of a transaction on a network of accounts. It is the inflow's own, unless a block
// that left the chain had another amount, asset or address there: a contract may pay as it likes each time that its
// transaction is mined, and a deposit is one payment. Then it is the first one that is free, or has this payment.
func (b *Board) Index(id bourse.NetworkID, tx bourse.TxHash, in *bourse.Inflow) uint32 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return in.Index
	}
	for outcome := range uint32(maxOutcomes) {
		index := in.Index + outcome*chain.MaxIndex
		d, known := n.gone[bourse.Outpoint{Tx: tx, Index: index}]
		if !known || d.Asset == in.Asset && d.Amount == in.Amount && d.Address == in.Address {
			return index
		}
	}
	return in.Index // the journal refuses it
}

// Gone reports whether a deposit is known whose block left the chain.
func (b *Board) Gone(id bourse.NetworkID, at bourse.Outpoint) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return false
	}
	_, known := n.gone[at]
	return known
}
