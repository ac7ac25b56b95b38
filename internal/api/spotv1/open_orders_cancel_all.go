package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelAllFields = api.Fields{"filter_pair"}

// cancelAll cancels an account's orders in all markets or in one. If the view has none,
// nothing is journaled.
func (s *Spot) cancelAll(c *api.Call) error {
	m := c.OptionalPair("filter_pair", s.market)
	if err := c.Err(); err != nil {
		return err
	}

	cmd := bourse.Command{Kind: bourse.CommandCancelAll, Account: c.Who.Account}
	if m != nil {
		if m.State == bourse.MarketHalted {
			return api.RefusedOrder(bourse.MarketHaltedNow)
		}
		cmd.MarketID = m.ID
	}
	if !s.View.MayHaveOpen(c.Who.Account, cmd.MarketID) {
		return nil
	}

	r, err := s.Sequencer.Do(c.Context, &cmd)
	if err != nil {
		return err
	}
	return api.RefusedOrder(r.Outcome.Reason)
}
