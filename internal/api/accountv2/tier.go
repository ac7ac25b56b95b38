package accountv2

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/view"
)

// tier writes the account's tier, its limits, and the rest of each.
func (a *Account) tier(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
		return err
	}

	name, list := a.View.Tier(c.Who.Account)
	assets := a.View.Catalogue().Assets
	c.Out.Word("tier", name)
	v2.WritePart(c, "limits", p, list, func(u *view.Usage) {
		asset := assets[u.Asset]
		c.Out.Text("asset", string(asset.Symbol))
		c.Out.Word("kind", strings.ToUpper(u.Flow.String()))
		writeBound(c, [2]string{"dayLimit", "dayLeft"}, u.Limit.Day, u.Used.Day, asset.Scale)
		writeBound(c, [2]string{"monthLimit", "monthLeft"}, u.Limit.Month, u.Used.Month, asset.Scale)
	})
	return nil
}

// writeBound writes a bound and its rest, or null twice for none.
func writeBound(c *v2.Call, names [2]string, b bourse.Bound, used bourse.Amount, scale uint8) {
	if !b.Set {
		c.Out.Null(names[0])
		c.Out.Null(names[1])
		return
	}
	c.Out.Amount(names[0], b.Most, scale)
	c.Out.Amount(names[1], b.Left(used), scale)
}
