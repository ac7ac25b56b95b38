package walletv1

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var assetsFields = api.Fields{"symbols", "search", "offset"}

// assets lists the assets of the exchange, by symbol.
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

// selectAssets returns the page of assets that a request asks for, by symbol.
// Disabled ones are among them only where they are asked for by symbol, and then
// only if hidden is true.
func (w *Wallet) selectAssets(c *api.Call, hidden bool) ([]*bourse.Asset, error) {
	symbols, err := c.Texts("symbols", pageSize)
	if err != nil {
		return nil, err
	}
	search, err := c.Text("search")
	if err != nil {
		return nil, err
	}
	skip, err := c.Offset()
	if err != nil {
		return nil, err
	}
	list, err := w.named(symbols)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a *bourse.Asset) bool {
		seen := a.Enabled || hidden && len(symbols) > 0
		return !seen || !teller.Matches(search, a.Symbol, a.Name)
	})
	list = list[min(skip, len(list)):]
	return list[:min(pageSize, len(list))], nil
}

// named returns the assets of these symbols, or all of them, once each and by
// symbol.
func (w *Wallet) named(symbols []string) ([]*bourse.Asset, error) {
	catalogue := w.View.Catalogue()
	var list []*bourse.Asset
	for _, s := range symbols {
		a := catalogue.Asset(bourse.Symbol(s))
		if a == nil {
			return nil, api.Unknown("symbols", "asset", s)
		}
		list = append(list, a)
	}
	if len(symbols) == 0 {
		list = slices.Clone(catalogue.Assets[1:])
	}
	slices.SortFunc(list, func(a, b *bourse.Asset) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return slices.Compact(list), nil
}
