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
	byID, byName := c.Has("obid"), c.Has("client_id")
	if byID && byName {
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "Only one of obid and client_id may be given"))
	}
	if !byID && !byName {
		c.Fail(api.Missing("obid"))
	}

	id, name := c.ID("obid"), api.ClientID(c.Form)
	switch {
	case c.Err() != nil:
		return o, false, c.Err()
	case byID:
		return s.History.Order(c.Context, c.Who.Account, bourse.OrderID(id))
	default:
		return s.History.OrderNamed(c.Context, c.Who.Account, name)
	}
}
