package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelFields = api.Fields{"obid"}

// cancel cancels an order. Free refusals stay out of the journal, so the view refuses
// first: it has every id that a client knows, because it folds a command before the
// answer leaves. The engine decides whether the order is still open.
func (s *Spot) cancel(c *api.Call) error {
	c.Require("obid")
	id := c.ID("obid")
	if err := c.Err(); err != nil {
		return err
	}

	if reason := s.refusesCancel(c.Who.Account, bourse.OrderID(id)); reason != 0 {
		return api.RefusedOrder(reason)
	}

	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancel, Account: c.Who.Account, Order: bourse.OrderID(id),
	})
	if err != nil {
		return err
	}
	return api.RefusedOrder(r.Outcome.Reason)
}

// refusesCancel returns the reason for which the view refuses a cancel, or zero.
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
