package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// answerPart writes the answer of a part of a request, in the form of an answer: success and
// the part's fields, or the error.
func answerPart(out *wire.Writer, err error, fields func() error) error {
	out.Object()
	out.Bool("success", err == nil)
	if err == nil {
		err = fields()
	} else if e := api.Known(err); e != nil {
		out.Text("error", e.Message)
		out.Word("code", string(e.Code))
		err = nil
	}
	out.EndObject()
	return err
}

// answerPlaced writes the part of an answer about an order that was placed.
func (s *Spot) answerPlaced(c *api.Call, resp respType, r *sequencer.Result, market bourse.MarketID) error {
	told := resp == respAck || resp == respResult
	var refused error
	if told {
		refused = api.RefusedOrder(r.Outcome.Reason)
	}
	return answerPart(c.Out, refused, func() error {
		return answerOrder(c, resp, r, s.View.Catalogue().Markets[market])
	})
}
