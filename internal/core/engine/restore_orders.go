package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// readOrders opens the orders, by id; resting and queued ones wait for their
// queue to be read.
func (x *restorer) readOrders() {
	x.lastOrder = bourse.OrderID(x.r.Uint64())
	x.want(x.lastOrder <= MaxNumber)
	last := bourse.OrderID(0)
	for n := x.r.Count(66); n > 0 && x.r.Err() == nil; n-- {
		s, o := x.arena.New()
		stop := x.readOrder(o)
		if !x.want(o.ID > last && o.ID <= x.lastOrder && x.arena.Reaches(o.ID)) || !x.fits(o, stop) {
			return
		}
		last = o.ID
		*x.arena.Stop(s) = stop
		b := x.market(o.Market).book
		list := b.List(o.Account)
		b.Open(&x.arena, s, o, list)
		x.want(list.Open <= MaxOpenOrders)
		where := o.State
		o.State = book.Taking
		if where == book.Waiting {
			b.Wait(&x.arena, s, o)
			where = book.Taking
		}
		x.note(s, where)
	}
}

// note remembers where an order belongs; Taking is nowhere else.
func (x *restorer) note(s book.Slot, where book.State) {
	for int(s) >= len(x.unplaced) {
		x.unplaced = append(x.unplaced, book.Taking)
	}
	x.unplaced[s] = where
}

// readOrder returns the order's stop.
func (x *restorer) readOrder(o *book.Order) bourse.Price {
	o.ID, o.Account, o.Market = bourse.OrderID(x.r.Uint64()), bourse.AccountID(x.r.Uint32()), bourse.MarketID(x.r.Uint16())
	o.Side, o.State = bourse.Side(x.r.Uint8()), book.State(x.r.Uint8())
	o.Type, o.TIF = bourse.OrderType(x.r.Uint8()), bourse.TimeInForce(x.r.Uint8())
	o.SelfTrade = bourse.SelfTradeMode(x.r.Uint8())
	o.PostOnly, o.Triggered, o.Named = x.r.Bool(), x.r.Bool(), x.r.Bool()
	o.Price = bourse.Price(x.r.Uint64())
	stop := bourse.Price(x.r.Uint64())
	o.Lots, o.Filled = bourse.Lots(x.r.Uint64()), bourse.Lots(x.r.Uint64())
	o.Time, o.Ordinal = bourse.Time(x.r.Uint64()), x.r.Uint64()
	return stop
}

// fits wants an order to be one that could have been placed and could have come
// to where it says it is.
func (x *restorer) fits(o *book.Order, stop bourse.Price) bool {
	m, acct := x.market(o.Market), x.account(o.Account)
	if !x.want(m != nil && acct != nil) || !x.sound(bourse.Command{
		Kind: bourse.CommandPlace, Account: o.Account, Place: bourse.Place{
			Market: o.Market, Side: o.Side, Type: o.Type, TIF: o.TIF, SelfTrade: o.SelfTrade,
			PostOnly: o.PostOnly, Price: o.Price, Stop: stop, Lots: o.Lots,
		},
	}) {
		return false
	}
	stops := o.Type == bourse.StopLimit
	there := false
	switch o.State {
	case book.Resting:
		there = o.TIF == bourse.GTC && o.Triggered == stops && o.Filled < o.Lots
	case book.Waiting, book.Queued:
		there = stops && !o.Triggered && o.Filled == 0
	case book.Taking:
	}
	_, total := m.Total(o.Price, o.Lots)
	_, base := m.BaseAmount(o.Lots)
	return x.want(there && total && base && o.Type != bourse.MarketOrder && o.SelfTrade != 0 &&
		o.Ordinal > 0 && o.Ordinal <= acct.orders &&
		o.Time >= 0 && o.Time <= x.now)
}

// readQueues puts the resting and queued orders where they were.
func (x *restorer) readQueues() {
	for _, m := range x.markets[1:] {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			x.readQueue(m, book.Resting, side)
		}
		x.readQueue(m, book.Queued, 0)
	}
	for _, where := range x.unplaced {
		x.want(where == book.Taking)
	}
}

