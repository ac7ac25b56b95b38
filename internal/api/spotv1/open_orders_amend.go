package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

var amendFields = api.Fields{"obid", "client_id", "price", "amount"}

// amend changes the price, the amount or both of an open order, selected by obid or
// client_id. What costs nothing stays out of the journal, as with cancels: an order that is
// not open, and terms that the order already has.
func (s *Spot) amend(c *api.Call) error {
	id, name := selectOrder(c.Form)
	if !c.Has("price") && !c.Has("amount") {
		c.Fail(api.Missing("amount"))
	}
	if err := c.Err(); err != nil {
		return err
	}

	o, reason := s.cancelable(c.Who.Account, id, name)
	if reason == 0 && !o.Type.HasPrice() {
		reason = bourse.NotAmendable
	}
	if reason != 0 {
		return api.RefusedOrder(reason)
	}

	cmd := bourse.Command{Kind: bourse.CommandAmend, Account: c.Who.Account, Order: o.ID}
	m := s.View.Catalogue().Markets[o.Market]
	readTerms(c, m, &cmd.NewOrder)
	if err := c.Err(); err != nil {
		return err
	}

	outcome := bourse.Outcome{ID: uint64(o.ID), Status: o.Status, Filled: o.Filled}
	if changes(&o, &cmd.NewOrder) {
		r, err := s.Sequencer.Do(c.Context, &cmd)
		if err != nil {
			return err
		}
		outcome = r.Outcome
	}

	if outcome.Reason != 0 {
		return api.RefusedOrder(outcome.Reason)
	}
	c.Out.Uint("obid", outcome.ID)
	c.Out.Word("status", outcome.Status.String())
	c.Out.Lots("filled", outcome.Filled, m.BasePrecision)
	return nil
}

// readTerms reads the price and the amount that are given.
func readTerms(c *api.Call, m *bourse.Market, p *bourse.NewOrder) {
	if c.Has("price") {
		p.Price = number(c.Form, "price", m.QuotePrecision, bourse.ParsePrice)
	}
	if c.Has("amount") {
		p.Lots = number(c.Form, "amount", m.BasePrecision, bourse.ParseLots)
	}
}

// changes reports whether an amendment has other terms than an order.
func changes(o *bourse.Order, to *bourse.NewOrder) bool {
	return to.Price != 0 && to.Price != o.Price || to.Lots != 0 && to.Lots != o.Lots
}
