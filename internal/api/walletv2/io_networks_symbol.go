package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// network writes one network.
func (w *Wallet) network(c *v2.Call) error {
	n := w.networkOf(c, "symbol", c.Segment("symbol"))
	if err := c.Err(); err != nil {
		return err
	}
	w.writeNetworkFields(c, n)
	return nil
}
