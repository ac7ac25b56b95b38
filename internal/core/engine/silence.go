package engine

import (
	"cmp"
	"container/heap"
	"math"

	"github.com/bourse-exchange/bourse"
)

const (
	// whenClosed is the expiry of an open connection's switch: it expires by its close.
	whenClosed bourse.Time = math.MaxInt64
	// haltedRetry is the interval at which a switch that fired tries the orders in halted
	// markets again.
	haltedRetry = bourse.Minute
	// closedConnections stands for an account's closed connections, together, while orders
	// that they cover are in halted markets.
	closedConnections bourse.ConnectionID = math.MaxUint64
)

// deadmen is the set of armed dead man's switches.
type deadmen struct {
	byKey map[deadmanKey]*deadman
	// heap has all switches, the first to expire first.
	heap expiring[*deadman]
	// lastConnection is the newest allotted id.
	lastConnection bourse.ConnectionID
}

// deadman is an armed dead man's switch: when it expires, it cancels its account's open
// orders.
type deadman struct {
	deadmanKey
	expires bourse.Time
	// upTo is the newest order that it covers: the newest one when it fired first, zero
	// before.
	upTo bourse.OrderID
	// at is the index in the heap.
	at int
}

// deadmanKey names a switch.
type deadmanKey struct {
	account bourse.AccountID
	// market is zero for all markets.
	market bourse.MarketID
	// connection is zero for a switch that expires by time.
	connection bourse.ConnectionID
}

func (k deadmanKey) compare(other deadmanKey) int {
	return cmp.Or(cmp.Compare(k.account, other.account), cmp.Compare(k.market, other.market),
		cmp.Compare(k.connection, other.connection))
}

func (d *deadman) before(other *deadman) bool {
	return cmp.Or(cmp.Compare(d.expires, other.expires), d.compare(other.deadmanKey)) < 0
}

func (d *deadman) moved(to int) { d.at = to }

// isConnection reports whether the switch is that of one connection.
func (k deadmanKey) isConnection() bool {
	return k.connection != 0 && k.connection != closedConnections
}

// due reports whether a switch has expired.
func (s *deadmen) due(now bourse.Time) bool { return len(s.heap) > 0 && s.heap[0].expires <= now }

// add adds a switch and returns it.
func (s *deadmen) add(key deadmanKey, expires bourse.Time) *deadman {
	d := &deadman{deadmanKey: key, expires: expires}
	s.byKey[key] = d
	heap.Push(&s.heap, d)
	return d
}

func (s *deadmen) remove(d *deadman) {
	delete(s.byKey, d.deadmanKey)
	heap.Remove(&s.heap, d.at)
}

// expire changes the expiry of a switch.
func (s *deadmen) expire(d *deadman, at bourse.Time) {
	d.expires = at
	heap.Fix(&s.heap, d.at)
}

// cancelAfter arms the switch of an account's market, or of all its markets, in place of
// the armed one, or disarms it. A switch that expired and has not fired yet is replaced
// as well: its client is there.
func (e *Engine) cancelAfter(cmd *bourse.Command, ev *bourse.Events) {
	switch {
	case e.account(cmd.Account) == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case cmd.MarketID != 0 && e.market(cmd.MarketID) == nil:
		ev.Refuse(bourse.UnknownMarket)
		return
	}

	key := deadmanKey{account: cmd.Account, market: cmd.MarketID}
	if d := e.deadmen.byKey[key]; d != nil {
		e.deadmen.remove(d)
	}
	if cmd.Hold != 0 {
		e.deadmen.add(key, e.now+cmd.Hold)
	}
}

// cancelOnClose allots the id of a connection whose close cancels its account's orders.
func (e *Engine) cancelOnClose(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case acct.connections >= bourse.MaxConnections:
		ev.Refuse(bourse.TooMany)
		return
	}

	acct.connections++
	e.deadmen.lastConnection++
	e.deadmen.add(deadmanKey{account: cmd.Account, connection: e.deadmen.lastConnection}, whenClosed)
	ev.Outcome.ID = uint64(e.deadmen.lastConnection)
}

// connectionClosed fires the switch of a connection, or those of all connections up to
// one. A Continue fires the switches beyond the step budget.
func (e *Engine) connectionClosed(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Account == 0 {
		e.closeUpTo(cmd.Connection)
		e.fireDue(ev)
		return
	}

	d := e.deadmen.byKey[deadmanKey{account: cmd.Account, connection: cmd.Connection}]
	if d == nil || d.expires != whenClosed {
		ev.Refuse(bourse.UnknownConnection)
		return
	}
	e.deadmen.expire(d, e.now)
	e.fireDue(ev)
}

// closeUpTo makes the switches of all open connections up to one due.
func (e *Engine) closeUpTo(last bourse.ConnectionID) {
	for _, d := range e.deadmen.heap {
		if d.expires == whenClosed && d.connection <= last {
			d.expires = e.now
		}
	}
	heap.Init(&e.deadmen.heap)
}

// fireDue fires the expired switches, the earliest first, within the step budget.
func (e *Engine) fireDue(ev *bourse.Events) {
	for e.steps > 0 && e.deadmen.due(e.now) {
		e.steps--
		e.fire(e.deadmen.heap[0], ev)
	}
}

// fire cancels the orders that a switch covers. Orders in halted markets cannot be
// canceled: while there are some, the switch is armed again and tries later.
func (e *Engine) fire(d *deadman, ev *bourse.Events) {
	if d.upTo == 0 {
		d.upTo = e.lastOrder
	}
	p := partialCancel{account: d.account, market: d.market, upTo: d.upTo}
	if !e.cancelSome(&p, ev) {
		e.keepPartial(p)
	}

	e.deadmen.remove(d)
	again := d.deadmanKey
	if d.isConnection() {
		e.account(d.account).connections--
		again.connection = closedConnections
	}
	if !e.halts(&p) {
		return
	}
	if older := e.deadmen.byKey[again]; older != nil {
		e.deadmen.remove(older)
	}
	e.deadmen.add(again, e.now+haltedRetry).upTo = p.upTo
}

// halts reports whether a halted market has orders that p covers.
func (e *Engine) halts(p *partialCancel) bool {
	for _, m := range e.markets[1:] {
		if p.market != 0 && p.market != m.ID || m.State != bourse.MarketHalted {
			continue
		}
		if s := m.book.Oldest(p.account); s != 0 && e.arena.At(s).ID <= p.upTo {
			return true
		}
	}
	return false
}

// Connections returns the newest open connection whose close cancels orders, or zero.
func (e *Engine) Connections() (newest bourse.ConnectionID) {
	for _, d := range e.deadmen.heap {
		if d.expires == whenClosed {
			newest = max(newest, d.connection)
		}
	}
	return newest
}

// HasOrders reports whether an account has open orders.
func (e *Engine) HasOrders(account bourse.AccountID) bool {
	for _, m := range e.markets[1:] {
		if m.book.Oldest(account) != 0 {
			return true
		}
	}
	return false
}
