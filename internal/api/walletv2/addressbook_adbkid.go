package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// address writes one entry of the address book.
func (w *Wallet) address(c *v2.Call) error {
	a, err := w.savedAddress(c)
	if err != nil {
		return err
	}
	w.writeAddress(c, &a)
	return nil
}
