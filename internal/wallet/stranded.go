package wallet

import (
	"context"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// strandedID is the key of a complaint about a stranded withdrawal.
type strandedID bourse.WalletID

// strand notes the stranded ones of all unsigned withdrawals: the transaction of each was given up, and the chain has
// another one in its place that the journal does not know as the exchange's. Nothing that the signer signs for it would
// exclude the first one, so only an operator ends it. So is one for which the signer signs nothing because of that. A
// block that is not read yet may have the first one, or leave the chain, so a withdrawal is stranded after as many
// blocks as deposits are waited for.
func (w *Worker) strand(ctx context.Context, unsigned []bourse.Withdrawal) error {
	tip, before := w.Board.State(w.ID).Tip.Height, w.supplanted
	w.supplanted = map[bourse.WalletID]uint64{}
	forget(w.unexcluded, unsigned)
	var stranded []bourse.WalletID
	for i := range unsigned {
		id := unsigned[i].ID
		is, err := w.isSupplanted(ctx, id)
		if err != nil {
			return err
		}
		if !is && !w.unexcluded[id] {
			delete(w.said, strandedID(id))
			continue
		}
		at, known := before[id]
		if !known || tip < at {
			at = tip
		}
		w.supplanted[id] = at
		if at+w.depth() <= tip {
			stranded = append(stranded, id)
			w.complain(strandedID(id), "a withdrawal waits for an operator",
				"its transaction was given up, and the chain has another one in its place", slog.Uint64("xid", uint64(id)))
		}
	}

	slices.Sort(stranded)
	w.mu.Lock()
	w.stranded = stranded
	w.mu.Unlock()
	return nil
}

// isSupplanted reports whether the chain has another transaction in place of one that was given up for a withdrawal:
// with its nonce, or with all the outputs that a replacement could share with it. One that the journal knows is only
// waited for.
func (w *Worker) isSupplanted(ctx context.Context, id bourse.WalletID) (bool, error) {
	old := slices.DeleteFunc(w.instead(id), func(s bourse.SignedTx) bool { return w.Board.Decided(&s) })
	if len(old) == 0 {
		return false, nil
	}
	if w.Network.Shape().Outputs {
		return !slices.ContainsFunc(old[0].Inputs, func(at bourse.Outpoint) bool {
			apart := func(s bourse.SignedTx) bool { return !slices.Contains(s.Inputs, at) }
			return w.Board.Has(w.ID, at) && !slices.ContainsFunc(old, apart)
		}), nil
	}
	for i := range old {
		onChain, err := w.nonceOnChain(ctx, old[i].From)
		if err != nil || old[i].Nonce < onChain {
			return err == nil, err
		}
	}
	return false, nil
}

// Stranded returns the withdrawals that only an operator ends, in ascending order: see [Worker.strand].
func (w *Worker) Stranded() []bourse.WalletID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stranded
}

// Decided reports whether a block has a transaction, or another one of the exchange that excludes it.
func (b *Board) Decided(s *bourse.SignedTx) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[s.Network]
	return n != nil && n.decided(s, 0)
}

// Has reports whether an output is the exchange's and not spent. Cold storage's do not count.
func (b *Board) Has(id bourse.NetworkID, at bourse.Outpoint) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	n := b.networks[id]
	if n == nil {
		return false
	}
	_, there := n.unspent[at]
	return there
}
