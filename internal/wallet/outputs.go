package wallet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// maxAttemptsOutbid bounds the dropped transactions of a withdrawal, or with a nonce, that a payment outbids. Each
	// outbids those before it, so the newest are enough. A node is asked about each.
	maxAttemptsOutbid = 10
	// maxOutbid bounds the released transactions that a payment outbids beside its own.
	maxOutbid = 25
)

var errMany = fmt.Errorf("more than %d released transactions would have to be outbid", maxOutbid)

// newest returns the newest of dropped transactions that exclude each other, at most maxAttemptsOutbid, newest first.
func newest(list []bourse.SignedTx) []bourse.SignedTx {
	list = slices.Clone(list)
	slices.SortFunc(list, func(p, q bourse.SignedTx) int {
		return cmp.Or(cmp.Compare(q.Time, p.Time), p.Tx.Compare(q.Tx))
	})
	return list[:min(len(list), maxAttemptsOutbid)]
}

// outbidOutputs chooses outputs. A released transaction that spends one of them may still wait at a node, so the
// payment outbids it, and spends its other outputs too, to be no smaller. Outputs of one that cannot be outbid are left
// to others. Each that is left out counts as a refusal, because a node was asked.
func (w *Worker) outbidOutputs(
	ctx context.Context, p *chain.Payment, fees chain.Fees, to payees,
) (enough bool, err error) {
	defer clear(w.aside)
	own, usual := slices.Clip(p.Replaces), fees
	var released []bourse.SignedTx
	for w.refusals < maxRefusals {
		enough, err := w.sourceOutputs(p, fees, to, released)
		if err != nil {
			return false, err
		}
		if !enough && len(released) == 0 {
			if len(w.aside) > 0 && len(to) == 1 { // of several, fewer may pass
				w.leave(w.unmade, to)
			}
			return false, nil
		}
		if !enough {
			w.leaveOut(w.aside, released, chain.ErrFunds)
			p.Replaces, fees, released = own, usual, nil
			continue
		}

		more := w.rivals(p.Inputs, to, released)
		if len(more) == 0 {
			return true, nil
		}
		if len(released)+len(more) > maxOutbid {
			w.leaveOut(w.pinned, more, errMany)
			p.Replaces, fees, released = own, usual, nil
			continue
		}
		released = append(released, more...)
		p.Replaces = append(own, raws(released)...)
		if fees, err = w.Network.Outbid(ctx, p.Coin, p.Replaces); trouble(err) {
			return false, err
		}
		if err != nil {
			w.leaveOut(w.pinned, released, err)
			p.Replaces, fees, released = own, usual, nil
		}
	}
	return false, nil
}

// rivals returns the dropped transactions of other withdrawals, and those to cold storage, that spend an output of a
// payment: of each withdrawal the newest, without those that the payment outbids already.
func (w *Worker) rivals(
	inputs []chain.Input, to payees, outbid []bourse.SignedTx,
) (list []bourse.SignedTx) {
	of := map[bourse.WalletID][]bourse.SignedTx{}
	for _, s := range w.Board.DroppedFrom(w.ID, inputs) {
		if !to.of(&s) {
			of[s.Wallet] = append(of[s.Wallet], s)
		}
	}
	for _, wallet := range slices.Sorted(maps.Keys(of)) {
		list = append(list, newest(of[wallet])...)
	}
	return slices.DeleteFunc(list, func(s bourse.SignedTx) bool {
		return slices.ContainsFunc(outbid, func(old bourse.SignedTx) bool { return old.Tx == s.Tx })
	})
}

// raws returns the transactions as nodes take them.
func raws(list []bourse.SignedTx) (all [][]byte) {
	for i := range list {
		all = append(all, list[i].Raw)
	}
	return all
}

// prepare chooses the source of a payment and makes it; enough is false if the balance is too low. Where it would cost
// too much to outbid released transactions, other outputs pay.
func (w *Worker) prepare(
	ctx context.Context, p *chain.Payment, fees chain.Fees, to payees,
) (u chain.Unsigned, enough bool, err error) {
	own := p.Replaces
	for {
		p.Replaces = own
		if enough, err := w.source(ctx, p, fees, to); !enough || err != nil {
			return u, false, err
		}
		u, err = w.Network.Prepare(ctx, p)
		if len(p.Replaces) == len(own) || !errors.Is(err, chain.ErrCost) {
			return u, true, err
		}
		p.Replaces = own
		w.leaveOut(w.pinned, w.rivals(p.Inputs, to, nil), err)
	}
}

// leaveOut adds the outputs of dropped transactions to those that payments leave alone.
func (w *Worker) leaveOut(alone map[bourse.Outpoint]bool, rivals []bourse.SignedTx, why error) {
	w.refusals++
	for i := range rivals {
		for _, at := range rivals[i].Inputs {
			alone[at] = true
		}
		w.complain(rivals[i].Tx, "outputs wait for a released transaction", why.Error(),
			slog.Uint64("xid", uint64(rivals[i].Wallet)))
	}
}

// sourceOutputs chooses outputs. A replacement spends every free output that its dropped
// transactions share, so at most one of them is ever mined, those of the released ones that it outbids, and others if
// these do not cover its higher cost. No other payment spends those of dropped ones meanwhile. It has as many outputs
// of change as they have, because a smaller one would pay their cost at a higher rate.
func (w *Worker) sourceOutputs(
	p *chain.Payment, fees chain.Fees, to payees, released []bourse.SignedTx,
) (enough bool, err error) {
	own, some, usual := w.instead(to...), false, fees
	w.enlarged = false
	if p.Change, err = w.mostChange(p.Replaces...); err != nil {
		return false, err
	}
	p.LeastChange, fees = bourse.Amount{}, fees.Join(1+len(p.With)).Split(p.Change)
	var first, more []chain.Input
	free := w.spendable(to...)
	for _, in := range free {
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
		return false, nil
	}

	want := chain.Need{Coin: p.Coin, Native: w.Network.Shape().Native, Amount: p.Total(), Fees: fees}
	chosen, cost, enough := chain.SelectBeside(first, more, &want)
	// Change below the cost of an input goes to the network on top.
	p.Inputs, p.CostCap = chosen, cost.Plus(fees.PerInput)
	if enough && w.Outputs > 0 && p.Kind == bourse.SignedWithdrawal && len(p.Replaces) == 0 && !w.plain {
		w.arrange(p, usual, free)
	}
	return enough, nil
}

// spendable returns the free outputs that a payment may spend: those that are ripe, and in no transaction that other
// withdrawals replace, or that no payment can outbid.
func (w *Worker) spendable(to ...bourse.WalletID) (inputs []chain.Input) {
	tip := w.Board.State(w.ID).Tip.Height
	for _, u := range w.Board.Unspent(w.ID) {
		k := w.coins.byAsset[u.Asset]
		promised := w.pinned[u.Outpoint] || w.aside[u.Outpoint] || slices.ContainsFunc(w.givenUp, func(s bourse.SignedTx) bool {
			return !payees(to).of(&s) && slices.Contains(s.Inputs, u.Outpoint)
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
