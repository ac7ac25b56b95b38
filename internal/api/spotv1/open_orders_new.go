package spotv1

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

var newOrderFields = api.Fields{
	"pair", "side", "type", "time_in_force", "price", "amount", "total", "stop", "resp_type",
	"client_id", "post_only", "stp",
}

// respType selects how much of the outcome is in the answer.
type respType uint8

const (
	respNone respType = iota + 1
	respAck
	respResult
)

var respWords = [...]string{respNone: "NONE", respAck: "ACK", respResult: "RESULT"}

// String returns the word of a selection, empty for none.
func (r respType) String() string {
	if int(r) < len(respWords) {
		return respWords[r]
	}
	return ""
}

func parseRespType(s string) (respType, bool) {
	at := slices.Index(respWords[1:], s) + 1
	return respType(at), at > 0
}

// newOrder places an order. Errors that follow from the request and the market's
// definition alone are found here; the engine decides everything else.
func (s *Spot) newOrder(c *api.Call) error {
	cmd := bourse.Command{Kind: bourse.CommandPlace, Account: c.Who.Account}
	resp := s.readOrder(c.Form, &cmd.NewOrder)
	if err := c.Err(); err != nil {
		return err
	}

	over, err := s.Turn(c.Limits, c.Who.Account, &cmd.NewOrder)
	if err != nil {
		return err
	}
	defer over()

	r, err := s.Sequencer.Do(c.Context, &cmd)
	if err != nil {
		return err
	}
	return answerOrder(c, resp, &r, s.View.Catalogue().Markets[cmd.NewOrder.Market])
}

// walks reports whether an order may walk much of the book without trading.
func walks(p *bourse.NewOrder) bool { return p.Type == bourse.MarketOrder || p.TIF == bourse.FOK }

// Turn serializes, per account, the orders that may walk much of the book without
// trading, of all interfaces. When it returns, the account is charged for the previous one's
// walk; if the account is overdrawn, the error is bourse.ErrBusy. over ends the turn.
func (s *Spot) Turn(limits *api.Limiter, who bourse.AccountID, p *bourse.NewOrder) (over func(), err error) {
	if !walks(p) {
		return func() {}, nil
	}
	over = s.walking.Lock(who)
	if limits.Overdrawn(api.Orders, who) {
		over()
		return nil, bourse.ErrBusy
	}
	return over, nil
}

func answerOrder(c *api.Call, resp respType, r *sequencer.Result, m *bourse.Market) error {
	if resp != respAck && resp != respResult {
		return nil
	}

	if r.Outcome.Reason != 0 {
		return api.RefusedOrder(r.Outcome.Reason)
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
func (s *Spot) readOrder(f *api.Form, p *bourse.NewOrder) respType {
	f.Require("pair", "side", "type", "time_in_force")
	m := f.Pair("pair", s.market)
	p.Side = api.Word(f, "side", bourse.ParseSide)
	p.Type = api.Word(f, "type", bourse.ParseOrderType)
	p.TIF = api.Word(f, "time_in_force", bourse.ParseTimeInForce)
	resp := api.Word(f, "resp_type", parseRespType)
	if f.Err() != nil {
		return 0
	}

	p.Market = m.ID
	s.readNumbers(f, m, p)
	readExtras(f, p)
	return resp
}

// readNumbers reads the fields price, stop, amount and total that the order's type uses;
// the others are ignored.
func (s *Spot) readNumbers(f *api.Form, m *bourse.Market, p *bourse.NewOrder) {
	if p.Type.HasPrice() {
		f.Require("price", "amount")
	}
	if p.Type.HasStop() {
		f.Require("stop")
	}

	if p.Type.HasPrice() {
		p.Price = number(f, "price", m.QuotePrecision, bourse.ParsePrice)
	}
	if p.Type.HasStop() {
		p.Stop = number(f, "stop", m.QuotePrecision, bourse.ParsePrice)
	}
	if p.Type.HasPrice() {
		p.Lots = number(f, "amount", m.BasePrecision, bourse.ParseLots)
	} else {
		s.readQuantity(f, m, p)
	}
}

// readQuantity reads the amount or the total of an order without a price.
func (s *Spot) readQuantity(f *api.Form, m *bourse.Market, p *bourse.NewOrder) {
	byAmount, byTotal := f.Has("amount"), f.Has("total")
	switch {
	case byAmount && byTotal:
		f.Fail(bourse.Errorf(bourse.CodeInvalid, "Only one of amount and total may be given"))
	case byTotal && p.Side == bourse.Sell && p.Type.HasStop():
		f.Fail(api.Invalid("total", "is for BUY orders of this type; a SELL takes amount"))
	case byTotal:
		p.Total = number(f, "total", s.View.Catalogue().Assets[m.Quote].Scale, parseTotal)
	case byAmount:
		p.Lots = number(f, "amount", m.BasePrecision, bourse.ParseLots)
	default:
		f.Fail(api.Missing("amount"))
	}
}

func parseTotal(s string, scale uint8) (bourse.Amount, error) {
	a, err := bourse.ParseAmount(s, scale)
	if err == nil && a.IsZero() {
		err = bourse.Errorf(bourse.CodeInvalid, "must be greater than zero")
	}
	return a, err
}

// number reads a decimal field.
func number[N any](f *api.Form, name string, decimals uint8, parse func(string, uint8) (N, error)) (n N) {
	text := f.Text(name)
	if f.Err() != nil {
		return n
	}
	n, err := parse(text, decimals)
	if err != nil {
		f.Fail(api.Invalid(name, err.Error()))
	}
	return n
}

// readExtras reads the optional fields that the specification does not have.
func readExtras(f *api.Form, p *bourse.NewOrder) {
	p.SelfTrade = api.Word(f, "stp", bourse.ParseSelfTradeMode)
	p.PostOnly = f.Bool("post_only")
	if p.PostOnly && (p.Type != bourse.Limit || p.TIF != bourse.GTC) {
		f.Fail(api.Invalid("post_only", "is for LIMIT orders with GTC"))
	}
	p.ClientID = api.ClientID(f)
}
