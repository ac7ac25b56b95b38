package enginetest

import (
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// list is an open OCO list: both of its orders are open, and neither has acted. The money is
// the list's: its orders get theirs when one acts.
type list struct {
	first, second *order
	// needs are the holds that each of the two orders would have alone.
	needs [2]*big.Int
}

// placeList places two orders, or rejects both.
func (x *Oracle) placeList(cmd *bourse.Command) {
	a := x.accountOrRefuse(cmd.Account)
	if a == nil {
		return
	}
	m := x.marketOrRefuse(cmd.List.Orders[0].Market)
	if m == nil || x.repeatedList(cmd) {
		return
	}

	x.around = m.price()
	l := new(list)
	orders := [2]*order{}
	for i := range orders {
		one := cmd.List.Orders[i]
		orders[i] = &order{
			Order: bourse.Order{Account: cmd.Account, NewOrder: one, Time: x.now}, holds: m.Held(one.Side), list: l,
		}
		if one.SelfTrade == 0 {
			orders[i].SelfTrade = m.SelfTrade
		}
	}
	l.first, l.second = orders[0], orders[1]

	if reason := x.admitList(a, m, l); reason != 0 {
		for _, one := range cmd.List.Orders {
			x.ev.Reject(&bourse.Order{Account: cmd.Account, NewOrder: one, Time: x.now}, reason)
		}
		for i := range cmd.List.Orders {
			x.nameEnded(legOf(cmd, i), x.ev.Outcome)
			x.keepList(cmd, i)
		}
		return
	}

	for i, o := range orders {
		x.lastOrder++
		a.orders++
		o.ID, o.Ordinal, o.Status = x.lastOrder, a.orders, bourse.Open
		o.List = orders[0].ID
		m.open = append(m.open, o)
		x.nameTaken(legOf(cmd, i), o)
		x.keepList(cmd, i)
		x.tell(bourse.EventOrderAccepted, o)
	}
	for _, o := range orders {
		if o.Status == bourse.Open {
			x.begin(m, o)
		}
	}
	x.drain(m)

	x.ev.Outcome = bourse.Outcome{
		ID: uint64(orders[0].ID), Status: orders[0].Status, Filled: orders[0].Filled,
		Second: bourse.OrderState{Status: orders[1].Status, Filled: orders[1].Filled},
	}
	for i := range orders {
		x.nameDecided(legOf(cmd, i), x.ev.Outcome)
	}
}

// legOf returns a command that would place one order of a list alone.
func legOf(cmd *bourse.Command, i int) *bourse.Command {
	return &bourse.Command{Account: cmd.Account, NewOrder: cmd.List.Orders[i]}
}

// begin lets an accepted order of a list wait or work.
func (x *Oracle) begin(m *market, o *order) {
	switch {
	case !o.Type.HasStop():
		x.work(m, o, o.Price, false)
	case m.last != 0 && o.satisfiedAt(m.last):
		o.where = queued
		m.queue = append(m.queue, o)
	default:
		o.where = waiting
	}
}

// admitList holds the larger of the needs of a list's orders, or returns the reason to reject
// both.
func (x *Oracle) admitList(a *account, m *market, l *list) bourse.Reason {
	if a.frozen {
		return bourse.AccountFrozen
	}
	if !x.tradable(m) {
		return bourse.MarketClosed
	}

	for i, o := range []*order{l.first, l.second} {
		var reason bourse.Reason
		if o.unpriced() {
			l.needs[i], reason = x.needBehindStop(m, o)
		} else {
			l.needs[i], reason = x.needOfLimit(m, o)
		}
		if reason != 0 {
			return reason
		}
	}
	if m.openOf(l.first.Account)+2 > maxOpen {
		return bourse.TooManyOrders
	}

	p := x.purse(l.first.Account, l.first.holds)
	need := l.held()
	if p.available.Cmp(need) < 0 {
		return bourse.InsufficientFunds
	}
	if !x.mayGive(l.first.Account, l.first.holds, need) {
		return bourse.TradeLimit
	}
	p.available.Sub(&p.available, need)
	p.held.Add(&p.held, need)
	return 0
}

// held returns the hold of an open list.
func (l *list) held() *big.Int {
	if l.needs[0].Cmp(l.needs[1]) > 0 {
		return l.needs[0]
	}
	return l.needs[1]
}

// closeList ends an open list. The orders keep nothing of its hold.
func (x *Oracle) closeList(l *list) {
	p := x.purse(l.first.Account, l.first.holds)
	p.held.Sub(&p.held, l.held())
	p.available.Add(&p.available, l.held())
	l.first.list, l.second.list = nil, nil
}

// amendListed changes the hold that an order of an open list would have alone, and with it the
// hold of the list.
func (x *Oracle) amendListed(o *order, need *big.Int) bourse.Reason {
	l, at := o.list, 0
	if o == l.second {
		at = 1
	}
	before, was := new(big.Int).Set(l.held()), l.needs[at]
	l.needs[at] = need
	more := new(big.Int).Sub(l.held(), before)
	p := x.purse(o.Account, o.holds)
	if p.available.Cmp(more) < 0 {
		l.needs[at] = was
		return bourse.InsufficientFunds
	}
	if more.Sign() > 0 && !x.mayGive(o.Account, o.holds, more) {
		l.needs[at] = was
		return bourse.TradeLimit
	}
	p.available.Sub(&p.available, more)
	p.held.Add(&p.held, more)
	return 0
}

// act is called before an order trades or is triggered. If it belongs to an open list, the
// other order is killed, and the order holds its own need.
func (x *Oracle) act(m *market, o *order) {
	l := o.list
	if l == nil {
		return
	}
	need, other := l.needs[0], l.second
	if o == l.second {
		need, other = l.needs[1], l.first
	}
	x.closeList(l)
	if !x.hold(o, need) {
		bourse.Impossible("the oracle's list of order %d holds too little", o.ID)
	}
	x.end(m, other, bourse.Killed)
}

// endBoth ends both orders of an open list, the given one first.
func (x *Oracle) endBoth(m *market, o *order, status bourse.OrderStatus) {
	other := o.list.second
	if o == other {
		other = o.list.first
	}
	x.closeList(o.list)
	x.end(m, o, status)
	x.end(m, other, status)
}

// cancelList cancels the orders of a list that are open.
func (x *Oracle) cancelList(cmd *bourse.Command) {
	for _, m := range x.markets {
		for _, o := range m.open {
			if o.List != cmd.Order || o.Account != cmd.Account {
				continue
			}
			if m.State == bourse.MarketHalted {
				x.ev.Refuse(bourse.MarketHaltedNow)
				return
			}
			x.end(m, o, bourse.Canceled)
			x.ev.Outcome = bourse.Outcome{ID: uint64(o.List), Status: o.Status, Filled: o.Filled}
			return
		}
	}
	x.ev.Refuse(bourse.ListNotFound)
}

// keepList remembers that a client id stands for an order of a list.
func (x *Oracle) keepList(cmd *bourse.Command, i int) {
	if n := x.names[nameKey{cmd.Account, cmd.List.Orders[i].ClientID}]; n != nil {
		n.list = slices.Clone(cmd.List.Orders)
	}
}

// repeatedList answers a request with a client id that is taken, and reports whether it did.
func (x *Oracle) repeatedList(cmd *bourse.Command) bool {
	for _, one := range cmd.List.Orders {
		key := nameKey{cmd.Account, one.ClientID}
		n := x.names[key]
		if n != nil && !n.open && x.now > n.ended+nameKept {
			x.forget(key)
			n = nil
		}
		switch {
		case n == nil:
			continue
		case slices.Equal(n.list, cmd.List.Orders):
			x.ev.Repeat(n.outcome)
		default:
			for _, o := range cmd.List.Orders {
				x.ev.Reject(&bourse.Order{Account: cmd.Account, NewOrder: o, Time: x.now}, bourse.DuplicateClientID)
			}
		}
		return true
	}
	return false
}
