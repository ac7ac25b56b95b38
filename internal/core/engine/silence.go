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
	// fired is the connection of the switches that fired, whether by time or by a close.
	fired bourse.ConnectionID = math.MaxUint64
)

// deadmen is the set of armed dead man's switches.
type deadmen struct {
	byKey map[deadmanKey]*deadman
	// timed has the switches that expire by time and the fired ones, in the order of expiry.
	timed expiring[*deadman]
	// open has the switches of connections, the oldest connection first.
	open expiring[*deadman]
	// lastConnection is the newest allotted id. All connections up to closed are closed;
	// their switches are due.
	lastConnection, closed bourse.ConnectionID
}

// deadman is an armed dead man's switch, which fires when it expires, or one that fired,
// which stays until it has canceled the orders that it covers.
type deadman struct {
	deadmanKey
	// expires is in the past, or the time of the next try, for one that fired.
	expires bourse.Time
	// upTo is the newest order that the switch covers once it has fired; zero before.
	upTo bourse.OrderID
	// at is the index in its heap.
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
	return cmp.Or(cmp.Compare(d.expires, other.expires), cmp.Compare(d.connection, other.connection),
		d.compare(other.deadmanKey)) < 0
}

func (d *deadman) moved(to int) { d.at = to }

// next returns the switch to fire next, or nil if none is due.
func (s *deadmen) next(now bourse.Time) *deadman {
	switch {
	case len(s.timed) > 0 && s.timed[0].expires <= now:
		return s.timed[0]
	case len(s.open) > 0 && s.open[0].connection <= s.closed:
		return s.open[0]
	default:
		return nil
	}
}

// heapOf returns the heap that has a switch.
func (s *deadmen) heapOf(d *deadman) *expiring[*deadman] {
	if d.expires == whenClosed {
		return &s.open
	}
	return &s.timed
}

func (s *deadmen) add(d *deadman) {
	s.byKey[d.deadmanKey] = d
	heap.Push(s.heapOf(d), d)
}

func (s *deadmen) remove(d *deadman) {
	delete(s.byKey, d.deadmanKey)
	heap.Remove(s.heapOf(d), d.at)
}

// expire changes the expiry of a timed switch.
func (s *deadmen) expire(d *deadman, at bourse.Time) {
	d.expires = at
	heap.Fix(&s.timed, d.at)
}

// cancelAfter arms the switch of an account's market, or of all its markets, in place of
// the armed one, or disarms it. A switch that expired and has not fired yet is replaced
// as well: its client is there. A fired switch cancels its orders in any case.
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
		e.deadmen.add(&deadman{deadmanKey: key, expires: e.now + cmd.Hold})
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
	key := deadmanKey{account: cmd.Account, connection: e.deadmen.lastConnection}
	e.deadmen.add(&deadman{deadmanKey: key, expires: whenClosed})
	ev.Outcome.ID = uint64(e.deadmen.lastConnection)
}

// connectionClosed fires the switch of one connection, or of all connections up to an id. A
// Continue fires the switches beyond the step budget.
func (e *Engine) connectionClosed(cmd *bourse.Command, ev *bourse.Events) {
	s := &e.deadmen
	if cmd.Account == 0 {
		s.closed = max(s.closed, min(cmd.Connection, s.lastConnection))
		e.fireDue(ev)
		return
	}

	d := s.byKey[deadmanKey{account: cmd.Account, connection: cmd.Connection}]
	if d == nil || d.expires != whenClosed || d.connection <= s.closed {
		ev.Refuse(bourse.UnknownConnection)
		return
	}
	if len(e.covered(&partialCancel{account: d.account})) == 0 {
		e.drop(d)
	} else {
		e.trip(d)
	}
	e.fireDue(ev)
}

// fireDue fires the due switches, within the step budget.
func (e *Engine) fireDue(ev *bourse.Events) {
	for e.steps > 0 {
		d := e.deadmen.next(e.now)
		if d == nil {
			return
		}
		e.visit()
		e.fire(d, ev)
	}
}

// fire cancels the orders that a switch covers. It stays due if steps run out. Orders in
// halted markets cannot be canceled: while there are some, it tries again later.
func (e *Engine) fire(d *deadman, ev *bourse.Events) {
	p := partialCancel{account: d.account, market: d.market}
	if len(e.covered(&p)) == 0 {
		e.drop(d)
		return
	}

	d = e.trip(d)
	p.upTo = d.upTo
	switch {
	case !e.cancelSome(&p, ev):
	case e.halts(&p):
		e.deadmen.expire(d, e.now+haltedRetry)
	default:
		e.drop(d)
	}
}

// drop removes a switch.
func (e *Engine) drop(d *deadman) {
	e.deadmen.remove(d)
	if d.expires == whenClosed {
		e.account(d.account).connections--
	}
}

// trip turns an armed switch into a fired one, and returns it. An earlier fired switch of the
// same markets takes its place, and covers the newer orders as well from then on.
func (e *Engine) trip(d *deadman) *deadman {
	if d.connection == fired {
		return d
	}

	e.drop(d)
	d.connection, d.expires = fired, min(d.expires, e.now)
	if was := e.deadmen.byKey[d.deadmanKey]; was != nil {
		e.deadmen.expire(was, min(was.expires, d.expires))
		d = was
	} else {
		e.deadmen.add(d)
	}
	d.upTo = e.lastOrder
	return d
}

// halts reports whether a halted market has orders that p covers.
func (e *Engine) halts(p *partialCancel) bool {
	for _, id := range e.covered(p) {
		m := e.markets[id]
		if m.State == bourse.MarketHalted && e.arena.At(m.book.Oldest(p.account)).ID <= p.upTo {
			return true
		}
	}
	return false
}

// Armed reports whether there are switches.
func (e *Engine) Armed() bool { return len(e.deadmen.byKey) > 0 }

// Connections returns the newest connection, or zero if the close of none would cancel
// orders.
func (e *Engine) Connections() bourse.ConnectionID {
	if len(e.deadmen.open) == 0 {
		return 0
	}
	return e.deadmen.lastConnection
}

// Firing reports whether a switch is due.
func (e *Engine) Firing() bool { return e.deadmen.next(e.now) != nil }

// HasOrders reports whether an account has open orders.
func (e *Engine) HasOrders(account bourse.AccountID) bool {
	acct := e.account(account)
	return acct != nil && len(acct.markets) > 0
}
