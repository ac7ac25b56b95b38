package spotv1

import (
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

var tradesHistoryFields = slices.Concat(pastFields, api.Fields{"after_obid"})

// tradesHistory lists an account's own trades, newest first. The field after is a trade's
// number, which counts the trades of one market.
func (s *Spot) tradesHistory(c *api.Call) error {
	_, count := s.View.Counts(c.Who.Account)
	q := s.past(c, count)
	if q.Before != 0 && q.Market == 0 {
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "after needs filter_pair"))
	}
	if q.BeforeOrder = bourse.OrderID(c.ID("after_obid")); q.BeforeOrder != 0 && q.Before == 0 {
		c.Fail(bourse.Errorf(bourse.CodeInvalid, "after_obid needs after"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	fills, err := s.History.Fills(c.Context, c.Who.Account, q)
	switch {
	case errors.Is(err, history.ErrTwoFills):
		return bourse.Errorf(bourse.CodeInvalid,
			"after_obid: trade %d of the account with itself has two rows; give the obid of one", q.Before)
	case errors.Is(err, history.ErrNoFill):
		return bourse.Errorf(bourse.CodeInvalid, "after_obid: the account has no row of trade %d with obid %d",
			q.Before, q.BeforeOrder)
	case err != nil:
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
