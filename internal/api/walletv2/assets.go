package walletv2

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var assetsFields = fields(v2.PageFields, v2.SearchFields, v2.OrderFields)

// assets lists the assets of the exchange.
func (w *Wallet) assets(c *v2.Call) error {
	p, list, o := c.Page(), w.search(c), c.Sort("symbol", "name")
	if err := c.Err(); err != nil {
		return err
	}

	sortBy(list, o, func(a, b *bourse.Asset) int {
		if o.By == "name" {
			return cmp.Compare(a.Name, b.Name)
		}
		return 0
	}, func(a *bourse.Asset) bourse.Symbol { return a.Symbol })
	v2.WritePart(c, "assets", p, list, func(a **bourse.Asset) { w.writeAssetFields(c, *a) })
	return nil
}

// search returns the enabled assets that match the search phrase.
func (w *Wallet) search(c *v2.Call) []*bourse.Asset {
	q := c.Search()
	var list []*bourse.Asset
	for _, a := range w.View.Catalogue().Assets[1:] {
		if a.Enabled && teller.Matches(q, a.Symbol, a.Name) {
			list = append(list, a)
		}
	}
	return list
}

// sortBy sorts a list by compare, then by symbol, in the requested direction.
func sortBy[T any](list []T, o v2.Sort, compare func(a, b T) int, symbol func(T) bourse.Symbol) {
	slices.SortFunc(list, func(a, b T) int {
		n := cmp.Or(compare(a, b), cmp.Compare(symbol(a), symbol(b)))
		if o.Descending {
			return -n
		}
		return n
	})
}

// mostDecimals bounds the decimals that clients display.
const mostDecimals = 8

func (w *Wallet) writeAssetFields(c *v2.Call, a *bourse.Asset) {
	w.writeTitle(c, a.Symbol, a.Name)
	c.Out.Uint("defaultPrec", uint64(min(teller.MaxPrecision(w.View.Catalogue(), a), mostDecimals)))
}

// writeAsset writes the member asset.
func (w *Wallet) writeAsset(c *v2.Call, a *bourse.Asset) {
	c.Out.Name("asset")
	c.Out.Object()
	w.writeAssetFields(c, a)
	c.Out.EndObject()
}
