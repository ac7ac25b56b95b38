package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelListFields = api.Fields{"list_id"}

// cancelList cancels the open orders of a list. As with orders, the view refuses a list that is
// not open, which keeps the request out of the journal.
func (s *Spot) cancelList(c *api.Call) error {
	c.Require("list_id")
	id := bourse.OrderID(c.ID("list_id"))
	if err := c.Err(); err != nil {
		return err
	}

	o, open := s.openOfList(c.Who.Account, id)
	switch {
	case !open:
		return api.RefusedOrder(bourse.ListNotFound)
	case s.View.Catalogue().Markets[o.Market].State == bourse.MarketHalted:
		return api.RefusedOrder(bourse.MarketHaltedNow)
	}

	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelList, Account: c.Who.Account, Order: id,
	})
	if err != nil {
		return err
	}
	return api.RefusedOrder(r.Outcome.Reason)
}

// openOfList returns an open order of an account's list.
func (s *Spot) openOfList(account bourse.AccountID, list bourse.OrderID) (bourse.Order, bool) {
	for i := range bourse.OrderID(bourse.MaxListed) {
		if o, open := s.View.OpenOrder(account, list+i); open && o.List == list {
			return o, true
		}
	}
	return bourse.Order{}, false
}
