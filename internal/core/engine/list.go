package engine

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// The two orders of an OCO list are ordinary orders, of which at most one ever trades. Until
// one does they are a pair: each knows the other, and together they hold the larger of their
// two reserves. A leg wins when it trades or is triggered: before any money moves, the other
// one is removed from its queue and killed, and its part of the hold released. A leg that is
// removed otherwise takes the other one with it.
//
// A stop that the last price has reached is in the trigger queue and has not won yet: the leg
// that rests in the book stays there until the stop's turn comes. If it trades first, it wins.
// So the book that a taker was quoted loses nothing while the taker trades with it, and the
// work of a trade does not grow with the lists that it sets off.

// placeList accepts or rejects the orders of a list, all or none, then works them in their
// order, as long as none has won.
func (e *Engine) placeList(cmd *bourse.Command, ev *bourse.Events) {
	acct, m := e.account(cmd.Account), e.market(cmd.List.Market())
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case m == nil:
		ev.Refuse(bourse.UnknownMarket)
		return
	case e.listRepeated(cmd, ev):
		return
	case e.usedUp(m) || e.lastOrder+1 >= MaxNumber || !e.arena.Reaches(e.lastOrder+bourse.MaxListed):
		ev.Refuse(bourse.TooMany)
		return
	}

	legs := e.legsOf(cmd)
	e.around = m.price()
	list := m.book.List(cmd.Account)
	held, reason := m.admitList(acct, list, &legs)
	side := legs[0].cmd.NewOrder.Side
	switch {
	case reason != 0:
	case e.tiers.trades && !e.mayGive(cmd.Account, m.Held(side), held):
		reason = bourse.TradeLimit
	case !m.held[side].Hold(ev, cmd.Account, held):
		reason = bourse.InsufficientFunds
	}
	if reason != 0 {
		e.turnDownList(cmd, &legs, reason, ev)
		return
	}

	e.acceptList(acct, m, list, &legs, ev)
	for i := range legs {
		e.enterLeg(m, list, &legs[i], ev)
	}
	if m.book.Queued() != 0 {
		e.drainQueue(m, ev)
	}
	e.endList(&legs, ev)
}

// leg is an order of a list while the list is placed.
type leg struct {
	// cmd places the order by itself. A Price that is a cap is not in the request.
	cmd bourse.Command
	// named is the order's client id, or zero.
	named uint32
	id    bourse.OrderID
}

// legs are the orders of a list while it is placed.
type legs [bourse.MaxListed]leg

// legsOf returns the orders of a list, and takes their client ids.
func (e *Engine) legsOf(cmd *bourse.Command) (l legs) {
	for i := range l {
		one := &l[i]
		one.cmd = bourse.Command{Account: cmd.Account, NewOrder: cmd.List.Orders[i]}
		if !one.cmd.NewOrder.ClientID.IsZero() {
			one.named = e.names.take(&one.cmd)
			e.names.entries[one.named].list = cmd.List
		}
	}
	return l
}

// admitList checks the orders of a list one by one, fixes their caps, and returns the hold
// of the list.
func (m *market) admitList(
	acct *account, list *book.List, legs *legs,
) (held bourse.Amount, reason bourse.Reason) {
	for i := range legs {
		p := &legs[i].cmd.NewOrder
		need, reason := m.admit(acct, list, p)
		if reason == 0 && !p.Type.HasPrice() {
			p.Price, need, reason = m.admitBehindStop(list, p)
		}
		if reason != 0 {
			return held, reason
		}
		held = larger(held, need)
	}
	if list.Open+bourse.MaxListed > MaxOpenOrders {
		return held, bourse.TooManyOrders
	}
	return held, 0
}

func larger(a, b bourse.Amount) bourse.Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// turnDownList rejects all orders of a list for the same reason.
func (e *Engine) turnDownList(cmd *bourse.Command, legs *legs, reason bourse.Reason, ev *bourse.Events) {
	for i := range legs {
		legs[i].cmd.NewOrder = cmd.List.Orders[i]
		e.turnDown(&legs[i].cmd, legs[i].named, reason, ev)
	}
}

// acceptList allots ids to the orders of a list and pairs them.
func (e *Engine) acceptList(
	acct *account, m *market, list *book.List, legs *legs, ev *bourse.Events,
) {
	first := e.lastOrder + 1
	var slots [bourse.MaxListed]book.Slot
	for i := range legs {
		s, o := e.accept(acct, m, &legs[i].cmd, legs[i].named, ev)
		ev.Orders[len(ev.Orders)-1].List = first
		o.Listed, legs[i].id, slots[i] = true, o.ID, s
		e.list(m, s, o, list)
	}

	*e.arena.Leg(slots[0]) = book.Leg{List: first, Other: slots[1]}
	*e.arena.Leg(slots[1]) = book.Leg{List: first, Other: slots[0]}
}

// enterLeg puts an order of a list into its queue, or works it, unless the other one has won.
func (e *Engine) enterLeg(m *market, list *book.List, l *leg, ev *bourse.Events) {
	s := e.arena.Find(l.id)
	if s == 0 {
		return
	}
	o := e.arena.At(s)
	switch {
	case !o.Type.HasStop():
		e.work(m, &taker{slot: s, order: o, left: o.Lots, limit: o.Price, held: e.reserve(m, s, o)}, ev)
	default:
		e.chargeWait(o, list)
		m.await(&e.arena, s, o)
	}
}

