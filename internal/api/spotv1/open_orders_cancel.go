package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelFields = api.Fields{"obid"}

// cancel asks for the end of an order. The view refuses what it can, so that a
// refusal that costs its sender nothing does not reach the journal. An id that a
// client was told is in the view, because the view folds a command before its answer
// leaves. Whether an open order is still there is the engine's decision.
func (s *Spot) cancel(c *api.Call) error {
	if err := c.Require("obid"); err != nil {
		return err
	}
	id, err := c.ID("obid")
	if err != nil {
		return err
	}
	if reason := s.refusesCancel(c.Who.Account, bourse.OrderID(id)); reason != 0 {
		return reasons.Refusal(reason)
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

// refusesCancel returns why the engine would refuse the cancel of an order, as far
// as the view shows; zero if it does not.
func (s *Spot) refusesCancel(account bourse.AccountID, id bourse.OrderID) bourse.Reason {
	o, open := s.View.OpenOrder(account, id)
	switch {
	case !open:
		return bourse.OrderNotFound
	case s.View.Catalogue().Markets[o.Market].State == bourse.MarketHalted:
		return bourse.MarketHaltedNow
	default:
		return 0
	}
}
