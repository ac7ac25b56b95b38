package wallet

import (
	"context"
	"errors"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// expect returns what the signer is to check of a payment.
func (w *Worker) expect(p *chain.Payment, to payees, depositor uint32) signer.Expect {
	e := signer.Expect{
		Network: w.ID, Kind: p.Kind, ID: to.first(), Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap,
		Account: depositor, Nonce: p.Nonce,
	}
	for i := range p.With {
		e.With = append(e.With, signer.Part{ID: to[i+1], Amount: p.With[i].Amount, To: p.With[i].To})
	}
	return e
}

// notMade notes that the node cannot make a payment. Withdrawals of a joined one go alone in this pass; one that cannot
// be made alone never shares a transaction again, so that it keeps the others from one of them at most.
func (w *Worker) notMade(p *chain.Payment, to payees, why error) {
	waits := errors.Is(why, chain.ErrFunds) || errors.Is(why, chain.ErrCost)
	if len(to) == 1 {
		w.leave(w.unmade, to)
	} else {
		w.leave(w.parted, to)
	}
	if len(to) == 1 && !waits {
		w.leave(w.loners, to)
	}
	if len(to) > 0 {
		w.refusals++
	}
	switch {
	case waits || len(to) > 1:
		w.tellReplacement(to, why)
	default: // the fault of this payment alone
		w.complain(to.first(), "a payment cannot be made", why.Error(),
			slog.String("kind", p.Kind.String()), slog.Uint64("xid", uint64(to.first())))
	}
}

// announce tells the journal that the signer is about to be asked for withdrawals. It reports whether it may be: one
// that was canceled, or whose account is frozen, is left out of this pass, and all are if the network was stopped.
func (w *Worker) announce(ctx context.Context, p *chain.Payment, to payees) (ready bool, err error) {
	ready = true
	for _, id := range to {
		if p.Kind != bourse.SignedWithdrawal || w.Board.Asked(id) {
			continue
		}
		reason, err := w.submit(ctx, bourse.CommandAsking, &bourse.WalletCommand{ID: id})
		if err != nil {
			return false, err
		}
		if reason != 0 {
			ready = false
			w.leave(w.unmade, payees{id})
		}
		if reason == bourse.WithdrawalsPaused {
			w.leave(w.unmade, to)
		}
	}
	return ready, nil
}
