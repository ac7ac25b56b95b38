package walletv1

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var networksFields = api.Fields{"asset"}

// networks lists the networks that carry an asset, by symbol.
func (w *Wallet) networks(c *api.Call) error {
	if err := c.Require("asset"); err != nil {
		return err
	}
	catalogue := w.View.Catalogue()
	a, err := api.Named(c, "asset", catalogue.Asset)
	if err != nil {
		return err
	}
	if !a.Enabled {
		return api.Unknown("asset", "asset", string(a.Symbol))
	}
	var list []*bourse.Network
	for _, terms := range catalogue.NetworkAssets {
		if n := catalogue.Networks[terms.Network]; terms.Asset == a.ID && terms.Enabled && n.Enabled {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b *bourse.Network) int { return cmp.Compare(a.Symbol, b.Symbol) })
	c.Out.Name("networks")
	c.Out.Object()
	for _, n := range list {
		c.Out.Name(string(n.Symbol))
		c.Out.Object()
		c.Out.Text("description", n.Name)
		c.Out.Text("icon_url", w.icon(n.Symbol))
		c.Out.EndObject()
	}
	c.Out.EndObject()
	return nil
}
