package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
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
	if id == 0 {
		return refusal(bourse.WithdrawalNotFound)
	}
	r, err := w.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelWithdrawal, Account: c.Who.Account,
		Wallet: &bourse.WalletCommand{ID: bourse.WalletID(id)},
	})
	if err != nil {
		return err
	}
	if r.Outcome.Reason != 0 {
		return refusal(r.Outcome.Reason)
	}
	return nil
}
