package spotv1

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var replaceFields = api.Fields{"cancel", "order", "mode"}

// replaceMode is the effect of a refused cancel on the order of a replacement.
type replaceMode uint8

const (
	stopOnFailure replaceMode = iota + 1
	allowFailure
)

var modeWords = [...]string{stopOnFailure: "stop_on_failure", allowFailure: "allow_failure"}

// String returns the word of a mode, empty for none.
func (m replaceMode) String() string {
	if int(m) < len(modeWords) {
		return modeWords[m]
	}
	return ""
}

func parseReplaceMode(s string) (replaceMode, bool) {
	at := slices.Index(modeWords[1:], s) + 1
	return replaceMode(at), at > 0
}

// replace cancels an order and places another one in one command. It weighs as both.
func (s *Spot) replace(c *api.Call) error {
	cmd, resp, err := s.readReplacement(c)
	if err != nil {
		return err
	}
	c.Charge(1)
	over, err := s.Turn(c.Limits, c.Who.Account, &cmd.NewOrder)
	if err != nil {
		return err
	}
	defer over()

	r, err := s.Sequencer.Do(c.Context, cmd)
	if err != nil {
		return err
	}
	if o := &r.Outcome; o.Reason != 0 && (o.Reason == o.Cancel || o.Reason == bourse.Voided) {
		return api.RefusedOrder(o.Reason)
	}

	c.Out.Name("cancel")
	if err := answerPart(c.Out, api.RefusedOrder(r.Outcome.Cancel), func() error { return nil }); err != nil {
		return err
	}
	c.Out.Name("order")
	return s.answerPlaced(c, resp, &r, cmd.NewOrder.Market)
}

// readReplacement reads the request. What costs nothing stays out of the journal, as with
// cancels; but an order with a client id may be a repetition, which the engine answers.
func (s *Spot) readReplacement(c *api.Call) (*bourse.Command, respType, error) {
	c.Require("cancel", "order", "mode")
	cmd := &bourse.Command{Kind: bourse.CommandReplace, Account: c.Who.Account}
	cmd.On = api.Word(c.Form, "mode", parseReplaceMode) == allowFailure
	var cancel, order api.Form
	c.Object("cancel", &cancel, cancelFields)
	c.Object("order", &order, newOrderFields)
	if err := c.Err(); err != nil {
		return nil, 0, err
	}

	id, name := selectOrder(&cancel)
	resp := s.readOrder(&order, &cmd.NewOrder)
	c.Fail(cancel.Err())
	c.Fail(order.Err())
	if err := c.Err(); err != nil {
		return nil, 0, err
	}

	o, reason := s.cancelable(c.Who.Account, id, name)
	switch {
	case o.ID != 0:
		cmd.Order = o.ID
	case id != 0:
		cmd.Order = id
	}
	if reason != 0 && !cmd.On && cmd.NewOrder.ClientID.IsZero() {
		return nil, 0, api.RefusedOrder(reason)
	}
	return cmd, resp, nil
}
