package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

var newOrderFields = api.Fields{
	"pair", "side", "type", "time_in_force", "price", "amount", "total", "stop", "resp_type",
	"client_id", "post_only", "stp",
}

// respType says how much of the outcome the answer tells.
type respType uint8

const (
	respNone respType = iota + 1
	respAck
	respResult
)

func parseRespType(s string) (respType, bool) {
	switch s {
	case "NONE":
		return respNone, true
	case "ACK":
		return respAck, true
	case "RESULT":
		return respResult, true
	}
	return 0, false
}

// newOrder takes a new order. What the request and the market's definition alone
// can refuse is refused here; the engine decides about the rest.
func (s *Spot) newOrder(c *api.Call) error {
	cmd := bourse.Command{Kind: bourse.CommandPlace, Account: c.Who.Account}
	resp, err := s.readOrder(c, &cmd.Place)
	if err != nil {
		return err
	}
	over, err := s.turn(c, &cmd.Place)
	if err != nil {
		return err
	}
	defer over()
	r, err := s.Sequencer.Do(c.Context, &cmd)
	if err != nil {
		return err
	}
	return answerOrder(c, resp, &r, s.View.Catalogue().Markets[cmd.Place.Market])
}

// turn waits until the account has no other order under way that may look at much of the
// book without trading, if this is one: what the other looked at is counted by then, and
// api.ErrTooMany if that is more than the account may cause. over ends the turn.
func (s *Spot) turn(c *api.Call, p *bourse.Place) (over func(), err error) {
	if p.Type != bourse.MarketOrder && p.TIF != bourse.FOK {
		return func() {}, nil
	}
	over = s.walking.Lock(c.Who.Account)
	if c.Overdrawn() {
		over()
		return nil, api.ErrTooMany
	}
	return over, nil
}

func answerOrder(c *api.Call, resp respType, r *sequencer.Result, m *bourse.Market) error {
	if resp != respAck && resp != respResult {
		return nil
	}
	if r.Outcome.Reason != 0 {
		return reasons.Refusal(r.Outcome.Reason)
	}
	c.Out.Uint("obid", r.Outcome.ID)
	if resp == respAck {
		c.Out.Word("status", bourse.Open.String())
		return nil
	}
	c.Out.Word("status", r.Outcome.Status.String())
	c.Out.Lots("filled", r.Outcome.Filled, m.BasePrecision)
	return nil
}

// readOrder reads the request.
func (s *Spot) readOrder(c *api.Call, p *bourse.Place) (respType, error) {
	if err := c.Require("pair", "side", "type", "time_in_force"); err != nil {
		return 0, err
	}
	m, err := c.Pair("pair", s.market)
	if err != nil {
		return 0, err
	}
	p.Market = m.ID
	if p.Side, err = api.Word(c.Request, "side", bourse.ParseSide); err != nil {
		return 0, err
	}
	if p.Type, err = api.Word(c.Request, "type", bourse.ParseOrderType); err != nil {
		return 0, err
	}
	if p.TIF, err = api.Word(c.Request, "time_in_force", bourse.ParseTimeInForce); err != nil {
		return 0, err
	}
	resp, err := api.Word(c.Request, "resp_type", parseRespType)
	if err != nil {
		return 0, err
	}
	if err := s.readNumbers(c, m, p); err != nil {
		return 0, err
	}
	return resp, readExtras(c, p)
}

// readNumbers reads price, stop, amount and total, as far as the type of the
// order needs them; the others are ignored.
func (s *Spot) readNumbers(c *api.Call, m *bourse.Market, p *bourse.Place) error {
	if p.Type == bourse.MarketOrder {
		return s.readMarketNumbers(c, m, p)
	}
	needed := []string{"price", "amount"}
	if p.Type == bourse.StopLimit {
		needed = append(needed, "stop")
	}
	if err := c.Require(needed...); err != nil {
		return err
	}
	var err error
	if p.Price, err = number(c, "price", m.QuotePrecision, bourse.ParsePrice); err != nil {
		return err
	}
	if p.Type == bourse.StopLimit {
		if p.Stop, err = number(c, "stop", m.QuotePrecision, bourse.ParsePrice); err != nil {
			return err
		}
	}
	p.Lots, err = number(c, "amount", m.BasePrecision, bourse.ParseLots)
	return err
}

func (s *Spot) readMarketNumbers(c *api.Call, m *bourse.Market, p *bourse.Place) (err error) {
	byAmount, byTotal := c.Has("amount"), c.Has("total")
	switch {
	case byAmount && byTotal:
		return bourse.Errorf(bourse.CodeInvalid, "Only one of amount and total may be given")
	case byTotal:
		p.Total, err = number(c, "total", s.View.Catalogue().Assets[m.Quote].Scale, parseTotal)
	case byAmount:
		p.Lots, err = number(c, "amount", m.BasePrecision, bourse.ParseLots)
	default:
		return api.Missing("amount")
	}
	return err
}

func parseTotal(s string, scale uint8) (bourse.Amount, error) {
	a, err := bourse.ParseAmount(s, scale)
	if err == nil && a.IsZero() {
		err = bourse.Errorf(bourse.CodeInvalid, "must be greater than zero")
	}
	return a, err
}

// number reads a decimal field.
func number[N any](c *api.Call, name string, decimals uint8, parse func(string, uint8) (N, error)) (N, error) {
	var none N
	text, err := c.Text(name)
	if err != nil {
		return none, err
	}
	n, err := parse(text, decimals)
	if err != nil {
		return none, api.Invalid(name, err.Error())
	}
	return n, nil
}

// readExtras reads what the specification's clients may leave out.
func readExtras(c *api.Call, p *bourse.Place) (err error) {
	if p.SelfTrade, err = api.Word(c.Request, "stp", bourse.ParseSelfTradeMode); err != nil {
		return err
	}
	if p.PostOnly, err = c.Bool("post_only"); err != nil {
		return err
	}
	if p.PostOnly && (p.Type != bourse.Limit || p.TIF != bourse.GTC) {
		return api.Invalid("post_only", "is for LIMIT orders with GTC")
	}
	p.ClientID, err = api.ClientID(c)
	return err
}
