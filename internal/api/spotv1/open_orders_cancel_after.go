package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var cancelAfterFields = api.Fields{"seconds", "pair"}

// cancelAfter arms or disarms the dead man's switch of an account, for all markets or for
// one. The engine counts from the time of the command in the journal.
func (s *Spot) cancelAfter(c *api.Call) error {
	c.Require("seconds")
	after := bourse.Time(c.Int("seconds", 0, int64(bourse.MaxCancelAfter/bourse.Second))) * bourse.Second
	m := c.OptionalPair("pair", s.market)
	if err := c.Err(); err != nil {
		return err
	}

	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandCancelAfter, Account: c.Who.Account, MarketID: id(m), Hold: after,
	})
	if err != nil {
		return err
	}
	if r.Outcome.Reason != 0 {
		return api.RefusedOrder(r.Outcome.Reason)
	}

	if after == 0 {
		c.Out.Null("expires")
	} else {
		c.Out.Time("expires", r.Time+after)
	}
	return nil
}
