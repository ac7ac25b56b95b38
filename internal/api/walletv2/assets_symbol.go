package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// asset tells of one asset.
func (w *Wallet) asset(c *v2.Call) error {
	a, err := w.assetOf("symbol", c.Segment("symbol"))
	if err != nil {
		return err
	}
	w.writeAssetFields(c, a)
	return nil
}
