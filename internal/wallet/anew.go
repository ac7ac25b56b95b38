package wallet

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Credited reports whether a transaction on a network brought an account a deposit of an asset that was credited, however
// long ago. It fails as long as it does not know all that the journal has.
type Credited func(ctx context.Context, account bourse.AccountID, network bourse.NetworkID, asset bourse.AssetID,
	tx bourse.TxHash) (bool, error)

// named checks that a block is the one that operators named, if they named one at its height: up to it the chain is counted
// anew.
func (w *Worker) named(b *chain.Block, state *bourse.NetworkState) error {
	if b.Height != state.Recount.Height || b.BlockRef == state.Recount || state.Recount == (bourse.BlockRef{}) {
		return nil
	}
	return fmt.Errorf("%w: block %d is %s, and operators named %s: mend the nodes, or name another block",
		chain.ErrOdd, b.Height, w.Network.FormatHash(b.Hash), w.Network.FormatHash(state.Recount.Hash))
}

// counts reports whether a block is counted anew, and credits nothing.
func counts(b *chain.Block, state *bourse.NetworkState) bool {
	return state.Recount != bourse.BlockRef{} && b.Height <= state.Recount.Height
}

// disclaim gives the inflows of a chain that began anew to the treasury which were credited on the former one: the journal has
// forgotten them, and the treasury has borne their loss. Those that the journal knows keep their owner. Without Credited,
// all others are parked.
func (w *Worker) disclaim(ctx context.Context, parts [][]bourse.TxEffect, b *chain.Block, state *bourse.NetworkState) error {
	if state.Recount == (bourse.BlockRef{}) || counts(b, state) {
		return nil
	}
	for _, txs := range parts {
		for i := range txs {
			if w.Board.Moves(w.ID, txs[i].Hash) {
				continue
			}
			for j := range txs[i].Inflows {
				if err := w.disclaimIn(ctx, txs[i].Hash, &txs[i].Inflows[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *Worker) disclaimIn(ctx context.Context, tx bourse.TxHash, in *bourse.Inflow) error {
	if !in.Owner.IsCustomer() || w.Board.Gone(w.ID, bourse.Outpoint{Tx: tx, Index: in.Index}) {
		return nil
	}
	if w.Credited == nil {
		in.Owner = 0
		return nil
	}

	credited, err := w.Credited(ctx, in.Owner, w.ID, in.Asset, tx)
	if err != nil {
		return fmt.Errorf("%w: whether a deposit was credited before the chain changed: %w", chain.ErrSilent, err)
	}
	if credited {
		w.Log.Warn("a deposit was credited before the chain changed: it is the treasury's",
			slog.Int("network", int(w.ID)), slog.String("tx", w.Network.FormatHash(tx)), slog.Uint64("account", uint64(in.Owner)))
		in.Owner = bourse.AccountTreasury
	}
	return nil
}
