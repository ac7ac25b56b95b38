package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// maxBumps bounds the transactions of a withdrawal, or with a sweep's or top-up's nonce, that were given up, after
	// which the worker gives up no more of them. The cost of each counts at the signer, and one is paid.
	maxBumps = 10
	// dearest bounds the cost of a replacement, in multiples of the current cost of a payment. Without it a receiver
	// could make the exchange pay up to the cap: a replacement must also pay for the descendants that it evicts
	// (BIP 125, rule 3), and the receiver makes those by spending the payment's output at a high fee.
	dearest = 2
)

// wait is how long a transaction has been in no block, as the worker saw it. A restart counts anew.
type wait struct {
	// since is the tip at which it was first in its line.
	since uint64
	// barred is the height of the tip at which bars last refused it; zero if it never did. Each block allows one try.
	barred uint64
}

// overdueTx is the key of a complaint about a transaction.
type overdueTx bourse.TxHash

// age notes how long each transaction waits, and returns those that are overdue, in order. On networks of accounts
// a transaction behind another one of its sender waits for that one, and its blocks count after it. The given up moves
// count as overdue.
func (w *Worker) age(signed, moves []bourse.SignedTx) (overdue []bourse.SignedTx) {
	if w.Stuck == 0 {
		return nil
	}
	tip, before := w.Board.State(w.ID).Tip.Height, w.waits
	w.waits = make(map[bourse.TxHash]wait, len(before))
	senders := map[uint32]bool{}
	for _, s := range signed {
		if s.State == bourse.SignedMined {
			continue
		}
		at, known := before[s.Tx]
		if !known || tip < at.since || senders[s.From] && !w.Network.Shape().Outputs {
			at = wait{since: tip}
		}
		senders[s.From], w.waits[s.Tx] = true, at
		if tip-at.since >= w.Stuck {
			overdue = append(overdue, s)
		}
	}

	since := w.since
	w.since = make(map[bourse.TxHash]uint64, len(moves))
	for i := range moves {
		at, known := since[moves[i].Tx]
		if !known || tip < at {
			at = tip
		}
		w.since[moves[i].Tx] = at
	}

	for tx := range before {
		if _, waits := w.waits[tx]; !waits {
			delete(w.said, overdueTx(tx))
		}
	}
	w.mu.Lock()
	w.overdue = len(overdue) + len(moves)
	w.mu.Unlock()
	return overdue
}

// bump gives up the first of the overdue transactions that can be outbid: the next step has another one signed in its
// place. It reports whether the next step has work. It waits while an earlier replacement is not signed, so that a
// signer that refuses holds up one payment and not all. A sweep that is not signed again holds up other sweeps alone,
// and for Stuck blocks.
func (w *Worker) bump(ctx context.Context, overdue, moves []bourse.SignedTx) (bool, error) {
	if len(overdue) == 0 || w.replacing() || slices.ContainsFunc(moves, isTopUp) {
		return false, nil
	}

	tip, asked := w.Board.State(w.ID).Tip.Height, 0
	young := slices.ContainsFunc(moves, func(s bourse.SignedTx) bool { return tip-w.since[s.Tx] < w.Stuck })
	for i := range overdue {
		s := &overdue[i]
		at := w.waits[s.Tx]
		if at.barred == tip || s.Kind == bourse.SignedSweep && young {
			continue
		}
		if asked == maxRefusals {
			return true, nil
		}
		asked++
		reason, err := w.bars(ctx, s)
		if err != nil {
			return false, err
		}
		if reason == "" {
			refusal, err := w.giveUp(ctx, s)
			if refusal == 0 || err != nil {
				return err == nil, err
			}
			reason = refusal.String()
		}

		at.barred = tip
		w.waits[s.Tx] = at
		w.complain(overdueTx(s.Tx), "a transaction is overdue and is not outbid", reason,
			slog.String("kind", s.Kind.String()), slog.String("tx", w.Network.FormatHash(s.Tx)),
			slog.Uint64("xid", uint64(s.Wallet)))
	}
	return false, nil
}

// giveUp has another transaction signed in the place of one. It returns the reason of a refusal, or zero.
func (w *Worker) giveUp(ctx context.Context, s *bourse.SignedTx) (bourse.Reason, error) {
	if s.Kind == bourse.SignedWithdrawal {
		return w.submit(ctx, bourse.CommandReplaceWithdrawal, &bourse.WalletCommand{ID: w.Board.payee(s)})
	}
	return w.submit(ctx, bourse.CommandReleaseWithdrawal, &bourse.WalletCommand{Network: w.ID, Tx: s.Tx})
}

// replacing reports whether a withdrawal waits for a transaction in place of a dropped one. One that was left out when
// the others of a joined transaction were paid anew waits for their block, and does not count.
func (w *Worker) replacing() bool {
	return slices.ContainsFunc(w.unsigned(), func(wd bourse.Withdrawal) bool {
		return slices.ContainsFunc(w.instead(wd.ID), func(s bourse.SignedTx) bool { return !w.Board.outrun(&s) })
	})
}

