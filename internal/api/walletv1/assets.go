package walletv1

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var assetsFields = api.Fields{"symbols", "search", "offset"}

// assets lists the assets of the exchange by symbol.
func (w *Wallet) assets(c *api.Call) error {
	list, err := w.selectAssets(c, false)
	if err != nil {
		return err
	}

	c.Out.Name("assets")
	c.Out.Object()
	for _, a := range list {
		c.Out.Name(string(a.Symbol))
		c.Out.Object()
		w.writeAsset(c, a)
		c.Out.EndObject()
	}
	c.Out.EndObject()
	return nil
}

func (w *Wallet) writeAsset(c *api.Call, a *bourse.Asset) {
	c.Out.Text("name", a.Name)
	c.Out.Text("icon_url", w.Icon(a.Symbol))
}

// selectAssets returns the requested page of assets by symbol. Disabled ones are included
// only if hidden is true and the request names symbols.
func (w *Wallet) selectAssets(c *api.Call, hidden bool) ([]*bourse.Asset, error) {
	symbols, search, skip := c.Texts("symbols", pageSize), c.Text("search"), c.Offset()
	list := w.named(c, symbols)
	list = slices.DeleteFunc(list, func(a *bourse.Asset) bool {
		seen := a.Enabled || hidden && len(symbols) > 0
		return !seen || !teller.Matches(search, a.Symbol, a.Name)
	})
	list = list[min(skip, len(list)):]
	return list[:min(pageSize, len(list))], c.Err()
}

// named returns the assets of the symbols, or all of them, by symbol and without
// duplicates.
func (w *Wallet) named(c *api.Call, symbols []string) []*bourse.Asset {
	catalogue := w.View.Catalogue()
	var list []*bourse.Asset
	for _, s := range symbols {
		a := catalogue.Asset(bourse.Symbol(s))
		if a == nil {
			c.Fail(api.Unknown("symbols", "asset", s))
			return nil
		}
		list = append(list, a)
	}
	if len(symbols) == 0 {
		list = slices.Clone(catalogue.Assets[1:])
	}
	slices.SortFunc(list, func(a, b *bourse.Asset) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return slices.Compact(list)
}
