package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// readOrders opens the orders, by id; resting and queued ones are placed when their queue
// is read.
func (x *restorer) readOrders() {
	codec.Uint64(x.c, &x.lastOrder)
	x.c.Want(x.lastOrder <= MaxNumber)
	last := bourse.OrderID(0)
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		s, o := x.arena.New()
		var more extra
		codeOrder(x.c, o, &more)
		if !x.c.Want(o.ID > last && o.ID <= x.lastOrder && x.arena.Reaches(o.ID)) || !x.fits(o, &more) {
			return
		}
		last = o.ID
		if o.Type.HasStop() {
			*x.arena.Stop(s) = more.stop
		}
		if o.Listed {
			*x.arena.Leg(s) = book.Leg{List: more.list}
			x.c.Want(o.ID >= more.list && o.ID < more.list+bourse.MaxListed)
		}
		if o.Changed.Has(book.Prevented) {
			x.arena.SetPrevented(s, more.prevented)
		}
		m := x.market(o.Market)
		b := m.book

		own := b.List(o.Account)
		x.list(m, s, o, own)
		x.c.Want(own.Open <= MaxOpenOrders)
		where := o.State

		o.State = book.Taking
		if where == book.Waiting {
			b.Wait(&x.arena, s, o)
			where = book.Taking
		}
		x.note(s, where)
	}
}

// readPairs pairs the orders of the lists of which neither has won. Check compares them.
func (x *restorer) readPairs() {
	last := bourse.OrderID(0)
	for {
		var id bourse.OrderID
		if codec.Uint64(x.c, &id); id == 0 {
			return
		}
		first, second := x.arena.Find(id), x.arena.Find(id+1)
		if !x.c.Want(id > last && first != 0 && second != 0) {
			return
		}
		last = id

		x.c.Want(x.listOf(first, x.arena.At(first)) == id && x.listOf(second, x.arena.At(second)) == id)
		x.arena.Leg(first).Other, x.arena.Leg(second).Other = second, first
	}
}

// note records the state of an order that a queue must list; Taking for none.
func (x *restorer) note(s book.Slot, where book.State) {
	for int(s) >= len(x.unplaced) {
		x.unplaced = append(x.unplaced, book.Taking)
	}
	x.unplaced[s] = where
}

// fits wants an order that could have been placed and could have reached its state.
func (x *restorer) fits(o *book.Order, more *extra) bool {
	m, acct, stop := x.market(o.Market), x.account(o.Account), &more.stop
	asked := bourse.NewOrder{
		Market: o.Market, Side: o.Side, Type: o.Type, TIF: o.TIF, SelfTrade: o.SelfTrade,
		PostOnly: o.PostOnly, Price: o.Price, Stop: stop.Price, Lots: o.Lots, Total: stop.Total,
	}
	if needsCap(&asked) && x.c.Want(o.Price > 0 && o.Price <= bourse.MaxPrice) {
		asked.Price = 0 // the cap, which is not asked for
	}
	if !x.c.Want(m != nil && acct != nil && asked.Valid()) {
		return false
	}

	stops := o.Type.HasStop()
	there := false
	switch o.State {
	case book.Resting:
		there = o.TIF == bourse.GTC && o.Triggered == stops && o.Filled < o.Lots && o.Type.HasPrice()
	case book.Waiting, book.Queued:
		there = stops && !o.Triggered && o.Filled == 0
	case book.Taking:
	}

	_, total := m.Total(o.Price, o.Lots)
	_, base := m.BaseAmount(o.Lots)
	return x.c.Want(there && total && base && o.Type != bourse.MarketOrder && o.SelfTrade != 0 && keptPart(o, more) &&
		o.Ordinal > 0 && o.Ordinal <= acct.orders &&
		o.Time >= 0 && o.Time <= x.now)
}

// keptPart reports whether self-trade prevention could have left this part of an order. Only an
// order in the book has lost a part and is open.
func keptPart(o *book.Order, more *extra) bool {
	if o.Changed > book.AllChanges {
		return false
	}
	if !o.Changed.Has(book.Prevented) {
		return true
	}
	return o.State == book.Resting && more.prevented > 0 && more.prevented <= bourse.MaxLots-o.Lots
}

// readQueues places the resting and queued orders in their queues.
func (x *restorer) readQueues() {
	for _, m := range x.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			x.readQueue(m, book.Resting, side)
		}
		x.readQueue(m, book.Queued, 0)
	}
	for _, where := range x.unplaced {
		x.c.Want(where == book.Taking)
	}
}

func (x *restorer) readQueue(m *market, where book.State, side bourse.Side) {
	for {
		var id bourse.OrderID
		if codec.Uint64(x.c, &id); id == 0 {
			return
		}

		s := x.arena.Find(id)
		if !x.c.Want(s != 0 && x.unplaced[s] == where) {
			return
		}
		x.unplaced[s] = book.Taking

		o := x.arena.At(s)
		if !x.c.Want(o.Market == m.ID && (side == 0 || o.Side == side)) {
			return
		}

		switch {
		case where == book.Queued:
			m.book.Queue(&x.arena, s)
		case x.c.Want(m.book.Side(side).Room(o.Price, o.Left())):
			m.book.Rest(&x.arena, s, o)
		}
	}
}

