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
		writeIDs(c, nil)
		return nil
	}

	r, err := s.Sequencer.Do(c.Context, &cmd)
	if err != nil {
		return err
	}
	if r.Outcome.Reason != 0 {
		return api.RefusedOrder(r.Outcome.Reason)
	}
	writeIDs(c, r.Canceled)
	return nil
}

func writeIDs(c *api.Call, ids []bourse.OrderID) {
	c.Out.Name("obids")
	c.Out.Array()
	for _, id := range ids {
		c.Out.Integer(uint64(id))
	}
	c.Out.EndArray()
}
