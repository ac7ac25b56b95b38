package wallet

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Purse is what the exchange has on a network, in ledger units by asset.
type Purse struct {
	// Hot is what pays withdrawals, as the journal knows it: all outputs, or the hot wallet's balance. Rest
	// is on customers' addresses and not swept yet.
	Hot, Rest map[bourse.AssetID]bourse.Amount
	// Surplus is what the hot wallet has on the chain beyond Hot. It is nil if it is not known: on networks
	// of outputs, and while the node is not at the journal's block.
	Surplus map[bourse.AssetID]bourse.Amount
}

// Purse returns what the exchange has on the network. It is safe for concurrent use.
func (w *Worker) Purse(ctx context.Context) Purse {
	shape := w.Network.Shape()
	p := Purse{Hot: map[bourse.AssetID]bourse.Amount{}, Rest: map[bourse.AssetID]bourse.Amount{}}
	if shape.Outputs {
		p.Hot = w.Board.Outputs(w.ID)
		return p
	}

	tip := w.Board.State(w.ID).Tip
	for _, h := range w.Board.Holdings(w.ID, deepest) {
		of := p.Rest
		if h.Address == chain.IndexHot {
			of = p.Hot
		}
		of[h.Asset] = of[h.Asset].PlusOrMax(h.Amount)
	}
	if surplus, err := w.surplus(ctx, p.Hot, tip); err == nil {
		p.Surplus = surplus
	}
	return p
}

// surplus asks the node for the hot wallet's balances and returns what they exceed the journal's by; nil
// unless node and journal are at the same block before and after.
func (w *Worker) surplus(
	ctx context.Context, hot map[bourse.AssetID]bourse.Amount, tip bourse.BlockRef,
) (map[bourse.AssetID]bourse.Amount, error) {
	at := func() (bool, error) {
		h, err := w.Network.Health(ctx)
		return h.Operating && h.Head == tip && w.Board.State(w.ID).Tip == tip, err
	}
	if same, err := at(); err != nil || !same {
		return nil, err
	}

	address := w.Network.Destination(chain.IndexHot).Address
	surplus := map[bourse.AssetID]bourse.Amount{}
	_, terms, assets := w.Listed.Listed(w.ID)
	for _, k := range newCoins(w.Network.Shape(), terms, assets).byAsset {
		has, err := w.Network.Balance(ctx, address, k.ID)
		if err != nil {
			return nil, err
		}
		ledger, fits := k.ledger(has)
		if !fits || ledger.Less(hot[k.asset.ID]) {
			return nil, chain.ErrOdd
		}
		surplus[k.asset.ID] = ledger.Minus(hot[k.asset.ID])
	}
	if same, err := at(); err != nil || !same {
		return nil, err
	}
	return surplus, nil
}
