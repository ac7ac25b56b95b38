package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

var (
	batchFields   = api.Fields{"requests"}
	requestFields = api.Fields{"place", "cancel"}
)

// batched is a request of a batch.
type batched struct {
	// err refuses it before it is a command.
	err error
	// at is the index of its command.
	at     int
	cancel bool
	resp   respType
	market bourse.MarketID
}

// batch carries out up to sequencer.MaxTogether places and cancels in their order, in one
// frame of the journal. Each has its own answer.
func (s *Spot) batch(c *api.Call) error {
	c.Require("requests")
	parts := c.Objects("requests", sequencer.MaxTogether)
	if c.Err() == nil && len(parts) == 0 {
		c.Fail(api.Missing("requests"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	list, commands := s.readBatch(c, parts)
	if err := admitBatch(c, list); err != nil {
		return err
	}
	over, err := s.turnOfBatch(c, commands)
	if err != nil {
		return err
	}
	defer over()

	var results []sequencer.Result
	if len(commands) > 0 {
		if results, err = s.Sequencer.DoTogether(c.Context, commands); err != nil {
			return err
		}
	}
	return s.answerBatch(c, list, results)
}

// readBatch reads the requests of a batch, and returns the commands of the requests that the edge
// does not refuse.
func (s *Spot) readBatch(c *api.Call, parts [][]byte) ([]batched, []bourse.Command) {
	list := make([]batched, len(parts))
	commands := make([]bourse.Command, 0, len(parts))
	var r requestForms
	walked := false
	for i, part := range parts {
		b := &list[i]
		cmd := bourse.Command{Account: c.Who.Account}
		if b.err = r.part.Parse(part, requestFields); b.err == nil {
			b.err = s.readRequest(&r, b, &cmd)
		}
		if b.err == nil && mayWalk(&cmd) {
			if walked {
				b.err = bourse.Errorf(bourse.CodeInvalid, "place: a batch takes one order that is MARKET or FOK")
			}
			walked = true
		}
		if b.err == nil {
			b.at = len(commands)
			commands = append(commands, cmd)
		}
	}
	return list, commands
}

// requestForms are the forms of a request of a batch. One request is read after the other.
type requestForms struct{ part, place, cancel api.Form }

// readRequest reads a request of a batch into a command.
func (s *Spot) readRequest(r *requestForms, b *batched, cmd *bourse.Command) error {
	places := r.part.Object("place", &r.place, newOrderFields)
	cancels := r.part.Object("cancel", &r.cancel, cancelFields)
	switch {
	case r.part.Err() != nil:
		return r.part.Err()
	case places == cancels:
		return bourse.Errorf(bourse.CodeInvalid, "A request of a batch has one of place and cancel")
	case places:
		cmd.Kind = bourse.CommandPlace
		b.resp = s.readOrder(&r.place, &cmd.NewOrder)
		b.market = cmd.NewOrder.Market
		return r.place.Err()
	}

	b.cancel, cmd.Kind = true, bourse.CommandCancel
	id, name := selectOrder(&r.cancel)
	if err := r.cancel.Err(); err != nil {
		return err
	}
	o, reason := s.cancelable(cmd.Account, id, name)
	cmd.Order = o.ID
	return api.RefusedOrder(reason)
}

func mayWalk(cmd *bourse.Command) bool {
	return cmd.Kind == bourse.CommandPlace && walks(&cmd.NewOrder)
}

// turnOfBatch is the turn of the order of a batch that may walk, if there is one.
func (s *Spot) turnOfBatch(c *api.Call, commands []bourse.Command) (over func(), err error) {
	for i := range commands {
		if mayWalk(&commands[i]) {
			return s.Turn(c.Limits, c.Who.Account, &commands[i].NewOrder)
		}
	}
	return func() {}, nil
}

// admitBatch counts the requests of a batch, also the refused ones, as orders and cancels of their
// own. The batch itself was counted as one order.
func admitBatch(c *api.Call, list []batched) error {
	cancels := 0
	for i := range list {
		if list[i].cancel {
			cancels++
		}
	}
	if cancels > 0 && !c.Limits.AdmitWork(api.Cancels, c.Payer(), cancels) {
		return bourse.ErrBusy
	}
	if more := len(list) - cancels - 1; more > 0 {
		c.Charge(more)
	}
	return nil
}

func (s *Spot) answerBatch(c *api.Call, list []batched, results []sequencer.Result) error {
	c.Out.Name("results")
	c.Out.Array()
	for i := range list {
		b := &list[i]
		err := b.err
		var r sequencer.Result
		if err == nil {
			r = results[b.at]
			err = r.Err
		}

		switch {
		case err == nil && b.cancel:
			err = answerPart(c.Out, api.RefusedOrder(r.Outcome.Reason), func() error { return nil })
		case err == nil:
			err = s.answerPlaced(c, b.resp, &r, b.market)
		default:
			err = answerPart(c.Out, err, nil)
		}
		if err != nil {
			return err
		}
	}
	c.Out.EndArray()
	return nil
}
