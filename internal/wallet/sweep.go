package wallet

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// worthwhile is the least value of a native sweep, in multiples of its cost.
const worthwhile = 10

// sweep moves a deposit to the hot wallet, which makes payments, or first moves the
// native coin for its cost to the deposit's address. It reports whether it signed a
// transaction. An address has at most one unmined transaction. Nothing is swept while one of the given up moves is a
// top-up.
func (w *Worker) sweep(ctx context.Context, signed, moves []bourse.SignedTx) (bool, error) {
	native := w.coins.native
	if native == nil {
		return false, nil
	}

	if slices.ContainsFunc(moves, isTopUp) {
		return false, nil
	}
	busy := map[uint32]bool{}
	for i := range signed {
		if signed[i].State == bourse.SignedMined {
			continue
		}
		busy[signed[i].From] = true
		if signed[i].Kind == bourse.SignedTopUp {
			return false, nil // one at a time: the transaction does not name its depositor
		}
	}

	holdings := w.Board.Holdings(w.ID, w.depth())
	gas := map[uint32]Holding{}
	for _, h := range holdings {
		if h.Asset == native.asset.ID {
			gas[h.Address] = h
		}
	}

	for i := range holdings {
		h := &holdings[i]
		k := w.coins.byAsset[h.Asset]
		if k == nil || h.Address == chain.IndexHot || busy[h.Address] || h.Settled.Less(k.terms.MinDeposit) {
			continue
		}
		done, err := w.sweepOne(ctx, h, k, gas[h.Address])
		if done || err != nil || w.costly {
			return done, err
		}
	}
	return false, nil
}

// sweepOne sweeps the settled part of an address's balance of one asset; gas is its balance of the
// native coin. Both are the journal's: the chain may hold more than a scan can see, such as money
// from a contract's call, and a sweep of it would contradict the journal. A sweep of money that may
// still leave the chain would wait for ever, or take what no block shows.
func (w *Worker) sweepOne(ctx context.Context, h *Holding, k *coin, gas Holding) (bool, error) {
	native := w.coins.native
	p := chain.Payment{
		Kind: bourse.SignedSweep, Coin: k.ID, To: w.Network.Destination(chain.IndexHot), From: h.Address,
	}
	fees, ready, err := w.ready(ctx, &p, nil)
	if !ready || err != nil {
		return false, err
	}
	cost, fits := native.ledger(fees.Cost)
	if !fits {
		return false, chain.ErrOdd
	}

	var exact bool
	if p.Amount, exact = k.units(h.Settled); !exact {
		return false, nil
	}
	if k == native {
		least, fits := cost.Mul(worthwhile)
		if !fits || h.Settled.Less(least) {
			return false, nil
		}
		p.Amount = p.Amount.Minus(fees.Cost)
	} else if gas.Settled.Less(cost) {
		if !gas.Amount.Less(cost) {
			return false, nil // it pays once it is settled
		}
		return w.topUp(ctx, h.Address, fees.Cost)
	}
	return w.carryOut(ctx, &p, fees, nil, h.Address)
}

// topUp moves the native coin for the cost of a sweep to the deposit's address.
func (w *Worker) topUp(ctx context.Context, address uint32, amount bourse.Amount) (bool, error) {
	p := chain.Payment{
		Kind: bourse.SignedTopUp, Coin: w.coins.native.ID, Amount: amount, To: w.Network.Destination(address),
		From: chain.IndexHot,
	}
	fees, ready, err := w.ready(ctx, &p, nil)
	if !ready || err != nil {
		return false, err
	}
	return w.carryOut(ctx, &p, fees, nil, address)
}
