package walletv2

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var balancesFields = fields(v2.PageFields, v2.SearchFields, v2.OrderFields, api.Fields{"nonZero"})

// holding is an account's balance of an asset.
type holding struct {
	asset *bourse.Asset
	bourse.Balance
}

// balances lists the account's balances.
func (w *Wallet) balances(c *v2.Call) error {
	p, assets, o := c.Page(), w.search(c), c.Sort("symbol", "total")
	if err := c.Err(); err != nil {
		return err
	}

	list := w.holdings(c, assets)
	if c.Has("nonZero") {
		list = slices.DeleteFunc(list, func(h holding) bool { return h.Available.IsZero() && h.Held.IsZero() })
	}
	sortBy(list, o, func(a, b holding) int {
		if o.By == "total" {
			return compareTotals(&a, &b)
		}
		return 0
	}, func(h holding) bourse.Symbol { return h.asset.Symbol })
	v2.WritePart(c, "balances", p, list, func(h *holding) { w.writeHolding(c, h) })
	return nil
}

// holdings returns the account's balances of assets, all at one moment.
func (w *Wallet) holdings(c *v2.Call, assets []*bourse.Asset) []holding {
	ids := make([]bourse.AssetID, len(assets))
	for i, a := range assets {
		ids[i] = a.ID
	}
	balances := w.View.Balances(c.Who.Account, ids)
	list := make([]holding, len(assets))
	for i, a := range assets {
		list[i] = holding{a, balances[i]}
	}
	return list
}

func (w *Wallet) writeHolding(c *v2.Call, h *holding) {
	w.writeAssetFields(c, h.asset)
	c.Out.Amount("total", h.Available.Plus(h.Held), h.asset.Scale)
	c.Out.Amount("locked", h.Held, h.asset.Scale)
	c.Out.Amount("avbl", h.Available, h.asset.Scale)
}

// compareTotals compares totals of different scales.
func compareTotals(a, b *holding) int {
	x, y := a.Available.Plus(a.Held), b.Available.Plus(b.Held)
	scale := max(a.asset.Scale, b.asset.Scale)
	x, xFits := x.Mul(bourse.Pow10(scale - a.asset.Scale))
	y, yFits := y.Mul(bourse.Pow10(scale - b.asset.Scale))
	switch {
	case !xFits || !yFits: // at most one of them overflows, and it is the larger
		return flagOf(!xFits) - flagOf(!yFits)
	case x.Less(y):
		return -1
	default:
		return flagOf(y.Less(x))
	}
}

func flagOf(b bool) int {
	if b {
		return 1
	}
	return 0
}
