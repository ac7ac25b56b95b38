package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

var orderbookFields = api.Fields{"pair", "depth"}

// maxDepth is the most levels a side that a request can ask for without asking for
// all.
const maxDepth = 10_000

// orderbook lists the levels of a market: all of them, or the best of each side.
func (s *Spot) orderbook(c *api.Call) error {
	m, err := c.Pair("pair", s.market)
	if err != nil {
		return err
	}

	depth, err := c.Int("depth", 1, maxDepth)
	if err != nil {
		return err
	}
	if !c.Has("depth") {
		depth = allLevels
	}

	c.Whole(s.books.read(s.View, m, int(depth)))
	return nil
}
