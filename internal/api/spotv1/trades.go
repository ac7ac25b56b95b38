package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

var tradesFields = api.Fields{"pair", "offset"}

// trades lists a market's trades, newest first.
func (s *Spot) trades(c *api.Call) error {
	c.Require("pair", "offset")
	m, skip := c.Pair("pair", s.market), c.Offset()
	if err := c.Err(); err != nil {
		return err
	}

	trades, err := s.History.Trades(c.Context, m.ID, skip, pageSize)
	if err != nil {
		return err
	}

	scale := s.View.Catalogue().Assets[m.Quote].Scale
	c.Out.Name("trades")
	c.Out.Array()
	for i := range trades {
		t := &trades[i]
		c.Out.Object()
		c.Out.Time("time", t.Time)
		c.Out.Price("price", t.Price, m.QuotePrecision)
		c.Out.Lots("amount", t.Lots, m.BasePrecision)
		c.Out.Amount("total", t.Total, scale)
		c.Out.Word("side", t.TakerSide.String())
		c.Out.Uint("trade_id", t.Number)
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}
