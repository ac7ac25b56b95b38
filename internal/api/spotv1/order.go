package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var orderFields = api.Fields{"obid", "client_id"}

// order writes one order of an account, selected by obid or client_id, also a rejected
// one.
func (s *Spot) order(c *api.Call) error {
	id, name := selectOrder(c)
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

	c.Out.Name("order")
	c.Out.Object()
	writeOrder(c, s.View.Catalogue(), &o)
	c.Out.EndObject()
	return nil
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
func selectOrder(c *api.Call) (bourse.OrderID, bourse.ClientID) {
	byID, byName := c.Has("obid"), c.Has("client_id")
	switch {
	case byID && byName:
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "Only one of obid and client_id may be given"))
	case !byID && !byName:
		c.Fail(api.Missing("obid"))
	}
	return bourse.OrderID(c.ID("obid")), api.ClientID(c.Form)
}
