package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

var orderFields = api.Fields{"obid", "client_id"}

// order writes one order of an account, selected by obid or client_id.
func (s *Spot) order(c *api.Call) error {
	o, found, err := s.findOrder(c)
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

func (s *Spot) findOrder(c *api.Call) (o history.OrderFills, found bool, err error) {
	id, name := selectOrder(c)
	switch {
	case c.Err() != nil:
		return o, false, c.Err()
	case name.IsZero():
		return s.History.Order(c.Context, c.Who.Account, id)
	default:
		return s.History.OrderNamed(c.Context, c.Who.Account, name)
	}
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
