package wallet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// send broadcasts what is signed and not known to be accepted, then signs the
// next thing that waits. It reports whether it signed one.
func (w *Worker) send(ctx context.Context, health *chain.Health) (bool, error) {
	signed := w.Board.Signed(w.ID)
	if err := w.broadcast(ctx, signed, health); err != nil {
		return false, err
	}
	state := w.Board.State(w.ID)
	if state.Stopped() || state.Tip == (bourse.BlockRef{}) {
		return false, nil
	}
	for _, wd := range w.Board.Unsigned(w.ID) {
		if done, err := w.pay(ctx, &wd); done || err != nil {
			return done, err
		}
	}
	if w.Network.Shape().Sweeps {
		return w.sweep(ctx, signed)
	}
	return false, nil
}

// broadcast hands over what the network is not known to have: what waits at each
// step, what it had accepted once for each new block.
func (w *Worker) broadcast(ctx context.Context, signed []bourse.SignedTx, health *chain.Health) error {
	again := health.Head != w.resent
	for i := range signed {
		s := &signed[i]
		if s.State == bourse.SignedWaiting || s.State == bourse.SignedAccepted && again {
			if err := w.offer(ctx, s); err != nil {
				return err
			}
		}
	}
	w.resent = health.Head
	return nil
}

// offer hands over a signed transaction, and journals that the network took it.
func (w *Worker) offer(ctx context.Context, s *bourse.SignedTx) error {
	verdict, err := w.Network.Broadcast(ctx, s.Raw)
	if err != nil {
		return err
	}
	switch verdict.Kind {
	case chain.Accepted, chain.Known:
	case chain.Rejected:
		w.Log.Error("a network rejects a signed transaction", slog.Int("network", int(w.ID)),
			slog.String("tx", w.Network.FormatHash(s.Tx)), slog.Uint64("xid", uint64(s.Wallet)), slog.String("reason", verdict.Reason))
		return nil
	case chain.Unknown:
		return nil
	}
	if s.State != bourse.SignedWaiting {
		return nil
	}
	_, err = w.submit(ctx, bourse.CommandSent, &bourse.WalletCommand{Network: w.ID, Tx: s.Tx})
	return err
}

// pay signs a withdrawal and hands it over. It reports whether it did; a
// withdrawal that cannot be paid now waits.
func (w *Worker) pay(ctx context.Context, wd *bourse.Withdrawal) (bool, error) {
	k := w.coins.byAsset[wd.Asset]
	if k == nil || w.coins.native == nil {
		return false, nil
	}
	amount, exact := k.units(wd.Amount)
	if !exact {
		w.Log.Error("a withdrawal is finer than its network moves", slog.Uint64("xid", uint64(wd.ID)))
		return false, nil
	}
	p := chain.Payment{
		Kind: chain.KindWithdrawal, Coin: k.ID, Amount: amount,
		To: chain.Destination{Address: wd.Address, Memo: wd.Memo}, From: chain.IndexHot,
	}
	return w.carryOut(ctx, &p, wd.ID, 0)
}

// carryOut chooses what a payment is paid from, has it signed, journals it and
// hands it over.
//
// depositor is whose address is swept or topped up, zero for withdrawals.
func (w *Worker) carryOut(ctx context.Context, p *chain.Payment, id bourse.WalletID, depositor uint32) (bool, error) {
	fees, err := w.Network.Fees(ctx, p.Coin)
	if err != nil {
		return false, err
	}
	if !w.source(p, fees) {
		return false, nil
	}
	unsigned, err := w.Network.Prepare(ctx, p)
	switch {
	case errors.Is(err, chain.ErrFunds), errors.Is(err, chain.ErrCost):
		return false, nil // it waits for money, or for lower fees
	case err != nil:
		return false, err
	}
	signed, err := w.Signer.Sign(ctx, unsigned, signer.Expect{
		Network: w.ID, Kind: p.Kind, ID: id, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap,
		Account: depositor, Nonce: p.Nonce,
	})
	if err != nil {
		w.Log.Error("the signer refuses", slog.Int("network", int(w.ID)), slog.Uint64("xid", uint64(id)), slog.Any("error", err))
		return false, nil
	}
	s, err := w.record(&signed, p.Kind, id)
	if err != nil {
		return false, err
	}
	reason, err := w.submit(ctx, bourse.CommandSigned, &bourse.WalletCommand{Signed: s})
	if err != nil {
		return false, err
	}
	if reason != 0 {
		// A cancel came first, or another step changed what it is paid from.
		w.Log.Info("a signed transaction is not sent", slog.Uint64("xid", uint64(id)), slog.String("reason", reason.String()))
		return true, nil
	}
	s.State = bourse.SignedWaiting
	return true, w.offer(ctx, s)
}

// source chooses what a payment is paid from; false if there is not enough.
func (w *Worker) source(p *chain.Payment, fees chain.Fees) bool {
	p.CostCap = fees.Cost
	if !w.Network.Shape().Outputs {
		p.Nonce = w.Board.Nonce(w.ID, p.From)
		return true
	}
	var inputs []chain.Input
	for _, u := range w.Board.Unspent(w.ID) {
		k := w.coins.byAsset[u.Asset]
		if k == nil {
			continue
		}
		if amount, exact := k.units(u.Amount); exact {
			inputs = append(inputs, chain.Input{Outpoint: u.Outpoint, Owner: u.Address, Coin: k.ID, Amount: amount})
		}
	}
	chosen, cost, enough := chain.Select(inputs, p.Coin, w.Network.Shape().Native, p.Amount, fees)
	p.Inputs, p.CostCap = chosen, cost
	return enough
}

// kinds are the words of the journal for those of the chain.
var kinds = map[chain.Kind]bourse.SignedKind{
	chain.KindWithdrawal: bourse.SignedWithdrawal, chain.KindSweep: bourse.SignedSweep, chain.KindTopUp: bourse.SignedTopUp,
}

// record is what the journal keeps of a signed transaction: what it really does,
// and not what it was asked to do.
func (w *Worker) record(signed *signer.Signed, kind chain.Kind, id bourse.WalletID) (*bourse.SignedTx, error) {
	d, err := w.Network.Decode(signed.Raw)
	if err != nil {
		return nil, fmt.Errorf("what the signer signed: %w", err)
	}
	s := &bourse.SignedTx{
		Network: w.ID, Kind: kinds[kind], Wallet: id, Tx: signed.Hash, Raw: signed.Raw, From: d.From, Nonce: d.Nonce,
	}
	for i := range d.Inputs {
		s.Inputs = append(s.Inputs, d.Inputs[i].Outpoint)
	}
	if n := w.coins.native; n != nil {
		s.Cost.Asset = n.asset.ID
		s.Cost.Amount, _ = n.ledger(d.Cost) // it was less than its cap
	}
	return s, nil
}