// endList sets the outcome of an accepted list, also for repetitions.
func (e *Engine) endList(legs *legs, ev *bourse.Events) {
	first, second := e.stateOf(legs[0].id, ev), e.stateOf(legs[1].id, ev)
	ev.Outcome = bourse.Outcome{
		ID: uint64(legs[0].id), Status: first.Status, Filled: first.Filled, Second: second,
	}
	for i := range legs {
		if named := legs[i].named; named != 0 {
			outcome := ev.Outcome
			outcome.ID = uint64(legs[i].id)
			e.names.entries[named].outcome = outcome
		}
	}
}

// stateOf returns the state of an order that the current command accepted.
func (e *Engine) stateOf(id bourse.OrderID, ev *bourse.Events) bourse.OrderState {
	if s := e.arena.Find(id); s != 0 {
		return bourse.OrderState{Status: bourse.Open, Filled: e.arena.At(s).Filled}
	}
	for i := len(ev.Orders) - 1; i >= 0; i-- {
		if o := &ev.Orders[i]; o.ID == id && o.Status != bourse.Open {
			return bourse.OrderState{Status: o.Status, Filled: o.Filled}
		}
	}
	bourse.Impossible("order %d is neither open nor closed", id)
	return bourse.OrderState{}
}

// listRepeated answers a request for a list if a client id of its orders is taken, and
// reports whether it did.
func (e *Engine) listRepeated(cmd *bourse.Command, ev *bourse.Events) bool {
	for i := range cmd.List.Orders {
		at := e.names.taken(e, cmd.Account, cmd.List.Orders[i].ClientID)
		if at == 0 {
			continue
		}
		n := &e.names.entries[at]
		if n.list == nil || !n.list.Equal(cmd.List) {
			for j := range cmd.List.Orders {
				e.reject(&bourse.Command{Account: cmd.Account, NewOrder: cmd.List.Orders[j]}, bourse.DuplicateClientID, ev)
			}
			return true
		}
		first := n.outcome
		if first.Reason == 0 {
			first.ID -= uint64(i) // from the order's id to that of its list
		}
		ev.Repeat(first)
		return true
	}
	return false
}

// cancelList cancels the open orders of a list at its owner's request.
func (e *Engine) cancelList(cmd *bourse.Command, ev *bourse.Events) {
	for id := cmd.Order; id < cmd.Order+bourse.MaxListed; id++ {
		s := e.arena.Find(id)
		if s == 0 {
			continue
		}
		o := e.arena.At(s)
		if o.Account != cmd.Account || !o.Listed || e.arena.Leg(s).List != cmd.Order {
			continue
		}

		m := e.markets[o.Market]
		if m.State == bourse.MarketHalted {
			ev.Refuse(bourse.MarketHaltedNow)
			return
		}
		ev.Outcome = bourse.Outcome{ID: uint64(cmd.Order), Status: bourse.Canceled, Filled: o.Filled}
		e.end(m, s, o, bourse.Canceled, ev)
		return
	}
	ev.Refuse(bourse.ListNotFound)
}

// win kills the other order of a pair. It is called before an order of a list trades or is
// triggered, and has no effect once one of the two has won.
//
//go:noinline
func (e *Engine) win(m *market, s book.Slot, o *book.Order, ev *bourse.Events) {
	if other := e.other(s, o); other != 0 {
		e.remove(m, other, e.arena.At(other), bourse.Killed, ev)
	}
}

// needed returns the hold of an open order, or that of its pair.
func (e *Engine) needed(m *market, s book.Slot, o *book.Order) bourse.Amount {
	own := e.reserve(m, s, o)
	other := e.other(s, o)
	if other == 0 {
		return own
	}
	return larger(own, e.reserve(m, other, e.arena.At(other)))
}

// freed returns the amount that the end of an open order releases: its reserve, or the part of
// its pair's hold that the other order does not need.
func (e *Engine) freed(m *market, s book.Slot, o *book.Order) bourse.Amount {
	held := e.reserve(m, s, o)
	other := e.other(s, o)
	if other == 0 {
		return held
	}
	needed := e.reserve(m, other, e.arena.At(other))
	return larger(held, needed).Minus(needed)
}

// checkPair checks an order that has a pair, and returns the hold that its list adds: that of
// the pair for the first order, and nothing for the second.
func (e *Engine) checkPair(m *market, s book.Slot, o *book.Order) (bourse.Amount, error) {
	leg := e.arena.Leg(s)
	other := e.arena.At(leg.Other)
	back := e.arena.Leg(leg.Other)
	first := o.ID == leg.List
	switch {
	case e.arena.Find(other.ID) != leg.Other || !other.Listed || back.Other != s || back.List != leg.List,
		!first && (o.ID != leg.List+1 || other.ID != leg.List),
		first && other.ID != leg.List+1:
		return bourse.Amount{}, fmt.Errorf("order %d is paired with %d in list %d", o.ID, other.ID, leg.List)
	case o.Account != other.Account || o.Market != other.Market || o.Side != other.Side,
		!o.Type.HasStop() && !other.Type.HasStop():
		return bourse.Amount{}, fmt.Errorf("orders %d and %d cannot be a list", o.ID, other.ID)
	case o.Triggered || o.Filled != 0:
		return bourse.Amount{}, fmt.Errorf("order %d has won, and %d is open", o.ID, other.ID)
	case !first:
		return bourse.Amount{}, nil
	}
	return larger(e.reserve(m, s, o), e.reserve(m, leg.Other, other)), nil
}

// other returns the other order of a pair, or zero.
func (e *Engine) other(s book.Slot, o *book.Order) book.Slot {
	if !o.Listed {
		return 0
	}
	return e.arena.Leg(s).Other
}

// part ends the pair of an order, if it has one, and returns the other order.
func (e *Engine) part(s book.Slot, o *book.Order) book.Slot {
	other := e.other(s, o)
	if other != 0 {
		e.arena.Leg(s).Other, e.arena.Leg(other).Other = 0, 0
	}
	return other
}
