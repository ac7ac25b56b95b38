package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

var tradesHistoryFields = api.Fields{"offset", "filter_pair"}

// tradesHistory lists an account's own trades, newest first.
func (s *Spot) tradesHistory(c *api.Call) error {
	skip, filter := s.page(c)
	if err := c.Err(); err != nil {
		return err
	}

	fills, err := s.History.Fills(c.Context, c.Who.Account, id(filter), skip, pageSize)
	if err != nil {
		return err
	}

	catalogue := s.View.Catalogue()
	c.Out.Name("trades")
	c.Out.Array()
	for i := range fills {
		f := &fills[i]
		m := catalogue.Markets[f.Market]
		c.Out.Object()
		c.Out.Time("time", f.Time)
		c.Out.Word("pair", string(m.Pair))
		writeFill(c, catalogue, m, f)
		c.Out.Word("side", f.Side.String())
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}
