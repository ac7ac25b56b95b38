package wallet

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Credited returns those of some transactions on a network that brought an account a deposit of an asset that was credited,
// however long ago. It fails as long as it does not know all that the journal has.
type Credited func(ctx context.Context, account bourse.AccountID, network bourse.NetworkID, asset bourse.AssetID,
	txs map[bourse.TxHash]bool) (map[bourse.TxHash]bool, error)

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

// receiver is an account that a block brings an asset.
type receiver struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

// receipt is an inflow and its transaction.
type receipt struct {
	tx bourse.TxHash
	in *bourse.Inflow
}

// disclaim gives the inflows of a chain that began anew to the treasury which were credited on the former one: the journal has
// forgotten them, and the treasury has borne their loss. Those that the journal knows keep their owner. Without Credited,
// all others are parked. It asks once for each account and asset, because an answer takes as long as the account has
// deposits, and anybody can send many to one account.
func (w *Worker) disclaim(ctx context.Context, parts [][]bourse.TxEffect, b *chain.Block, state *bourse.NetworkState) error {
	if state.Recount == (bourse.BlockRef{}) || counts(b, state) {
		return nil
	}
	for of, list := range w.unknown(parts) {
		if w.Credited == nil {
			for _, r := range list {
				r.in.Owner = 0
			}
			continue
		}

		txs := map[bourse.TxHash]bool{}
		for _, r := range list {
			txs[r.tx] = true
		}
		credited, err := w.Credited(ctx, of.account, w.ID, of.asset, txs)
		if err != nil {
			return fmt.Errorf("%w: whether a deposit was credited before the chain changed: %w", chain.ErrSilent, err)
		}
		for _, r := range list {
			if credited[r.tx] {
				w.Log.Warn("a deposit was credited before the chain changed: it is the treasury's",
					slog.Int("network", int(w.ID)), slog.String("tx", w.Network.FormatHash(r.tx)), slog.Uint64("account", uint64(of.account)))
				r.in.Owner = bourse.AccountTreasury
			}
		}
	}
	return nil
}

// unknown returns the inflows to customers that the journal does not know, by their receivers.
func (w *Worker) unknown(parts [][]bourse.TxEffect) map[receiver][]receipt {
	list := map[receiver][]receipt{}
	for _, txs := range parts {
		for i := range txs {
			if w.Board.Moves(w.ID, txs[i].Hash) {
				continue
			}
			for j := range txs[i].Inflows {
				in := &txs[i].Inflows[j]
				if in.Owner.IsCustomer() && !w.Board.Gone(w.ID, bourse.Outpoint{Tx: txs[i].Hash, Index: in.Index}) {
					of := receiver{in.Owner, in.Asset}
					list[of] = append(list[of], receipt{txs[i].Hash, in})
				}
			}
		}
	}
	return list
}
