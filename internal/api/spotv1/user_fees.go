package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

var userFeesFields = api.Fields{"pair"}

// userFees writes the account's fee level, and its rates in a market in percent.
func (s *Spot) userFees(c *api.Call) error {
	m := c.OptionalPair("pair", s.market)
	if err := c.Err(); err != nil {
		return err
	}

	if m == nil {
		m = s.defaultMarket()
	}

	standing, _ := s.View.Account(c.Who.Account)
	maker, taker := standing.Maker, standing.Taker
	if !standing.OwnFees && m != nil {
		maker, taker = s.View.Catalogue().Fees.Bound(standing.FeeLevel, m.Maker, m.Taker)
	}

	c.Out.Uint("level", uint64(standing.FeeLevel))
	c.Out.Word("maker_fee", maker.Percent())
	c.Out.Word("taker_fee", taker.Percent())
	return nil
}
