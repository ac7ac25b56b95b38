package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// fee tells what moving one asset costs.
func (w *Wallet) fee(c *v2.Call) error {
	a, err := w.assetOf("asset", c.Segment("asset"))
	if err != nil {
		return err
	}
	w.writeFee(c, a)
	return nil
}
