package walletv1

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var renameFields = api.Fields{"adbkid", "new_name"}

// rename renames a saved address.
func (w *Wallet) rename(c *api.Call) error {
	c.Require("adbkid", "new_name")
	id, name := addressID(c), teller.AddressName(c, "new_name")
	if err := c.Err(); err != nil {
		return err
	}

	err := w.Accounts.RenameAddress(c.Context, c.Who.Account, id, name)
	var known *bourse.Error
	if errors.As(err, &known) && known.Code == bourse.CodeConflict {
		return api.Invalid("new_name", known.Message)
	}
	return err
}
