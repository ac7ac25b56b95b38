package walletv2

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var renameFields = api.Fields{"name"}

// rename gives an entry of the address book another name.
func (w *Wallet) rename(c *v2.Call) error {
	a, err := w.savedAddress(c)
	if err != nil {
		return err
	}
	if err := c.Require("name"); err != nil {
		return err
	}
	if a.Name, err = teller.AddressName(c.Call, "name"); err != nil {
		return err
	}
	if err := w.Accounts.RenameAddress(c.Context, c.Who.Account, a.ID, a.Name); err != nil {
		return err
	}
	w.writeAddress(c, &a)
	return nil
}
