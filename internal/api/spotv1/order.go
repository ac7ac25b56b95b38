package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

var orderFields = api.Fields{"obid", "client_id", "after_amendment"}

// order writes one order of an account, selected by obid or client_id, also a rejected
// one, and a page of its amendments.
func (s *Spot) order(c *api.Call) error {
	id, name := selectOrder(c.Form)
	after := bourse.Seq(c.ID("after_amendment"))
	if err := c.Err(); err != nil {
		return err
	}
	if r, rejected := s.View.RejectedOrder(c.Who.Account, name); rejected {
		c.Out.Name("order")
		c.Out.Object()
		writeRejected(c, s.View.Catalogue(), &r)
		c.Out.EndObject()
		return nil
	}

	o, found, err := s.findOrder(c, id, name)
	if err != nil {
		return err
	}
	if !found {
		return api.RefusedOrder(bourse.OrderNotFound)
	}

	amendments, err := s.History.Amendments(c.Context, &o.Order.Order, after, pageSize)
	if err != nil {
		return err
	}

	catalogue := s.View.Catalogue()
	c.Out.Name("order")
	c.Out.Object()
	writeOrder(c, catalogue, &o)
	if o.Amended {
		writeAmendments(c.Out, catalogue.Markets[o.Market], amendments)
	}
	c.Out.EndObject()
	return nil
}

// writeAmendments writes a page of the amendments of an order, newest first.
func writeAmendments(out *wire.Writer, m *bourse.Market, list []history.Amendment) {
	out.Name("amendments")
	out.Array()
	for i := range list {
		a := &list[i]
		out.Object()
		out.Time("time", a.Time)
		out.Price("price", a.To.Price, m.QuotePrecision)
		out.Lots("amount", a.To.Lots, m.BasePrecision)
		out.Price("old_price", a.From.Price, m.QuotePrecision)
		out.Lots("old_amount", a.From.Lots, m.BasePrecision)
		out.Uint("amendment_id", uint64(a.Seq))
		out.EndObject()
	}
	out.EndArray()
}

func (s *Spot) findOrder(
	c *api.Call, id bourse.OrderID, name bourse.ClientID,
) (o history.OrderFills, found bool, err error) {
	if name.IsZero() {
		return s.History.Order(c.Context, c.Who.Account, id)
	}
	return s.History.OrderNamed(c.Context, c.Who.Account, name)
}

// writeRejected writes a row of orders_history without obid and with the reason.
func writeRejected(c *api.Call, catalogue *view.Catalogue, r *view.Rejection) {
	m := catalogue.Markets[r.Market]
	writeHead(c, m, &r.Order)
	c.Out.Name("trades")
	c.Out.Array()
	c.Out.EndArray()
	c.Out.Word("status", "REJECTED")
	c.Out.Word("reason", r.Reason.String())
	writeTerms(c, catalogue, m, &r.Order)
}

// selectOrder reads obid or client_id, of which one must be given.
func selectOrder(f *api.Form) (bourse.OrderID, bourse.ClientID) {
	byID, byName := f.Has("obid"), f.Has("client_id")
	switch {
	case byID && byName:
		f.Fail(bourse.Errorf(bourse.CodeInvalid, "Only one of obid and client_id may be given"))
	case !byID && !byName:
		f.Fail(api.Missing("obid"))
	}
	return bourse.OrderID(f.ID("obid")), api.ClientID(f)
}
