package live

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/history"
)

// sibling returns the id of the other order of an order's list.
func sibling(o *bourse.Order) bourse.OrderID { return 2*o.List + 1 - o.ID }

// lost reports whether an order was killed because of the other order of its list: that one
// acted, or ended and took along this one, which still waited for its stop.
func (p *Publisher) lost(ev *bourse.Events, o *bourse.Order) bool {
	switch {
	case o.List == 0 || o.Filled != 0 || o.Triggered:
		return false
	case o.Waiting():
		return true
	}
	if at, left := p.users.indexOf(p.seq, ev.Orders, sibling(o)); left {
		other := &ev.Orders[at]
		return other.Status == bourse.Open || other.Filled != 0 || other.Triggered
	}
	return p.view.Open(o.Account, sibling(o)) != nil
}

// lists stages the lists that a command accepted, and those of which it ended the last open
// order.
func (p *Publisher) lists(ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderAccepted:
			if o := &ev.Orders[e.At]; o.List == o.ID && p.feed.Wanted(user(o.Account)) {
				p.list(ev, o, "EXEC_STARTED", "EXECUTING")
			}
		case bourse.EventOrderClosed:
			o := &ev.Orders[e.At]
			if o.List != 0 && p.feed.Wanted(user(o.Account)) && p.endsList(ev, int(e.At)) {
				p.list(ev, o, "ALL_DONE", "ALL_DONE")
			}
		default: // not for lists
		}
	}
}

// endsList reports whether an order of a list that a command announced as closed is the last
// one of its list.
func (p *Publisher) endsList(ev *bourse.Events, at int) bool {
	o := &ev.Orders[at]
	later, left := p.users.indexOf(p.seq, ev.Orders, sibling(o))
	if left && later > at && ev.Orders[later].Status != bourse.Open {
		return false
	}
	return p.view.Open(o.Account, sibling(o)) == nil
}

// listStatus is a report on a list.
type listStatus struct {
	kind, order string
	account     bourse.AccountID
	orders      [bourse.MaxListed]bourse.Order
}

// list stages the status of an order's list, whose account has a subscriber. An order that the
// command did not announce is in the history.
func (p *Publisher) list(ev *bourse.Events, of *bourse.Order, kind, order string) {
	topic := user(of.Account)
	told := listStatus{kind: kind, order: order, account: of.Account}
	missing := false
	for i := range told.orders {
		id := of.List + bourse.OrderID(i)
		if at, left := p.users.indexOf(p.seq, ev.Orders, id); left {
			told.orders[i] = ev.Orders[at]
		} else {
			missing = true
			told.orders[i].ID = id
		}
	}

	s := &subject{p.catalogue, p.catalogue.Markets[of.Market], p.symbol(of.Market)}
	now, id := p.now, of.List
	if !missing {
		p.feed.StageLater(topic, p.seq, func() []byte { return told.message(s, id, now) })
		return
	}
	reader := p.users.history
	p.feed.StageSlow(topic, p.seq, func() []byte {
		if !told.learn(reader) {
			return nil
		}
		return told.message(s, id, now)
	})
}

// learn reads the orders of the list from the history.
func (l *listStatus) learn(reader *history.Reader) bool {
	ctx, cancel := context.WithTimeout(context.Background(), historyWithin)
	defer cancel()
	for i := range l.orders {
		o, found, err := reader.Order(ctx, l.account, l.orders[i].ID)
		if err != nil || !found {
			return false
		}
		l.orders[i] = o.Order.Order
	}
	return true
}

// message returns the report's message.
func (l *listStatus) message(s *subject, id bourse.OrderID, now bourse.Time) []byte {
	const usual = 384 // bytes
	w := message(usual)
	w.Object()
	w.Word("e", "listStatus")
	w.Int("E", millis(now))
	w.Word("s", s.symbol)
	w.Uint("g", uint64(id))
	w.Word("c", bourse.OCO.String()) // the only type
	w.Word("l", l.kind)
	w.Word("L", l.order)
	w.Word("r", "NONE")
	w.Word("C", binance.NameOfList(id))
	w.Int("T", millis(now))
	w.Name("O")
	w.Array()
	for i := range l.orders {
		w.Object()
		w.Word("s", s.symbol)
		w.Uint("i", uint64(l.orders[i].ID))
		w.Word("c", binance.NameOf(&l.orders[i]))
		w.EndObject()
	}
	w.EndArray()
	return done(w)
}
