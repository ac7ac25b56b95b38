package wallet

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// outbidOutputs chooses outputs. A released transaction that spends one of them may still wait at a node, so the payment
// outbids it, and spends its other outputs too, to be no smaller. Outputs of one that cannot be outbid are left to others.
func (w *Worker) outbidOutputs(
	ctx context.Context, p *chain.Payment, fees chain.Fees, id bourse.WalletID,
) (enough bool, err error) {
	own, usual := slices.Clip(p.Replaces), fees
	var released []bourse.SignedTx
	for {
		enough := w.sourceOutputs(p, fees, id, released)
		if !enough && len(released) == 0 {
			return false, nil
		}
		why := chain.ErrFunds
		if enough {
			more := w.rivals(p)
			if len(more) == 0 {
				return true, nil
			}
			released = append(released, more...)
			p.Replaces = append(own, raws(released)...)
			fees, why = w.Network.Outbid(ctx, p.Coin, p.Replaces)
			switch {
			case trouble(why):
				return false, why
			case why == nil:
				continue
			}
		}
		w.leaveOut(released, why)
		p.Replaces, fees, released = own, usual, nil
	}
}

// rivals returns the dropped transactions that spend an output of a payment which does not outbid them.
func (w *Worker) rivals(p *chain.Payment) []bourse.SignedTx {
	return slices.DeleteFunc(w.Board.DroppedFrom(w.ID, p.Inputs), func(s bourse.SignedTx) bool {
		return slices.ContainsFunc(p.Replaces, func(raw []byte) bool { return bytes.Equal(raw, s.Raw) })
	})
}

// raws returns the transactions as nodes take them.
func raws(list []bourse.SignedTx) (all [][]byte) {
	for i := range list {
		all = append(all, list[i].Raw)
	}
	return all
}

// prepare chooses the source of a payment and makes it; enough is false if the balance is too low. Where it would cost too
// much to outbid released transactions, other outputs pay.
func (w *Worker) prepare(
	ctx context.Context, p *chain.Payment, fees chain.Fees, id bourse.WalletID,
) (u chain.Unsigned, enough bool, err error) {
	own := p.Replaces
	for {
		p.Replaces = own
		if enough, err := w.source(ctx, p, fees, id); !enough || err != nil {
			return u, false, err
		}
		u, err = w.Network.Prepare(ctx, p)
		if len(p.Replaces) == len(own) || !errors.Is(err, chain.ErrCost) {
			return u, true, err
		}
		p.Replaces = own
		w.leaveOut(w.rivals(p), err)
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
// transactions share, so at most one of them is ever mined, those of the released ones that it outbids, and others if
// these do not cover its higher cost. No other payment spends those of dropped ones meanwhile.
func (w *Worker) sourceOutputs(
	p *chain.Payment, fees chain.Fees, id bourse.WalletID, released []bourse.SignedTx,
) bool {
	own, some := w.instead(id), false
	var first, more []chain.Input
	for _, in := range w.spendable(id) {
		apart := slices.ContainsFunc(own, func(s bourse.SignedTx) bool { return !slices.Contains(s.Inputs, in.Outpoint) })
		shared := len(own) > 0 && !apart && in.Coin == p.Coin
		some = some || shared
		outbid := slices.ContainsFunc(released, func(s bourse.SignedTx) bool { return slices.Contains(s.Inputs, in.Outpoint) })
		if shared || outbid && in.Coin == p.Coin {
			first = append(first, in)
		} else {
			more = append(more, in)
		}
	}
	if len(own) > 0 && !some {
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
