package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// balance tells what the account has of one asset, which may be disabled: money is
// never hidden from its owner.
func (w *Wallet) balance(c *v2.Call) error {
	a, err := found("symbol", c.Segment("symbol"), w.View.Catalogue().Asset, func(*bourse.Asset) bool { return true })
	if err != nil {
		return err
	}
	w.writeHolding(c, &w.holdings(c, []*bourse.Asset{a})[0])
	return nil
}
