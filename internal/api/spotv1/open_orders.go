package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
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
		writeOpenOrder(c.Out, catalogue, &orders[i])
	}
	c.Out.EndArray()
	return nil
}

func writeOpenOrder(out *wire.Writer, catalogue *view.Catalogue, o *bourse.Order) {
	m := catalogue.Markets[o.Market]
	out.Object()
	out.Uint("obid", uint64(o.ID))
	out.Word("pair", string(m.Pair))
	out.Time("time", o.Time)
	out.Word("side", o.Side.String())
	writeWorst(out, m, o)
	if o.Lots > 0 {
		out.Lots("amount", o.Lots, m.BasePrecision)
	} else {
		out.Amount("total", o.Total, catalogue.Assets[m.Quote].Scale)
	}
	out.Word("time_in_force", o.TIF.String())
	out.Word("type", o.Type.String())
	out.Uint("quote_prec", uint64(m.QuotePrecision))
	if !o.Waiting() {
		out.Lots("filled", o.Filled, m.BasePrecision)
	}
	writePrevented(out, m, o)
	if o.Type.HasStop() {
		out.Price("stop", o.Stop, m.QuotePrecision)
	}
	if !o.ClientID.IsZero() {
		out.Word("client_id", o.ClientID.String())
	}
	writeListID(out, o)
	out.EndObject()
}

// writePrevented writes what self-trade prevention took of an order, if anything.
func writePrevented(out *wire.Writer, m *bourse.Market, o *bourse.Order) {
	if o.Prevented > 0 {
		out.Lots("prevented", o.Prevented, m.BasePrecision)
	}
}

// writeListID writes the list of an order that has one.
func writeListID(out *wire.Writer, o *bourse.Order) {
	if o.List != 0 {
		out.Uint("list_id", uint64(o.List))
	}
}

// writeWorst writes the worst price of an order's trades: the price that it names, or the cap
// that it fixed. Most orders without a price have neither.
func writeWorst(out *wire.Writer, m *bourse.Market, o *bourse.Order) {
	if limit := o.Cap(); limit > 0 {
		out.Price("cap", limit, m.QuotePrecision)
	} else if o.Price > 0 {
		out.Price("price", o.Price, m.QuotePrecision)
	}
}

// id returns a market's id, or zero for none.
func id(m *bourse.Market) bourse.MarketID {
	if m == nil {
		return 0
	}
	return m.ID
}
