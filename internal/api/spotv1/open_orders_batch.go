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
// frame of the journal. Each has its own answer. It weighs as its parts.
func (s *Spot) batch(c *api.Call) error {
	c.Require("requests")
	parts := c.Objects("requests", requestFields, sequencer.MaxTogether)
	if c.Err() == nil && len(parts) == 0 {
		c.Fail(api.Missing("requests"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	list, commands := s.readBatch(c, parts)
	if err := admitBatch(c, commands); err != nil {
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

// readBatch reads the requests of a batch, and returns the commands of those that the edge
// does not refuse.
func (s *Spot) readBatch(c *api.Call, parts []*api.Form) ([]batched, []bourse.Command) {
	list := make([]batched, len(parts))
	var commands []bourse.Command
	walked := false
	for i, part := range parts {
		cmd := bourse.Command{Account: c.Who.Account}
		b := &list[i]
		if b.err = s.readRequest(part, b, &cmd); b.err != nil {
			continue
		}
		if mayWalk(&cmd) {
			if walked {
				b.err = bourse.Errorf(bourse.CodeInvalid, "place: a batch takes one order that is MARKET or FOK")
				continue
			}
			walked = true
		}
		b.at = len(commands)
		commands = append(commands, cmd)
	}
	return list, commands
}

// readRequest reads a request of a batch into a command.
func (s *Spot) readRequest(f *api.Form, b *batched, cmd *bourse.Command) error {
	place, cancel := f.Object("place", newOrderFields), f.Object("cancel", cancelFields)
	switch {
	case f.Err() != nil:
		return f.Err()
	case (place == nil) == (cancel == nil):
		return bourse.Errorf(bourse.CodeInvalid, "A request of a batch has one of place and cancel")
	case place != nil:
		cmd.Kind = bourse.CommandPlace
		b.resp = s.readOrder(place, &cmd.NewOrder)
		b.market = cmd.NewOrder.Market
		return place.Err()
	}

	b.cancel, cmd.Kind = true, bourse.CommandCancel
	id, name := selectOrder(cancel)
	if err := cancel.Err(); err != nil {
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
			return s.turn(c, &commands[i].NewOrder)
		}
	}
	return func() {}, nil
}

// admitBatch counts the commands of a batch beyond the first order, which the request counted.
func admitBatch(c *api.Call, commands []bourse.Command) error {
	cancels := 0
	for i := range commands {
		if commands[i].Kind == bourse.CommandCancel {
			cancels++
		}
	}
	if cancels > 0 && !c.Limits.AdmitWork(api.Cancels, c.Payer(), cancels) {
		return bourse.ErrBusy
	}
	if more := len(commands) - cancels - 1; more > 0 {
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
