package wallet

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Purse holds the exchange's coins on a network, in ledger units by asset.
type Purse struct {
	// Hot pays withdrawals: all outputs without those of cold storage, or the hot wallet's balance, as the journal
	// knows it. Rest is on customers' addresses and not swept yet.
	Hot, Rest map[bourse.AssetID]bourse.Amount
	// Cold is in cold storage; nil on a network without.
	Cold map[bourse.AssetID]bourse.Amount
	// Surplus is the part of the hot wallet's balance on the chain that exceeds Hot. It is nil if it is not
	// known: on networks of outputs, and while the node is not at the journal's block.
	Surplus map[bourse.AssetID]bourse.Amount
}

// Band bounds the hot wallet's balance of an asset, in ledger units: below Low withdrawals may have to wait, and above
// High more than need be is at risk. Low <= Target <= High.
type Band struct{ Low, Target, High bourse.Amount }

// Hot returns the hot wallet's balances, as the journal knows them. It is safe for concurrent use.
func (w *Worker) Hot() map[bourse.AssetID]bourse.Amount {
	if w.Network.Shape().Outputs {
		return w.Board.Outputs(w.ID)
	}
	hot := map[bourse.AssetID]bourse.Amount{}
	for _, h := range w.Board.Holdings(w.ID, deepest) {
		if h.Address == chain.IndexHot {
			hot[h.Asset] = hot[h.Asset].PlusOrMax(h.Amount)
		}
	}
	return hot
}

// Purse returns the exchange's coins on the network. It is safe for concurrent use.
func (w *Worker) Purse(ctx context.Context) Purse {
	tip := w.Board.State(w.ID).Tip
	p := Purse{Hot: w.Hot(), Rest: map[bourse.AssetID]bourse.Amount{}}
	if shape := w.Network.Shape(); shape.Outputs {
		if cold := w.Board.Cold(w.ID); shape.Cold != 0 || len(cold) > 0 {
			p.Cold = cold
		}
		return p
	}

	for _, h := range w.Board.Holdings(w.ID, deepest) {
		if h.Address != chain.IndexHot {
			p.Rest[h.Asset] = p.Rest[h.Asset].PlusOrMax(h.Amount)
		}
	}
	p.Surplus = w.surplus(ctx, p.Hot, tip)
	return p
}

// surplus asks the node for the hot wallet's balances and returns their differences to the journal's. It
// returns nil unless node and journal are at the same block before and after, and every balance is known and
// at least the journal's.
func (w *Worker) surplus(
	ctx context.Context, hot map[bourse.AssetID]bourse.Amount, tip bourse.BlockRef,
) map[bourse.AssetID]bourse.Amount {
	atTip := func() bool {
		h, err := w.Network.Health(ctx)
		return err == nil && h.Operating && h.Head == tip && w.Board.State(w.ID).Tip == tip
	}
	if !atTip() {
		return nil
	}

	address := w.Network.Destination(chain.IndexHot).Address
	surplus := map[bourse.AssetID]bourse.Amount{}
	_, terms, assets := w.Listed.Listed(w.ID)
	for _, k := range newCoins(w.Network.Shape(), terms, assets).byAsset {
		has, err := w.Network.Balance(ctx, address, k.ID)
		if err != nil {
			return nil
		}
		ledger, fits := k.ledger(has)
		if !fits || ledger.Less(hot[k.asset.ID]) {
			return nil
		}
		surplus[k.asset.ID] = ledger.Minus(hot[k.asset.ID])
	}
	if !atTip() {
		return nil
	}
	return surplus
}
