package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// forget removes an entry from the address book.
func (w *Wallet) forget(c *v2.Call) error {
	a, err := w.savedAddress(c)
	if err != nil {
		return err
	}
	return w.Accounts.ForgetAddress(c.Context, c.Who.Account, a.ID)
}
