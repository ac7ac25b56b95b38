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
	shape := w.Network.Shape()
	return slices.ContainsFunc(w.Board.Cold(w.ID), func(u bourse.Unspent) bool { return !shape.KeepsCold(u.Address) })
}

// knownCold leaves out what transactions of a part spend of cold storage and the journal does not have: it came before the
// setting, and was never counted.
func (w *Worker) knownCold(part []bourse.TxEffect) []bourse.TxEffect {
	if w.Network.Shape().Cold == 0 {
		return part
	}
	known := map[bourse.Outpoint]bool{}
	for _, u := range w.Board.Cold(w.ID) {
		known[u.Outpoint] = true
	}
	var list []bourse.TxEffect
	for _, tx := range part {
		from, spent := tx.Outflows, tx.Spent
		tx.Outflows, tx.Spent = nil, nil
		for i := range from {
			if chain.IsCold(from[i].Address) && !known[spent[i]] {
				continue
			}
			tx.Outflows, tx.Spent = append(tx.Outflows, from[i]), append(tx.Spent, spent[i])
		}
		for i := range tx.Inflows {
			known[bourse.Outpoint{Tx: tx.Hash, Index: tx.Inflows[i].Index}] = true
		}
		if len(tx.Outflows)+len(tx.Inflows) > 0 {
			list = append(list, tx)
		}
	}
	return list
}
