package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelFields = api.Fields{"obid", "client_id"}

// cancel cancels an order, selected by obid or client_id. Free refusals stay out of the
// journal, so the view refuses first: it has every id that a client knows, because it
// folds a command before the answer leaves. The engine decides whether the order is still
// open.
func (s *Spot) cancel(c *api.Call) error {
	id, name := selectOrder(c.Form)
	if err := c.Err(); err != nil {
		return err
	}

	o, reason := s.cancelable(c.Who.Account, id, name)
	if reason != 0 {
		return api.RefusedOrder(reason)
	}

	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancel, Account: c.Who.Account, Order: o.ID,
	})
	if err != nil {
		return err
	}
	return api.RefusedOrder(r.Outcome.Reason)
}

// cancelable returns the open order with an id or, with id zero, with a client id, and
// the reason for which the view refuses its cancel, or zero.
func (s *Spot) cancelable(
	account bourse.AccountID, id bourse.OrderID, name bourse.ClientID,
) (o bourse.Order, reason bourse.Reason) {
	open := false
	if id != 0 {
		o, open = s.View.OpenOrder(account, id)
	} else if !name.IsZero() {
		o, open = s.View.OpenOrderNamed(account, name)
	}

	switch {
	case !open:
		return o, bourse.OrderNotFound
	case s.View.Catalogue().Markets[o.Market].State == bourse.MarketHalted:
		return o, bourse.MarketHaltedNow
	default:
		return o, 0
	}
}
