package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// network tells of one network.
func (w *Wallet) network(c *v2.Call) error {
	n, err := w.networkOf("symbol", c.Segment("symbol"))
	if err != nil {
		return err
	}
	w.writeNetworkFields(c, n)
	return nil
}
