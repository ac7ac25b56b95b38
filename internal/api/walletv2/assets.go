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
	p, err := c.Page()
	if err != nil {
		return err
	}
	list, err := w.search(c)
	if err != nil {
		return err
	}
	o, err := c.Order("symbol", "name")
	if err != nil {
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

// search returns the assets that are not disabled and match the phrase that is
// asked for.
func (w *Wallet) search(c *v2.Call) ([]*bourse.Asset, error) {
	q, err := c.Search()
	if err != nil {
		return nil, err
	}
	var list []*bourse.Asset
	for _, a := range w.View.Catalogue().Assets[1:] {
		if a.Enabled && teller.Matches(q, a.Symbol, a.Name) {
			list = append(list, a)
		}
	}
	return list, nil
}

// sortBy sorts a list by a comparison, then by symbol, the other way round if that
// is asked for.
func sortBy[T any](list []T, o v2.Order, compare func(a, b T) int, symbol func(T) bourse.Symbol) {
	slices.SortFunc(list, func(a, b T) int {
		n := cmp.Or(compare(a, b), cmp.Compare(symbol(a), symbol(b)))
		if o.Descending {
			return -n
		}
		return n
	})
}

// mostDecimals is how many decimals of an asset are worth showing.
const mostDecimals = 8

// decimals returns how many decimals of an asset to show: those that it moves with.
func (w *Wallet) decimals(a *bourse.Asset) uint8 {
	moves, most := false, uint8(0)
	for _, terms := range w.View.Catalogue().NetworkAssets {
		if terms.Asset == a.ID {
			moves, most = true, max(most, terms.Precision)
		}
	}
	if !moves {
		most = a.Scale
	}
	return min(most, mostDecimals)
}

func (w *Wallet) writeAssetFields(c *v2.Call, a *bourse.Asset) {
	c.Out.Word("symbol", string(a.Symbol))
	c.Out.Text("name", a.Name)
	c.Out.Text("iconUrl", w.Icon(a.Symbol))
	c.Out.Uint("defaultPrec", uint64(w.decimals(a)))
}

// writeAsset writes the member asset.
func (w *Wallet) writeAsset(c *v2.Call, a *bourse.Asset) {
	c.Out.Name("asset")
	c.Out.Object()
	w.writeAssetFields(c, a)
	c.Out.EndObject()
}
