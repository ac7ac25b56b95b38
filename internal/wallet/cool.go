package wallet

import (
	"context"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// The reasons of an order to cold storage that waits.
const (
	coolNowhere   = "the settings name no cold storage"
	coolUnbounded = "hot.low is not set for the coin: nothing says how much the hot wallet keeps"
	coolTwice     = "the transaction of an earlier order may still be mined"
	coolTooMuch   = "the hot wallet would keep less than hot.low and what withdrawals wait for"
	coolUnmade    = "it waits for the network, the signer, or lower fees; see the log"
)

// cool signs the open order to cold storage, once what the hot wallet keeps is enough. It reports whether it did.
func (w *Worker) cool(ctx context.Context) (bool, error) {
	order := w.Board.State(w.ID).Cool
	if order.ID == 0 {
		w.sayCooling("")
		return false, nil
	}
	k := w.coins.byAsset[order.Asset]
	p, why := w.coolPayment(k, &order)
	if why != "" {
		w.sayCooling(why)
		return false, nil
	}
	fees, ready, err := w.outbid(ctx, p, nil, payees{order.ID})
	if !ready || err != nil {
		return false, err
	}
	if !w.keeps(k, &order, fees) {
		w.sayCooling(coolTooMuch)
		return false, nil
	}

	done, err := w.carryOut(ctx, p, fees, payees{order.ID}, 0)
	if !done {
		w.sayCooling(coolUnmade)
	}
	return done, err
}

// coolPayment returns the payment of an order, or the reason why it waits.
func (w *Worker) coolPayment(k *coin, order *bourse.CoolOrder) (p *chain.Payment, why string) {
	shape := w.Network.Shape()
	if k == nil || !shape.Outputs || shape.Cold == 0 {
		return nil, coolNowhere
	}
	if band, set := w.Bands[order.Asset]; !set || band.Low.IsZero() {
		return nil, coolUnbounded
	}
	cools := func(s bourse.SignedTx) bool { return s.Kind == bourse.SignedCool }
	if slices.ContainsFunc(w.Board.mayMove(w.ID, uint64(k.terms.Confirms)), cools) {
		return nil, coolTwice // it was at the signer when its order was ended and this one was given
	}
	amount, exact := k.units(order.Amount)
	if !exact || amount.Hi >= mostHi {
		return nil, fmt.Sprintf("%s units are finer or larger than the network moves", order.Amount.Format(0))
	}
	to := w.Network.Destination(shape.Cold + uint32(order.ID%chain.ColdAddresses))
	return &chain.Payment{Kind: bourse.SignedCool, Coin: k.ID, Amount: amount, To: to, From: chain.IndexHot}, ""
}

// keeps reports whether the outputs that payments may spend now cover, after the move and the most that it costs,
// hot.low and the withdrawals that wait: for an approval, their time, or their transaction. Outputs in blocks that may
// still leave the chain and those of transactions in no block do not count.
func (w *Worker) keeps(k *coin, order *bourse.CoolOrder, fees chain.Fees) bool {
	var free bourse.Amount
	for _, in := range w.spendable(order.ID) {
		if in.Coin == k.ID {
			free = free.PlusOrMax(in.Amount)
		}
	}
	left, fits := k.ledger(free)
	cost, known := k.ledger(fees.Of(chain.MaxInputs))
	if !fits || !known {
		return false
	}

	need := w.Bands[order.Asset].Low.PlusOrMax(w.Board.Promised(w.ID, order.Asset))
	for _, a := range [...]bourse.Amount{order.Amount, cost} {
		need = need.PlusOrMax(a)
	}
	return !left.Less(need)
}

// sayCooling publishes why the open order waits; empty if there is none.
func (w *Worker) sayCooling(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cooling = why
}

// Cooling returns why the worker has not signed the open order to cold storage; empty without one, and until the first
// step after a start. It is safe for concurrent use.
func (w *Worker) Cooling() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cooling
}

// promise is the hot wallet's debt for a withdrawal that waits for approval or for its time.
type promise struct {
	network bourse.NetworkID
	bourse.AssetAmount
}

// foldPromise keeps the amount of a withdrawal while it is pending.
func (b *Board) foldPromise(w *bourse.Withdrawal) {
	if w.Status == bourse.WalletPending && w.Internal == 0 {
		b.promised[w.ID] = promise{w.Network, bourse.AssetAmount{Asset: w.Asset, Amount: w.Amount}}
	} else {
		delete(b.promised, w.ID)
	}
}

// Promised returns what the withdrawals of an asset will take that have no transaction, with those of frozen accounts
// and those that the signer's limits hold up.
func (b *Board) Promised(id bourse.NetworkID, asset bourse.AssetID) (sum bourse.Amount) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, p := range b.promised {
		if p.network == id && p.Asset == asset {
			sum = sum.PlusOrMax(p.Amount)
		}
	}
	for _, w := range b.withdrawals {
		if w.Network == id && w.Asset == asset {
			sum = sum.PlusOrMax(w.Amount)
		}
	}
	return sum
}
