package spotv1

import (
	"iter"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var orderbookFields = api.Fields{"pair"}

// orderbook lists all levels of a market. Prices and amounts have all their
// decimals, so that a client can match levels by their text.
func (s *Spot) orderbook(c *api.Call) error {
	m, err := c.Pair("pair", s.market)
	if err != nil {
		return err
	}
	depth := s.View.Depth(m.ID)
	writeLevels(c, m, "bids", depth.Bids)
	writeLevels(c, m, "asks", depth.Asks)
	c.Out.Uint("seq", depth.Seq)
	return nil
}

func writeLevels(c *api.Call, m *bourse.Market, name string, levels iter.Seq2[bourse.Price, bourse.Lots]) {
	c.Out.Name(name)
	c.Out.Array()
	for price, lots := range levels {
		c.Out.Object()
		c.Out.Fixed("price", uint64(price), m.QuotePrecision)
		c.Out.Fixed("amount", uint64(lots), m.BasePrecision)
		c.Out.EndObject()
	}
	c.Out.EndArray()
}
