package spotv1

import (
	"strconv"

	"github.com/bourse-exchange/bourse/internal/api"
)

// marketsEx lists markets with all their figures.
func (s *Spot) marketsEx(c *api.Call) error {
	rows, err := s.selectMarkets(c)
	if err != nil {
		return err
	}

	c.Out.Name("markets")
	c.Out.Array()
	for i := range rows {
		r := &rows[i]
		c.Out.Object()
		s.writeMarket(c, r)
		c.Out.Text("base_name", r.base.Name)
		c.Out.Text("quote_name", r.quote.Name)
		c.Out.Uint("base_precision", uint64(r.BasePrecision))
		c.Out.Uint("quote_precision", uint64(r.QuotePrecision))
		c.Out.Price("high", r.ticker.High, r.QuotePrecision)
		c.Out.Price("low", r.ticker.Low, r.QuotePrecision)
		c.Out.Amount("vol_base", r.ticker.Volume, r.BasePrecision)
		c.Out.Amount("vol_quote", r.ticker.Value, r.quote.Scale)
		c.Out.Amount("min_order", r.MinOrder, r.quote.Scale)
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
