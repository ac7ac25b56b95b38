package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelFields = api.Fields{"obid"}

// cancel asks for the end of an order. It waits for the engine, so that an order
// that is not there is told apart from one that was canceled.
func (s *Spot) cancel(c *api.Call) error {
	if err := c.Require("obid"); err != nil {
		return err
	}
	id, err := c.ID("obid")
	if err != nil {
		return err
	}
	if id == 0 {
		return reasons.Refusal(bourse.OrderNotFound)
	}
	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancel, Account: c.Who.Account, Order: bourse.OrderID(id),
	})
	if err != nil {
		return err
	}
	if r.Outcome.Reason != 0 {
		return reasons.Refusal(r.Outcome.Reason)
	}
	return nil
}
