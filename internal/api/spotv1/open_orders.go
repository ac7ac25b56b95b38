package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var openOrdersFields = api.Fields{"offset", "filter_pair", "sort_pair"}

// openOrders lists an account's open orders, newest first.
func (s *Spot) openOrders(c *api.Call) error {
	skip, filter := s.page(c)
	first := c.OptionalPair("sort_pair", s.market)
	if filter != nil && first != nil {
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "filter_pair and sort_pair cannot be used together"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	orders := s.View.OpenOrders(c.Who.Account, id(filter), id(first), skip, pageSize)
	catalogue := s.View.Catalogue()
	c.Out.Name("orders")
	c.Out.Array()
	for i := range orders {
		o := &orders[i]
		c.Out.Object()
		writeOpenOrder(c, catalogue.Markets[o.Market], o)
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

func writeOpenOrder(c *api.Call, m *bourse.Market, o *bourse.Order) {
	c.Out.Uint("obid", uint64(o.ID))
	c.Out.Word("pair", string(m.Pair))
	c.Out.Time("time", o.Time)
	c.Out.Word("side", o.Side.String())
	c.Out.Price("price", o.Price, m.QuotePrecision)
	c.Out.Lots("amount", o.Lots, m.BasePrecision)
	c.Out.Word("time_in_force", o.TIF.String())
	c.Out.Word("type", o.Type.String())
	c.Out.Uint("quote_prec", uint64(m.QuotePrecision))
	if !o.Waiting() {
		c.Out.Lots("filled", o.Filled, m.BasePrecision)
	}
	if o.Type.HasStop() {
		c.Out.Price("stop", o.Stop, m.QuotePrecision)
	}
	if !o.ClientID.IsZero() {
		c.Out.Word("client_id", o.ClientID.String())
	}
}

// id returns a market's id, or zero for none.
func id(m *bourse.Market) bourse.MarketID {
	if m == nil {
		return 0
	}
	return m.ID
}
