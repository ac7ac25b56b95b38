package walletv1

import "github.com/bourse-exchange/bourse/internal/api"

var deleteFields = api.Fields{"adbkid"}

// delete removes a saved address from the address book.
func (w *Wallet) delete(c *api.Call) error {
	c.Require("adbkid")
	id := addressID(c)
	if err := c.Err(); err != nil {
		return err
	}
	return w.Accounts.ForgetAddress(c.Context, c.Who.Account, id)
}
