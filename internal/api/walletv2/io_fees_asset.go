package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// fee writes the fees and minimums of moving one asset.
func (w *Wallet) fee(c *v2.Call) error {
	a := w.assetOf(c, "asset", c.Segment("asset"))
	if err := c.Err(); err != nil {
		return err
	}
	w.writeFee(c, a)
	return nil
}
