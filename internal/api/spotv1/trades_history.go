package spotv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

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
	s.writeFills(c.Out, fills)
	return nil
}

func (s *Spot) writeFills(out *wire.Writer, fills []history.Fill) {
	catalogue := s.View.Catalogue()
	out.Name("trades")
	out.Array()
	for i := range fills {
		f := &fills[i]
		m := catalogue.Markets[f.Market]
		out.Object()
		out.Time("time", f.Time)
		out.Word("pair", string(m.Pair))
		writeFill(out, catalogue, m, f)
		out.Word("side", f.Side.String())
		out.EndObject()
	}
	out.EndArray()
}
