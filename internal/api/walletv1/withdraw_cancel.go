package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/history"
)

var cancelFields = api.Fields{"xid"}

// cancel asks for the end of a withdrawal. The journal's order decides between it
// and the signature.
func (w *Wallet) cancel(c *api.Call) error {
	if err := c.Require("xid"); err != nil {
		return err
	}
	id, err := c.ID("xid")
	if err != nil {
		return err
	}
	switch reason := w.RefusesCancel(c.Who.Account, bourse.WalletID(id)); reason {
	case 0:
	case bourse.WithdrawalNotFound:
		return w.notFound(c, bourse.WalletID(id))
	default:
		return teller.Refusal(reason)
	}

	r, err := w.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelWithdrawal, Account: c.Who.Account,
		Wallet: &bourse.WalletCommand{ID: bourse.WalletID(id)},
	})
	if err != nil {
		return err
	}
	switch r.Outcome.Reason {
	case 0:
		return nil
	case bourse.WithdrawalNotFound:
		return w.notFound(c, bourse.WalletID(id))
	default:
		return teller.Refusal(r.Outcome.Reason)
	}
}

// notFound returns the error for a withdrawal that the engine does not know, or
// does not any more: it forgets what is long over.
func (w *Wallet) notFound(c *api.Call, id bourse.WalletID) error {
	m, found, err := w.History.WalletTransaction(c.Context, c.Who.Account, id)
	switch {
	case err != nil:
		return err
	case found && m.Kind == history.MovementWithdrawal && m.Status == bourse.WalletDone:
		return teller.Refusal(bourse.WithdrawalSent)
	}
	return teller.Refusal(bourse.WithdrawalNotFound)
}