func (x *restorer) readQueue(m *market, where book.State, side bourse.Side) {
	for id := x.r.Uint64(); id != 0; id = x.r.Uint64() {
		s := x.arena.Find(bourse.OrderID(id))
		if !x.want(s != 0 && x.unplaced[s] == where) {
			return
		}
		x.unplaced[s] = book.Taking
		o := x.arena.At(s)
		if !x.want(o.Market == m.ID && (side == 0 || o.Side == side)) {
			return
		}
		switch {
		case where == book.Queued:
			m.book.Queue(&x.arena, s)
		case x.want(m.book.Side(side).Room(o.Price, o.Left())):
			m.book.Rest(&x.arena, s, o)
		}
	}
}

func (x *restorer) readSweeps() {
	for n := x.r.Count(14); n > 0 && x.r.Err() == nil; n-- {
		w := sweep{
			account: bourse.AccountID(x.r.Uint32()), market: bourse.MarketID(x.r.Uint16()),
			upTo: bourse.OrderID(x.r.Uint64()),
		}
		x.want(x.account(w.account) != nil && (w.market == 0 || x.market(w.market) != nil) && w.upTo <= x.lastOrder)
		x.sweeps = append(x.sweeps, w)
	}
}

func (x *restorer) readNames() {
	for n := x.r.Count(101); n > 0 && x.r.Err() == nil; n-- {
		at := x.readName()
		if at == 0 {
			return
		}
		entry := &x.names.entries[at]
		id := bourse.OrderID(entry.outcome.ID)
		s := x.arena.Find(id)
		if !x.want(s != 0 && x.names.byOrder[id] == 0) {
			return
		}
		o := x.arena.At(s)
		x.want(o.Named && o.Account == entry.account)
		x.names.byOrder[id] = at
	}
	last := bourse.Time(0)
	for n := x.r.Count(109); n > 0 && x.r.Err() == nil; n-- {
		at := x.readName()
		ended := bourse.Time(x.r.Uint64())
		if at == 0 || !x.want(ended >= last && ended <= x.now) {
			return
		}
		last = ended
		x.names.append(x.Engine, at, ended)
		entry := &x.names.entries[at]
		x.want(!entry.full(x.listedNames(entry)))
	}
}

// readName reads an entry that stands for a client id, or fails and returns
// zero.
func (x *restorer) readName() uint32 {
	cmd := bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(x.r.Uint32())}
	p := &cmd.Place
	p.Market, p.Side = bourse.MarketID(x.r.Uint16()), bourse.Side(x.r.Uint8())
	p.Type, p.TIF = bourse.OrderType(x.r.Uint8()), bourse.TimeInForce(x.r.Uint8())
	p.SelfTrade, p.PostOnly = bourse.SelfTradeMode(x.r.Uint8()), x.r.Bool()
	p.Price, p.Stop = bourse.Price(x.r.Uint64()), bourse.Price(x.r.Uint64())
	p.Lots, p.Total = bourse.Lots(x.r.Uint64()), x.r.Amount()
	x.r.Bytes(p.ClientID[:])
	outcome := bourse.Outcome{
		Reason: bourse.Reason(x.r.Uint8()), Status: bourse.OrderStatus(x.r.Uint8()),
		ID: x.r.Uint64(), Filled: bourse.Lots(x.r.Uint64()),
	}
	x.want(outcome.Status <= bourse.Killed && outcome.ID <= uint64(x.lastOrder))
	if !x.sound(cmd) || !x.want(p.ClientID.Given() && x.account(cmd.Account) != nil && x.market(p.Market) != nil) ||
		!x.want(x.names.byID[nameKey{cmd.Account, p.ClientID}] == 0) {
		return 0
	}
	at := x.names.take(&cmd)
	x.names.entries[at].outcome = outcome
	return at
}

func (x *restorer) announceOrders() {
	for s := range x.arena.All {
		o := x.arena.At(s)
		if !x.want(!o.Named || x.names.byOrder[o.ID] != 0) {
			return
		}
		x.announce(bourse.EventOrderRestored, s, o, bourse.Open, &x.ev)
		x.flushIfFull()
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
