package walletv2

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var renameFields = api.Fields{"name"}

// rename renames an entry of the address book.
func (w *Wallet) rename(c *v2.Call) error {
	a, err := w.savedAddress(c)
	if err != nil {
		return err
	}

	c.Require("name")
	a.Name = teller.AddressName(c.Call, "name")
	if err := c.Err(); err != nil {
		return err
	}

	if err := w.Accounts.RenameAddress(c.Context, c.Who.Account, a.ID, a.Name); err != nil {
		return err
	}
	w.writeAddress(c, &a)
	return nil
}
