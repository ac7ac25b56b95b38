package spotv1

import "github.com/bourse-exchange/bourse/internal/api"

var orderbookFields = api.Fields{"pair", "depth"}

// maxDepth bounds the field depth.
const maxDepth = 10_000

// orderbook writes all levels of a market, or the best depth of each side.
func (s *Spot) orderbook(c *api.Call) error {
	m := c.Pair("pair", s.market)
	depth := c.Int("depth", 1, maxDepth)
	if err := c.Err(); err != nil {
		return err
	}

	if !c.Has("depth") {
		depth = allLevels
	}

	book := s.books.read(s.View, m, int(depth))
	if part := book.cut(int(depth)); len(part) < len(book.whole) {
		c.Whole(part)
	} else {
		c.Share(book.document)
	}
	return nil
}
