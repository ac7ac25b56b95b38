package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

var orderFields = api.Fields{"obid", "client_id"}

// order tells of one order of an account, by obid or client_id.
func (s *Spot) order(c *api.Call) error {
	o, found, err := s.findOrder(c)
	if err != nil {
		return err
	}
	if !found {
		return reasons.Refusal(bourse.OrderNotFound)
	}
	c.Out.Name("order")
	c.Out.Object()
	writeOrder(c, s.View.Catalogue(), &o)
	c.Out.EndObject()
	return nil
}

func (s *Spot) findOrder(c *api.Call) (o history.OrderFills, found bool, err error) {
	byID, byName := c.Has("obid"), c.Has("client_id")
	switch {
	case byID && byName:
		return o, false, bourse.Errorf(bourse.CodeInvalid, "Only one of obid and client_id may be given")
	case byID:
		obid, err := c.ID("obid")
		if err != nil {
			return o, false, err
		}
		return s.History.Order(c.Context, c.Who.Account, bourse.OrderID(obid))
	case byName:
		name, err := api.ClientID(c)
		if err != nil {
			return o, false, err
		}
		return s.History.OrderNamed(c.Context, c.Who.Account, name)
	}
	return o, false, api.Missing("obid")
}