// bars returns why an overdue transaction is not given up; empty if it is. What cannot be replaced stays: it is
// offered again for each block, and a withdrawal's dropped one is not.
func (w *Worker) bars(ctx context.Context, s *bourse.SignedTx) (string, error) {
	dropped := w.before(s)
	switch {
	case !w.Network.Shape().Replaces:
		return "the network replaces none", nil
	case s.Kind == bourse.SignedCool:
		return "it moves coins to cold storage, and `network end-cool` gives it up", nil
	case s.Kind == bourse.SignedWarm:
		return "people signed it: `network end-psbt` gives it up, and `network psbt` drafts another one in its place", nil
	case s.Kind == bourse.SignedWithdrawal && w.Board.PaysFrozen(s):
		return "an account that it pays is frozen", nil
	case len(dropped) >= maxBumps:
		return fmt.Sprintf("%d transactions in its place were given up", len(dropped)), nil
	}

	at, err := w.Network.State(ctx, s.Raw)
	if err == nil && (at.Status == chain.TxMined || at.Status == chain.TxConflicted) {
		return "a block has it, or another one in its place", nil
	}
	if err == nil {
		err = w.tryOutbid(ctx, s, dropped)
	}
	if err == nil || trouble(err) {
		return "", err
	}
	return err.Error(), nil
}

// before returns the dropped transactions in whose place a transaction was signed.
func (w *Worker) before(s *bourse.SignedTx) []bourse.SignedTx {
	if s.Kind == bourse.SignedWithdrawal {
		return w.Board.DroppedOf(w.ID, payeesOf(s)...)
	}
	return w.Board.Dropped(w.ID, s.From, s.Nonce)
}

var errDear = errors.New("it would cost more than twice what payments cost")

// tryOutbid fails if no replacement of a transaction, and of those that were dropped before it, can be made: above
// the cap on fees, for want of money, or above dearest.
func (w *Worker) tryOutbid(ctx context.Context, s *bourse.SignedTx, dropped []bourse.SignedTx) error {
	d, err := w.Network.Decode(s.Raw)
	if err != nil {
		return err
	}
	change, outputs := w.Network.Destination(chain.IndexChange), w.Network.Shape().Outputs
	pays := slices.DeleteFunc(d.Pays, func(p chain.Pay) bool { return outputs && p.To.Address == change.Address })
	if len(pays) == 0 {
		return errEntry
	}
	coin, total := pays[0].Coin, (&chain.Payment{Amount: pays[0].Amount, With: pays[1:]}).Total()
	now, err := w.feesOf(ctx, coin)
	if err != nil {
		return err
	}
	fees, err := w.Network.Outbid(ctx, coin, append([][]byte{s.Raw}, raws(newest(dropped))...))
	if err == nil && fees.Over {
		err = chain.ErrCost
	}
	if err != nil {
		return err
	}

	kept, err := w.mostChange(append(raws(newest(dropped)), s.Raw)...)
	if err != nil {
		return err
	}
	now, fees = now.Join(len(pays)).Split(kept), fees.Join(len(pays)).Split(kept)

	cost, inputs := fees.Cost, 1
	switch {
	case outputs:
		cost, inputs, err = w.reaches(s, dropped, &chain.Need{Coin: coin, Amount: total, Fees: fees})
	case s.Kind == bourse.SignedSweep:
		if err = w.bears(coin, fees.Cost, append(dropped, *s)); err == nil {
			err = w.spares(s.From, coin, fees.Cost)
		}
	default:
		err = w.affords(fees.Cost, d.Cost)
	}
	if err != nil {
		return err
	}
	most, fits := now.Of(inputs).Mul(dearest)
	if !fits || most.Less(cost) {
		return errDear
	}
	return nil
}

// affords fails unless the hot wallet has the rest of a replacement's cost. What the replaced transaction moves is
// part of what is bound.
func (w *Worker) affords(cost, before bourse.Amount) error {
	native := w.Network.Shape().Native
	if w.bound == nil {
		if err := w.bind(native); err != nil {
			return err
		}
	}
	more, _ := cost.Sub(before)
	if !w.has(native, w.bound[native].Plus(more)) {
		return chain.ErrFunds
	}
	return nil
}

// reaches returns the cost and the number of inputs of the replacement. It fails unless the outputs that all the
// transactions share, and free ones, cover it.
func (w *Worker) reaches(
	s *bourse.SignedTx, dropped []bourse.SignedTx, want *chain.Need,
) (cost bourse.Amount, inputs int, err error) {
	var first []chain.Input
	more := w.spendable(payeesOf(s)...)
	for _, u := range w.Board.Reserved(w.ID, s.Tx) {
		k := w.coins.byAsset[u.Asset]
		if k == nil {
			continue
		}
		apart := func(old bourse.SignedTx) bool { return !slices.Contains(old.Inputs, u.Outpoint) }
		switch in, exact := k.input(&u); {
		case !exact:
		case slices.ContainsFunc(dropped, apart):
			more = append(more, in)
		default:
			first = append(first, in)
		}
	}

	want.Native = w.Network.Shape().Native
	chosen, cost, enough := chain.SelectBeside(first, more, want)
	if len(first) == 0 || !enough {
		return cost, 0, chain.ErrFunds
	}
	return cost, len(chosen), nil
}
