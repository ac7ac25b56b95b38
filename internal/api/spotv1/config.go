package spotv1

import (
	"encoding/hex"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// config writes the exchange's default choices for clients.
func (s *Spot) config(c *api.Call) error {
	catalogue := s.View.Catalogue()
	var quotes []string

	for _, m := range catalogue.Listed() {
		quotes = append(quotes, string(catalogue.Assets[m.Quote].Symbol))
	}
	slices.Sort(quotes)

	c.Out.Name("quotes")
	c.Out.Array()
	for _, q := range slices.Compact(quotes) {
		c.Out.String(q)
	}
	c.Out.EndArray()

	if m := s.defaultMarket(); m != nil {
		c.Out.Word("default_pair", string(m.Pair))
	}
	if g := catalogue.Genesis; g != nil {
		c.Out.Word("exchange_id", hex.EncodeToString(g.Exchange[:]))
	}
	return nil
}

// defaultMarket returns DefaultPair's market or the first one listed; nil if none is.
func (s *Spot) defaultMarket() *bourse.Market {
	listed := s.View.Catalogue().Listed()
	for _, m := range listed {
		if m.Pair == s.DefaultPair {
			return m
		}
	}
	if len(listed) == 0 {
		return nil
	}
	return listed[0]
}
