package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/history"
)

var cancelFields = api.Fields{"xid"}

// cancel cancels a withdrawal. If the signature is first in the journal, the cancel is
// refused; while the signer works, the signer decides.
func (w *Wallet) cancel(c *api.Call) error {
	c.Require("xid")
	id := bourse.WalletID(c.ID("xid"))
	if err := c.Err(); err != nil {
		return err
	}

	switch reason := w.RefusesCancel(c.Who.Account, id); reason {
	case 0:
	case bourse.WithdrawalNotFound:
		return w.notFound(c, id)
	default:
		return api.RefusedWithdrawal(reason)
	}

	r, err := w.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelWithdrawal, Account: c.Who.Account,
		Wallet: &bourse.WalletCommand{ID: id},
	})
	if err != nil {
		return err
	}
	if r.Outcome.Reason == bourse.WithdrawalNotFound {
		return w.notFound(c, id)
	}
	return api.RefusedWithdrawal(r.Outcome.Reason)
}

var (
	errCanceled = api.Errorf(codes.AlreadyCanceled, "Withdrawal already canceled")
	errSettled  = api.Errorf(codes.AlreadyDone, "Withdrawal already done")
)

// notFound returns the error for a withdrawal that the engine does not know, because it
// forgets final ones: what became of it, or that there is none.
func (w *Wallet) notFound(c *api.Call, id bourse.WalletID) error {
	m, found, err := w.History.WalletTransaction(c.Context, c.Who.Account, id)
	switch {
	case err != nil:
		return err
	case !found || m.Kind != history.MovementWithdrawal:
		return api.RefusedWithdrawal(bourse.WithdrawalNotFound)
	case m.Status == bourse.WalletCanceled, m.Status == bourse.WalletPendingCancel:
		return errCanceled
	case m.Other != 0:
		return errSettled
	case m.Status == bourse.WalletDone:
		return api.RefusedWithdrawal(bourse.WithdrawalSigned)
	}
	return api.RefusedWithdrawal(bourse.WithdrawalNotFound) // it was requested meanwhile
}
