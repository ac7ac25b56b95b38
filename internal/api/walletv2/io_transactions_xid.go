package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// transaction writes one transaction.
func (w *Wallet) transaction(c *v2.Call) error {
	l := w.NewListing()
	m, err := w.own(c)
	if err != nil {
		return err
	}
	return w.writeTransaction(c, l, &m)
}
