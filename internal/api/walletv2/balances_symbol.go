package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// balance writes the account's balance of one asset, even a disabled one.
func (w *Wallet) balance(c *v2.Call) error {
	a := found(c, "symbol", c.Segment("symbol"), w.View.Catalogue().Asset, func(*bourse.Asset) bool { return true })
	if err := c.Err(); err != nil {
		return err
	}
	w.writeHolding(c, &w.holdings(c, []*bourse.Asset{a})[0])
	return nil
}
