package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// asset writes one asset.
func (w *Wallet) asset(c *v2.Call) error {
	a := w.assetOf(c, "symbol", c.Segment("symbol"))
	if err := c.Err(); err != nil {
		return err
	}
	w.writeAssetFields(c, a)
	return nil
}
