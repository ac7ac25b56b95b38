package wallet

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// worthwhile is how many times its cost a sweep of the native coin must bring.
const worthwhile = 10

// sweep brings a deposit to the hot wallet, from where it can be paid out, or the
// coin that this costs to the deposit's address. It reports whether it signed
// something. An address has one transaction on its way at most.
func (w *Worker) sweep(ctx context.Context, signed []bourse.SignedTx) (bool, error) {
	native := w.coins.native
	if native == nil {
		return false, nil
	}
	busy := map[uint32]bool{}
	for i := range signed {
		if signed[i].State == bourse.SignedMined {
			continue
		}
		busy[signed[i].From] = true
		if signed[i].Kind == bourse.SignedTopUp {
			return false, nil // one at a time: it is not written down for whom it is
		}
	}
	have := map[place]bourse.Amount{}
	holdings := w.Board.Holdings(w.ID)
	tip := w.Board.State(w.ID).Tip.Height
	for _, h := range holdings {
		have[place{h.Address, h.Asset}] = h.Amount
	}
	for _, h := range holdings {
		k := w.coins.byAsset[h.Asset]
		if k == nil || h.Address == chain.IndexHot || busy[h.Address] || h.Amount.Less(k.terms.MinDeposit) {
			continue
		}
		if h.Since+uint64(k.terms.Confirms) > tip+1 {
			continue // it may still leave the chain, and its sweep would wait for ever
		}
		if done, err := w.sweepOne(ctx, &h, k, have[place{h.Address, native.asset.ID}]); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// sweepOne sweeps what an address has of an asset; coin is what it has of the
// native one.
func (w *Worker) sweepOne(ctx context.Context, h *Holding, k *coin, gas bourse.Amount) (bool, error) {
	native := w.coins.native
	fees, err := w.feesOf(ctx, k.ID)
	if err != nil {
		return false, err
	}
	cost, fits := native.ledger(fees.Cost)
	if !fits {
		return false, chain.ErrOdd
	}
	hot := w.Network.Destination(chain.IndexHot)
	if k == native {
		least, fits := cost.Mul(worthwhile)
		if !fits || h.Amount.Less(least) {
			return false, nil
		}
		p := chain.Payment{Kind: chain.KindSweep, Coin: k.ID, To: hot, From: h.Address}
		return w.carryOut(ctx, &p, 0, h.Address)
	}
	if gas.Less(cost) {
		to := w.Network.Destination(h.Address)
		p := chain.Payment{Kind: chain.KindTopUp, Coin: native.ID, Amount: fees.Cost, To: to, From: chain.IndexHot}
		return w.carryOut(ctx, &p, 0, h.Address)
	}
	amount, exact := k.units(h.Amount)
	if !exact {
		return false, nil
	}
	p := chain.Payment{Kind: chain.KindSweep, Coin: k.ID, Amount: amount, To: hot, From: h.Address}
	return w.carryOut(ctx, &p, 0, h.Address)
}
