package wallet

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// otherCold is the reason of a network whose cold storage is not that of the settings. Nobody would see its outputs
// spent, and the journal would have money that is gone.
const otherCold = "the journal has coins in another cold storage than that of the settings: " +
	"set cold as it was, and move them first"

// misplaced reports whether the journal has outputs of cold storage under another descriptor than that of the settings.
func (w *Worker) misplaced() bool {
	return slices.ContainsFunc(w.Board.Colds(w.ID), func(first uint32) bool { return first != w.Network.Shape().Cold })
}

// knownCold leaves out what transactions of a part spend of cold storage and the journal does not have: it came before the
// setting, and was never counted.
func (w *Worker) knownCold(part []bourse.TxEffect) []bourse.TxEffect {
	isCold := func(out bourse.Outflow) bool { return chain.IsCold(out.Address) }
	if !slices.ContainsFunc(part, func(tx bourse.TxEffect) bool { return slices.ContainsFunc(tx.Outflows, isCold) }) {
		return part
	}
	made := map[bourse.Outpoint]bool{}
	var list []bourse.TxEffect
	for _, tx := range part {
		from, spent := tx.Outflows, tx.Spent
		tx.Outflows, tx.Spent = nil, nil
		for i := range from {
			if isCold(from[i]) && !made[spent[i]] && !w.Board.HasCold(w.ID, from[i].Address, spent[i]) {
				continue
			}
			tx.Outflows, tx.Spent = append(tx.Outflows, from[i]), append(tx.Spent, spent[i])
		}
		for i := range tx.Inflows {
			made[bourse.Outpoint{Tx: tx.Hash, Index: tx.Inflows[i].Index}] = true
		}
		if len(tx.Outflows)+len(tx.Inflows) > 0 {
			list = append(list, tx)
		}
	}
	return list
}

// Cold returns the sums of the outputs of cold storage, by asset.
func (b *Board) Cold(id bourse.NetworkID) map[bourse.AssetID]bourse.Amount {
	b.mu.RLock()
	defer b.mu.RUnlock()
	sums := map[bourse.AssetID]bourse.Amount{}
	if n := b.networks[id]; n != nil {
		for _, outputs := range n.cold {
			addTo(sums, outputs)
		}
	}
	return sums
}

// Colds returns the indices of the first addresses of the cold storages that have outputs.
func (b *Board) Colds(id bourse.NetworkID) (list []uint32) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if n := b.networks[id]; n != nil {
		for first, outputs := range n.cold {
			if len(outputs) > 0 {
				list = append(list, first)
			}
		}
	}
	return list
}

// HasCold reports whether an address of cold storage has an output.
func (b *Board) HasCold(id bourse.NetworkID, address uint32, at bourse.Outpoint) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return false
	}
	_, there := n.cold[chain.FirstCold(address)][at]
	return there
}
