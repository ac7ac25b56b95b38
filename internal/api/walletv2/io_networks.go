package walletv2

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var networksFields = fields(v2.PageFields, api.Fields{"asset"})

// networks lists the networks, or those that carry an asset, by symbol.
func (w *Wallet) networks(c *v2.Call) error {
	p, err := c.Page()
	if err != nil {
		return err
	}
	catalogue := w.View.Catalogue()
	var list []*bourse.Network
	if c.Has("asset") {
		symbol, err := c.Text("asset")
		if err != nil {
			return err
		}
		a, err := w.assetOf("asset", symbol)
		if err != nil {
			return err
		}
		for _, terms := range teller.Carriers(catalogue, a.ID) {
			list = append(list, catalogue.Networks[terms.Network])
		}
	} else {
		for _, n := range catalogue.Networks[1:] {
			if n.Enabled {
				list = append(list, n)
			}
		}
		slices.SortFunc(list, func(a, b *bourse.Network) int { return cmp.Compare(a.Symbol, b.Symbol) })
	}
	v2.WritePart(c, "networks", p, list, func(n **bourse.Network) { w.writeNetworkFields(c, *n) })
	return nil
}
