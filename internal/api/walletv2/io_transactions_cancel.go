package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

// cancel cancels a withdrawal. If the signature is first in the journal, the cancel is
// refused; while the signer works, the signer decides.
func (w *Wallet) cancel(c *v2.Call) error {
	m, err := w.own(c)
	if err == nil {
		err = past(&m)
	}
	if err != nil {
		return err
	}

	if w.RefusesCancel(c.Who.Account, m.ID) != 0 {
		return w.tooLate(c, m.ID)
	}

	r, err := w.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelWithdrawal, Account: c.Who.Account, Wallet: &bourse.WalletCommand{ID: m.ID},
	})
	switch {
	case err != nil:
		return err
	case r.Outcome.Reason == bourse.WithdrawalSigned:
		return api.Errorf(codes.AlreadySent, "The withdrawal was sent already")
	case r.Outcome.Reason == bourse.WithdrawalNotFound: // it is final
		return w.tooLate(c, m.ID)
	case r.Outcome.Reason != 0:
		return api.RefusedWithdrawal(r.Outcome.Reason)
	}
	return w.show(c, m.ID)
}

// past returns the error for the cancel of a transaction that is final or was never a
// withdrawal over a network; nil if it may still be canceled.
func past(m *history.Movement) error {
	switch {
	case m.Kind != history.MovementWithdrawal:
		return api.Errorf(codes.MethodNotAllowed, "xid: only a withdrawal can be canceled")
	case m.Other != 0:
		return api.Errorf(codes.MethodNotAllowed, "xid: the withdrawal was settled inside the exchange")
	case m.Status == bourse.WalletCanceled, m.Status == bourse.WalletPendingCancel:
		return api.Errorf(codes.AlreadyCanceled, "The withdrawal is canceled already")
	case m.Status == bourse.WalletDone:
		return api.Errorf(codes.AlreadySent, "The withdrawal was sent already")
	default:
		return nil
	}
}

// tooLate returns the error for the cancel of a withdrawal that was signed or became
// final meanwhile.
func (w *Wallet) tooLate(c *v2.Call, id bourse.WalletID) error {
	m, _, err := w.History.WalletTransaction(c.Context, c.Who.Account, id)
	if err == nil {
		err = past(&m)
	}
	if err == nil {
		err = api.Errorf(codes.AlreadySent, "The withdrawal was sent already")
	}
	return err
}
