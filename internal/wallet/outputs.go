package wallet

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// outbidOutputs chooses outputs. A released transaction that spends one of them may still wait at a node, so the payment
// outbids it. Outputs of one that cannot be outbid are left to others.
func (w *Worker) outbidOutputs(
	ctx context.Context, p *chain.Payment, fees chain.Fees, id bourse.WalletID,
) (enough bool, err error) {
	for {
		if !w.sourceOutputs(p, fees, id) {
			return false, nil
		}
		rivals := slices.DeleteFunc(w.Board.DroppedOf(w.ID, p.Inputs), func(s bourse.SignedTx) bool {
			return slices.ContainsFunc(p.Replaces, func(raw []byte) bool { return bytes.Equal(raw, s.Raw) })
		})
		if len(rivals) == 0 {
			return true, nil
		}

		replaces := slices.Clip(p.Replaces)
		for i := range rivals {
			replaces = append(replaces, rivals[i].Raw)
		}
		more, err := w.Network.Outbid(ctx, p.Coin, replaces)
		switch {
		case trouble(err):
			return false, err
		case err == nil:
			p.Replaces, fees = replaces, more
		default:
			w.leaveOut(rivals, err)
		}
	}
}

// leaveOut keeps payments of this step from the outputs of dropped transactions.
func (w *Worker) leaveOut(rivals []bourse.SignedTx, why error) {
	for i := range rivals {
		for _, at := range rivals[i].Inputs {
			w.pinned[at] = true
		}
		w.complain(rivals[i].Tx, "outputs wait for a released transaction", why.Error(),
			slog.Uint64("xid", uint64(rivals[i].Wallet)))
	}
}

// sourceOutputs chooses outputs. A replacement spends every free output that its dropped
// transactions share, so at most one of them is ever mined, and others if those do not cover
// its higher cost. No other payment spends those of dropped ones meanwhile.
func (w *Worker) sourceOutputs(p *chain.Payment, fees chain.Fees, id bourse.WalletID) bool {
	own := w.instead(id)
	var first, more []chain.Input
	for _, in := range w.spendable(id) {
		apart := slices.ContainsFunc(own, func(s bourse.SignedTx) bool { return !slices.Contains(s.Inputs, in.Outpoint) })
		if len(own) > 0 && !apart && in.Coin == p.Coin {
			first = append(first, in)
		} else {
			more = append(more, in)
		}
	}
	if len(own) > 0 && len(first) == 0 {
		return false
	}

	want := chain.Need{Coin: p.Coin, Native: w.Network.Shape().Native, Amount: p.Amount, Fees: fees}
	chosen, cost, enough := chain.SelectBeside(first, more, &want)
	// Change below the cost of an input goes to the network on top.
	p.Inputs, p.CostCap = chosen, cost.Plus(fees.PerInput)
	return enough
}

// spendable returns the free outputs that a payment may spend: those that are ripe, and in no transaction that another
// withdrawal replaces, or that no payment can outbid.
func (w *Worker) spendable(id bourse.WalletID) (inputs []chain.Input) {
	tip := w.Board.State(w.ID).Tip.Height
	for _, u := range w.Board.Unspent(w.ID) {
		k := w.coins.byAsset[u.Asset]
		promised := w.pinned[u.Outpoint] || slices.ContainsFunc(w.givenUp, func(s bourse.SignedTx) bool {
			return s.Wallet != id && slices.Contains(s.Inputs, u.Outpoint)
		})
		if k == nil || !k.ripe(&u, tip) || promised {
			continue
		}
		if in, exact := k.input(&u); exact {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// input returns an output as an input of payments; false if its amount cannot be moved.
func (c *coin) input(u *bourse.Unspent) (chain.Input, bool) {
	amount, exact := c.units(u.Amount)
	return chain.Input{Outpoint: u.Outpoint, Owner: u.Address, Coin: c.ID, Amount: amount}, exact
}
