package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// balancesEx lists the account's balances with their assets.
func (w *Wallet) balancesEx(c *api.Call) error {
	return w.listBalances(c, func(a *bourse.Asset) { w.writeAsset(c, a) })
}
