package spotv1

import (
	"errors"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

var newListFields = api.Fields{"type", "orders"}

// newList places a list of orders, all or none. It weighs as its orders.
func (s *Spot) newList(c *api.Call) error {
	list := s.readList(c.Form)
	if err := c.Err(); err != nil {
		return err
	}
	c.Charge(len(list.Orders) - 1)

	over, err := s.Turn(c.Limits, c.Who.Account, walker(list))
	if err != nil {
		return err
	}
	defer over()

	r, err := s.Sequencer.Do(c.Context, &bourse.Command{
		Kind: bourse.CommandPlaceList, Account: c.Who.Account, List: list,
	})
	if err != nil {
		return err
	}
	if r.Outcome.Reason != 0 {
		return api.RefusedOrder(r.Outcome.Reason)
	}

	writeNewList(c.Out, list, &r.Outcome, s.View.Catalogue().Markets[list.Market()])
	return nil
}

// writeNewList writes the outcome of an accepted list.
func writeNewList(out *wire.Writer, list *bourse.NewList, o *bourse.Outcome, m *bourse.Market) {
	states := [...]bourse.OrderState{{Status: o.Status, Filled: o.Filled}, o.Second}
	out.Uint("list_id", o.ID)
	out.Word("type", list.Type.String())
	out.Name("orders")
	out.Array()
	for i := range list.Orders {
		out.Object()
		out.Uint("obid", o.ID+uint64(i)) // the ids of a list follow each other
		out.Word("status", states[i].Status.String())
		out.Lots("filled", states[i].Filled, m.BasePrecision)
		if id := &list.Orders[i].ClientID; !id.IsZero() {
			out.Word("client_id", id.String())
		}
		out.EndObject()
	}
	out.EndArray()
}

// walker returns the order of a list that may walk the book, or the last one.
func walker(list *bourse.NewList) *bourse.NewOrder {
	for i := range list.Orders {
		if p := &list.Orders[i]; p.TIF == bourse.FOK {
			return p
		}
	}
	return &list.Orders[len(list.Orders)-1]
}

// readList reads the request.
func (s *Spot) readList(f *api.Form) *bourse.NewList {
	f.Require("type", "orders")
	list := &bourse.NewList{Type: api.Word(f, "type", bourse.ParseListType)}
	for i, body := range f.Objects("orders", bourse.MaxListed) {
		one, p := new(api.Form), bourse.NewOrder{}
		one.Fail(one.Parse(body, newOrderFields))
		s.readOrder(one, &p)
		f.Fail(within(i, one.Err()))
		list.Orders = append(list.Orders, p)
	}
	if f.Err() == nil {
		f.Fail(checkList(list))
	}
	return list
}

// within adds the place of an order in its list to an error about it.
func within(i int, err error) error {
	var e *bourse.Error
	if !errors.As(err, &e) {
		return err
	}
	return bourse.Errorf(e.Code, "%s: %s", "orders["+strconv.Itoa(i)+"]", e.Message)
}

// checkList returns the error for orders that cannot be a list together.
func checkList(list *bourse.NewList) error {
	if len(list.Orders) != bourse.MaxListed {
		return api.Invalid("orders", "must be an array of "+strconv.Itoa(bourse.MaxListed)+" orders")
	}

	a, b := &list.Orders[0], &list.Orders[1]
	for i, p := range [...]*bourse.NewOrder{a, b} {
		if !p.Type.HasStop() && (p.Type != bourse.Limit || p.TIF != bourse.GTC) {
			return within(i, api.Invalid("type", "must have a stop, or be LIMIT with GTC"))
		}
	}
	switch {
	case a.Market != b.Market || a.Side != b.Side:
		return api.Invalid("orders", "must have one pair and one side")
	case !a.Type.HasStop() && !b.Type.HasStop():
		return api.Invalid("orders", "must not both be LIMIT")
	case !a.ClientID.IsZero() && a.ClientID == b.ClientID:
		return api.Invalid("orders", "must have different client_ids")
	}
	return nil
}
