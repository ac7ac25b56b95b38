package spotv1

import (
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

var orderListsFields = api.Fields{"list_id"}

// orderList writes one list of an account with its orders, also one that is done.
func (s *Spot) orderList(c *api.Call) error {
	c.Require("list_id")
	id := bourse.OrderID(c.ID("list_id"))
	if err := c.Err(); err != nil {
		return err
	}

	orders, err := s.listed(c, id)
	if err != nil {
		return err
	}
	if len(orders) == 0 {
		return api.RefusedOrder(bourse.ListNotFound)
	}

	status := "DONE"
	if slices.ContainsFunc(orders, func(o history.OrderFills) bool { return o.Status == bourse.Open }) {
		status = "OPEN"
	}
	catalogue := s.View.Catalogue()
	c.Out.Uint("list_id", uint64(id))
	c.Out.Word("type", bourse.OCO.String()) // the only type
	c.Out.Word("status", status)
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

// listed returns the orders of an account's list, the first one first. Their ids and the
// account's ordinals follow each other, so that they are the page up to the last one.
func (s *Spot) listed(c *api.Call, id bourse.OrderID) ([]history.OrderFills, error) {
	if id > math.MaxInt64-bourse.MaxListed {
		return nil, nil
	}

	orders, err := s.History.Orders(c.Context, c.Who.Account, &history.ListQuery{
		Before: uint64(id) + bourse.MaxListed, Limit: bourse.MaxListed,
	})
	if err != nil {
		return nil, err
	}
	orders = slices.DeleteFunc(orders, func(o history.OrderFills) bool { return o.List != id })
	slices.Reverse(orders)
	return orders, nil
}
