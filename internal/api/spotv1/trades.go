package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

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
	s.writeTrades(c.Out, m, trades)
	return nil
}

func (s *Spot) writeTrades(out *wire.Writer, m *bourse.Market, trades []history.Trade) {
	scale := s.View.Catalogue().Assets[m.Quote].Scale
	out.Name("trades")
	out.Array()
	for i := range trades {
		t := &trades[i]
		out.Object()
		out.Time("time", t.Time)
		out.Price("price", t.Price, m.QuotePrecision)
		out.Lots("amount", t.Lots, m.BasePrecision)
		out.Amount("total", t.Total, scale)
		out.Word("side", t.TakerSide.String())
		out.Uint("trade_id", t.Number)
		out.EndObject()
	}
	out.EndArray()
}
