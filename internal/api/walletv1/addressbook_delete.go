package walletv1

import "github.com/bourse-exchange/bourse/internal/api"

var deleteFields = api.Fields{"adbkid"}

// delete takes a saved address out of the address book.
func (w *Wallet) delete(c *api.Call) error {
	if err := c.Require("adbkid"); err != nil {
		return err
	}
	id, err := addressID(c)
	if err != nil {
		return err
	}
	return w.Accounts.ForgetAddress(c.Context, c.Who.Account, id)
}
