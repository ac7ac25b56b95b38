package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

// balancesEx lists the account's balances with their assets.
func (w *Wallet) balancesEx(c *api.Call) error {
	return w.listBalances(c, func(a *bourse.Asset) {
		w.writeAsset(c, a)
		c.Out.Uint("max_prec", uint64(teller.MaxPrecision(w.View.Catalogue(), a)))
	})
}
