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

// networks lists all networks, or the carriers of an asset, by symbol.
func (w *Wallet) networks(c *v2.Call) error {
	p := c.Page()
	var asset *bourse.Asset
	if c.Has("asset") {
		asset = w.assetOf(c, "asset", c.Text("asset"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	catalogue := w.View.Catalogue()
	var list []*bourse.Network
	if asset != nil {
		for _, terms := range teller.Carriers(catalogue, asset.ID) {
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
