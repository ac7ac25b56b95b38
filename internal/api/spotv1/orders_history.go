package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// ordersHistory lists an account's orders, including open ones, newest first.
func (s *Spot) ordersHistory(c *api.Call) error {
	count, _ := s.View.Counts(c.Who.Account)
	q := s.past(c, count)
	if err := c.Err(); err != nil {
		return err
	}

	orders, err := s.History.Orders(c.Context, c.Who.Account, q)
	if err != nil {
		return err
	}

	catalogue := s.View.Catalogue()
	c.Out.Name("orders")
	c.Out.Array()
	for i := range orders {
		c.Out.Object()
		writeOrder(c, catalogue, &orders[i])
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

func writeOrder(c *api.Call, catalogue *view.Catalogue, o *history.OrderFills) {
	m := catalogue.Markets[o.Market]

	c.Out.Uint("obid", uint64(o.ID))
	writeHead(c, m, &o.Order.Order)
	writeOrderTrades(c, catalogue, m, o)
	c.Out.Word("status", o.Status.String())
	writeTerms(c, catalogue, m, &o.Order.Order)
}

// writeHead writes the fields of a row from pair to quote_prec.
func writeHead(c *api.Call, m *bourse.Market, o *bourse.Order) {
	c.Out.Word("pair", string(m.Pair))
	c.Out.Time("time", o.Time)
	c.Out.Word("side", o.Side.String())
	c.Out.Word("time_in_force", o.TIF.String())
	c.Out.Word("type", o.Type.String())
	c.Out.Uint("quote_prec", uint64(m.QuotePrecision))
}

// writeTerms writes the fields of a row from base on.
func writeTerms(c *api.Call, catalogue *view.Catalogue, m *bourse.Market, o *bourse.Order) {
	c.Out.Word("base", string(catalogue.Assets[m.Base].Symbol))
	c.Out.Word("quote", string(catalogue.Assets[m.Quote].Symbol))

	writeWorst(c.Out, m, o)
	if o.Lots > 0 {
		c.Out.Lots("amount", o.Lots, m.BasePrecision)
	} else {
		c.Out.Amount("total", o.Total, catalogue.Assets[m.Quote].Scale)
	}

	if !o.Waiting() {
		c.Out.Lots("filled", o.Filled, m.BasePrecision)
	}
	writePrevented(c.Out, m, o)
	if o.Type.HasStop() {
		c.Out.Price("stop", o.Stop, m.QuotePrecision)
	}

	if !o.ClientID.IsZero() {
		c.Out.Word("client_id", o.ClientID.String())
	}
	writeListID(c.Out, o)
}

// writeOrderTrades writes the trades of an order, oldest first.
func writeOrderTrades(c *api.Call, catalogue *view.Catalogue, m *bourse.Market, o *history.OrderFills) {
	c.Out.Name("trades")
	c.Out.Array()
	for i := range o.Fills {
		f := &o.Fills[i]
		c.Out.Object()
		c.Out.Time("time", f.Time)
		writeFill(c.Out, catalogue, m, f)
		c.Out.EndObject()
	}
	c.Out.EndArray()
}

// writeFill writes the fields that all rows of a fill have, from fee to obid.
func writeFill(out *wire.Writer, catalogue *view.Catalogue, m *bourse.Market, f *history.Fill) {
	out.Amount("fee", f.Fee, catalogue.Assets[m.Received(f.Side)].Scale)
	out.Price("price", f.Price, m.QuotePrecision)
	out.Lots("amount", f.Lots, m.BasePrecision)
	out.Amount("total", f.Total, catalogue.Assets[m.Quote].Scale)
	out.Word("role", f.Role.String())
	out.Uint("trade_id", f.Trade)
	out.Uint("obid", uint64(f.Order))
}
