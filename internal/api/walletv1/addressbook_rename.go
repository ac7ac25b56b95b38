package walletv1

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var renameFields = api.Fields{"adbkid", "new_name"}

// rename gives a saved address another name.
func (w *Wallet) rename(c *api.Call) error {
	if err := c.Require("adbkid", "new_name"); err != nil {
		return err
	}
	id, err := addressID(c)
	if err != nil {
		return err
	}
	name, err := teller.AddressName(c, "new_name")
	if err != nil {
		return err
	}
	err = w.Accounts.RenameAddress(c.Context, c.Who.Account, id, name)
	var known *bourse.Error
	if errors.As(err, &known) && known.Code == bourse.CodeConflict {
		return api.Invalid("new_name", known.Message)
	}
	return err
}
