package enginetest

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// ofList makes some cancels of orders cancels of their lists, or of lists that do not exist.
func (w *Workload) ofList(cmd bourse.Command) bourse.Command {
	list := cmd.Order
	for _, m := range w.oracle.markets {
		for _, o := range m.open {
			if o.ID == cmd.Order && o.List != 0 {
				list = o.List
			}
		}
	}
	if percent := uint64(5); w.chance(percent) || list != cmd.Order && w.chance(4*percent) {
		cmd.Kind, cmd.Order = bourse.CommandCancelList, list
	}
	return cmd
}

// list draws an OCO list: a stop, and a LIMIT or another stop of the same side. Their prices
// are drawn apart, so that some trade or are triggered at once.
func (w *Workload) list() bourse.Command {
	legs := make([]bourse.NewOrder, bourse.MaxListed)
	named := false
	for i := range legs {
		p := w.order()
		if i > 0 {
			p.Market, p.Side = legs[0].Market, legs[0].Side
		}
		if i > 0 && w.chance(60) {
			p.TIF, p.Type, p.Price = bourse.GTC, bourse.Limit, w.price()
			p.PostOnly = w.chance(30)
		} else if w.stop(&p); w.shape.deep {
			w.away(&p)
		}
		if w.chance(w.shape.named) {
			w.name(&p)
			named = true
		}
		legs[i] = p
	}

	if !w.shape.deep && w.chance(70) {
		w.apart(legs)
	}
	if w.chance(50) {
		slices.Reverse(legs)
	}
	cmd := bourse.Command{
		Kind: bourse.CommandPlaceList, Account: w.account(), List: &bourse.NewList{Type: bourse.OCO, Orders: legs},
	}
	if named {
		w.remember(cmd)
	}
	return cmd
}

// apart moves the orders of a list away from the last price, so that neither acts at once.
func (w *Workload) apart(legs []bourse.NewOrder) {
	last := bourse.Price(w.shape.mid)
	if id := legs[0].Market; int(id) <= len(w.oracle.markets) {
		last = w.oracle.markets[id-1].price()
	}

	for i := range legs {
		p := &legs[i]
		price, above := &p.Price, p.Side == bourse.Sell
		if p.Type.HasStop() {
			price, above = &p.Stop, p.Type.FiresAbove(p.Side)
		}
		by := bourse.Price(w.between(1, w.shape.ticks))
		if above {
			*price = min(last+by, bourse.MaxPrice)
		} else {
			*price = max(last, by+1) - by
		}
	}
}

// changeOne draws a cancel to be made an amendment or a replacement: half of them of an order of
// an open list.
func (w *Workload) changeOne() bourse.Command {
	cmd := w.cancelOne()
	if w.chance(50) {
		return cmd
	}

	var listed []*order
	for _, m := range w.oracle.markets {
		for _, o := range m.open {
			if o.list != nil {
				listed = append(listed, o)
			}
		}
	}
	if len(listed) > 0 {
		o := listed[w.src.Below(uint64(len(listed)))]
		cmd.Order, cmd.Account = o.ID, o.Account
	}
	return cmd
}

// alter changes the quantity of an order, or of the last one of a list.
func alter(cmd *bourse.Command) {
	p := &cmd.NewOrder
	if cmd.List != nil {
		cmd.List = &bourse.NewList{Type: cmd.List.Type, Orders: slices.Clone(cmd.List.Orders)}
		p = &cmd.List.Orders[len(cmd.List.Orders)-1]
	}
	p.Lots, p.Total = p.Lots%7+1, bourse.Amount{}
}

func (w *Workload) crowded() bool {
	for _, m := range w.oracle.markets {
		if len(m.open) > w.shape.open {
			return true
		}
	}
	return false
}