func (x *restorer) readPartials() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		var p partialCancel
		p.code(x.c)
		x.c.Want(x.account(p.account) != nil && (p.market == 0 || x.market(p.market) != nil) && p.upTo <= x.lastOrder)
		x.partials = append(x.partials, p)
	}
}

func (x *restorer) readDeadmen() {
	s := &x.deadmen
	codec.Uint64(x.c, &s.lastConnection)
	codec.Uint64(x.c, &s.closed)
	x.c.Want(s.closed <= s.lastConnection)
	last := deadmanKey{}
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		d := new(deadman)
		d.code(x.c)
		if !x.c.Want(last.compare(d.deadmanKey) < 0 && x.armed(d)) {
			return
		}
		last = d.deadmanKey
		s.add(d)
	}
}

// armed reports whether a switch could have been armed and could have reached its state,
// and counts it with its account.
func (x *restorer) armed(d *deadman) bool {
	acct := x.account(d.account)
	if acct == nil || d.expires < 0 || d.upTo > x.lastOrder || (d.upTo != 0) != (d.connection == fired) {
		return false
	}

	known := d.market == 0 || x.market(d.market) != nil
	switch d.connection {
	case 0:
		return known && d.expires <= x.now+bourse.MaxCancelAfter
	case fired:
		return known && d.expires <= x.now+haltedRetry
	}

	acct.connections++
	return acct.connections <= bourse.MaxConnections && d.connection <= x.deadmen.lastConnection &&
		d.market == 0 && d.expires == whenClosed
}

func (x *restorer) readNames() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		at := x.readName()
		if at == 0 {
			return
		}
		entry := &x.names.entries[at]
		id := bourse.OrderID(entry.outcome.ID)
		s := x.arena.Find(id)
		if !x.c.Want(s != 0 && x.names.byOrder[id] == 0) {
			return
		}
		o := x.arena.At(s)
		x.c.Want(o.Named && o.Account == entry.account)
		x.names.byOrder[id] = at
	}

	last := bourse.Time(0)
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		at := x.readName()
		var ended bourse.Time
		codec.Uint64(x.c, &ended)
		if at == 0 || !x.c.Want(ended >= last && ended <= x.now) {
			return
		}
		last = ended

		x.names.append(x.Engine, at, ended)
		entry := &x.names.entries[at]
		x.c.Want(!entry.full(x.listedNames(entry)))
	}
}

// readName reads a client id's entry, or fails and returns zero.
func (x *restorer) readName() uint32 {
	var n name
	n.code(x.c)
	p := &n.place
	x.c.Want(max(n.outcome.Status, n.outcome.Second.Status) <= bourse.Killed && n.outcome.ID <= uint64(x.lastOrder))
	x.c.Want(n.replaces || n.replaced == 0 && n.outcome.Cancel == 0)
	if n.list != nil {
		x.c.Want(!n.replaces && n.list.Valid() && slices.Contains(n.list.Orders, *p))
	}
	if !x.c.Want(p.Valid() && !p.ClientID.IsZero() && x.account(n.account) != nil && x.market(p.Market) != nil) ||
		!x.c.Want(x.names.byID[nameKey{n.account, p.ClientID}] == 0) {
		return 0
	}
	asked := bourse.Command{Kind: bourse.CommandPlace, Account: n.account, NewOrder: *p}
	if n.replaces {
		asked.Kind, asked.Order = bourse.CommandReplace, n.replaced
	}
	at := x.names.take(&asked)
	x.names.entries[at].outcome, x.names.entries[at].list = n.outcome, n.list
	return at
}

func (x *restorer) announceOrders() {
	for s := range x.arena.All {
		o := x.arena.At(s)
		if !x.c.Want(!o.Named || x.names.byOrder[o.ID] != 0) {
			return
		}
		x.announce(bourse.EventOrderRestored, s, o, bourse.Open, &x.ev)
		x.flushIfFull()
	}
}

// announceRejections announces the rejections whose client ids are kept, oldest first.
func (x *restorer) announceRejections() {
	for at := x.names.oldest; at != 0; at = x.names.entries[at].newer {
		n := &x.names.entries[at]
		if n.outcome.Reason != 0 {
			x.ev.AddRejection(&bourse.Order{Account: n.account, NewOrder: n.place, Time: n.ended}, n.outcome.Reason)
			x.flushIfFull()
		}
	}
}

func (x *restorer) announceLevels() {
	for _, m := range x.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			for price, level := range m.book.Side(side).Levels {
				l := x.ev.AddLevel(bourse.EventLevelRestored)
				l.Market, l.Side, l.Price, l.Lots, l.Seq = m.ID, side, price, level.Total, m.levelSeq
				x.flushIfFull()
			}
		}
	}
}
