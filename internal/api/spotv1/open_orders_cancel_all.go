package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelAllFields = api.Fields{"filter_pair"}

// cancelAll asks for the end of all of an account's orders, or of those in one
// market. An account without such orders has its answer from the view: nothing is
// journaled for it.
func (s *Spot) cancelAll(c *api.Call) error {
	m, err := c.OptionalPair("filter_pair", s.market)
	if err != nil {
		return err
	}
	cmd := bourse.Command{Kind: bourse.CommandCancelAll, Account: c.Who.Account}
	if m != nil {
		if m.State == bourse.MarketHalted {
			return reasons.Refusal(bourse.MarketHaltedNow)
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
	if r.Outcome.Reason != 0 {
		return reasons.Refusal(r.Outcome.Reason)
	}
	return nil
}
