package exports

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

// selection is which rows an export has. A zero field selects all.
type selection struct {
	// from and to bound the times, both included; to is never in the future.
	from, to bourse.Time
	market   bourse.MarketID
	asset    bourse.AssetID
	side     bourse.Side
	// order is a type of orders, movement one of transfers.
	order    bourse.OrderType
	movement history.MovementKind
}

// selection reads the fields of an export.
func (e *Exports) selection(c *v2.Call, x *export) (s selection) {
	catalogue := e.View.Catalogue()
	s.from, s.to = c.Period()
	if now := e.View.Now(); s.to == 0 || s.to > now {
		s.to = now
	}

	for _, field := range x.filters {
		switch field {
		case fieldPair:
			if m := c.OptionalPair(fieldPair, catalogue.Market); m != nil {
				s.market = m.ID
			}
		case fieldSide:
			s.side = api.Word(c.Form, fieldSide, bourse.ParseSide)
		case fieldAsset:
			s.asset = asset(c, catalogue)
		case fieldType:
			if x.ofMoney() {
				s.movement = movement(c)
			} else {
				s.order = api.Word(c.Form, fieldType, bourse.ParseOrderType)
			}
		}
	}
	return s
}

// takesOrder reports whether an order is selected.
func (s *selection) takesOrder(o *bourse.Order) bool {
	return (s.side == 0 || s.side == o.Side) && (s.order == 0 || s.order == o.Type)
}

// ofMoney reports whether the rows are of assets, and not of markets.
func (x *export) ofMoney() bool { return slices.Contains(x.filters, fieldAsset) }

// asset reads the field asset; zero if it is absent.
func asset(c *v2.Call, catalogue *view.Catalogue) bourse.AssetID {
	if !c.Has(fieldAsset) {
		return 0
	}
	a := catalogue.Asset(bourse.Symbol(c.Text(fieldAsset)))
	if a == nil {
		c.Fail(api.Invalid(fieldAsset, "must be a listed asset"))
		return 0
	}
	return a.ID
}

// movement reads the type of transfers; zero if it is absent.
func movement(c *v2.Call) history.MovementKind {
	if !c.Has(fieldType) {
		return 0
	}
	word := c.Text(fieldType)
	at := slices.Index(teller.KindWords[:], word)
	if at <= 0 {
		c.Fail(api.UnknownWord(fieldType, word, teller.KindWords[1:]...))
		return 0
	}
	return history.MovementKind(at)
}
