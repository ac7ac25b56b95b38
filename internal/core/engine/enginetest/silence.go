package enginetest

import (
	"cmp"
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
)

const (
	mostConnections = 50
	// haltedRetry is the interval of tries to cancel orders in halted markets.
	haltedRetry = bourse.Minute
	// fired is the connection of switches that fired.
	fired bourse.ConnectionID = math.MaxUint64
)

// deadmen are the armed dead man's switches, in any order.
type deadmen struct {
	armed []deadman
	// Connections up to closed are closed.
	lastConnection, closed bourse.ConnectionID
}

// deadman is an armed switch.
type deadman struct {
	account    bourse.AccountID
	market     bourse.MarketID
	connection bourse.ConnectionID
	// open is true for the switch of an open connection, which does not expire.
	open    bool
	expires bourse.Time
	// upTo is the newest order that a switch covers once it has fired.
	upTo bourse.OrderID
}

func (d *deadmen) disarm(account bourse.AccountID, market bourse.MarketID, connection bourse.ConnectionID) {
	d.armed = slices.DeleteFunc(d.armed, func(a deadman) bool {
		return a.account == account && a.market == market && a.connection == connection
	})
}

func (x *Oracle) cancelAfter(cmd *bourse.Command) {
	if x.accountOrRefuse(cmd.Account) == nil || cmd.MarketID != 0 && x.marketOrRefuse(cmd.MarketID) == nil {
		return
	}
	x.disarm(cmd.Account, cmd.MarketID, 0)
	if cmd.Hold > 0 {
		x.armed = append(x.armed, deadman{account: cmd.Account, market: cmd.MarketID, expires: x.now + cmd.Hold})
	}
}

func (x *Oracle) cancelOnClose(cmd *bourse.Command) {
	if x.accountOrRefuse(cmd.Account) == nil {
		return
	}
	n := 0
	for _, a := range x.armed {
		if a.account == cmd.Account && a.connection != 0 && a.connection != fired {
			n++
		}
	}
	if n >= mostConnections {
		x.ev.Refuse(bourse.TooMany)
		return
	}
	x.lastConnection++
	x.armed = append(x.armed, deadman{account: cmd.Account, connection: x.lastConnection, open: true})
	x.ev.Outcome.ID = uint64(x.lastConnection)
}

func (x *Oracle) connectionClosed(cmd *bourse.Command) {
	if cmd.Account == 0 {
		x.closed = max(x.closed, min(cmd.Connection, x.lastConnection))
		x.fireDue()
		return
	}
	at := slices.IndexFunc(x.armed, func(a deadman) bool {
		return a.open && a.account == cmd.Account && a.connection == cmd.Connection && a.connection > x.closed
	})
	if at < 0 {
		x.ev.Refuse(bourse.UnknownConnection)
		return
	}
	if a := x.armed[at]; x.openOf(a.account, 0) == 0 { // an earlier one that fired keeps its time
		x.disarm(a.account, a.market, a.connection)
	} else {
		x.trip(a)
	}
	x.fireDue()
}

// nextDue returns the index of the switch that fires next, or -1. Expired switches come first,
// then the switches of closed connections.
func (x *Oracle) nextDue() int {
	next := -1
	for i, a := range x.armed {
		if a.open && a.connection > x.closed || !a.open && a.expires > x.now {
			continue
		}
		if next < 0 || compareDeadmen(a, x.armed[next]) < 0 {
			next = i
		}
	}
	return next
}

func compareDeadmen(a, b deadman) int {
	switch {
	case a.open && b.open:
		return cmp.Compare(a.connection, b.connection)
	case b.open:
		return -1
	case a.open:
		return 1
	}
	return cmp.Or(cmp.Compare(a.expires, b.expires), cmp.Compare(a.connection, b.connection),
		cmp.Compare(a.account, b.account), cmp.Compare(a.market, b.market))
}

func (x *Oracle) fireDue() {
	for x.steps > 0 && x.nextDue() >= 0 {
		x.visit()
		x.fire(x.armed[x.nextDue()])
	}
}

// fire cancels the orders that a switch covers. The switch stays until all are canceled.
func (x *Oracle) fire(a deadman) {
	if x.openOf(a.account, a.market) == 0 {
		x.disarm(a.account, a.market, a.connection)
		return
	}
	if a.connection != fired {
		a = x.trip(a)
	}
	if !x.cancelSome(partialCancel{a.account, a.market, a.upTo}) {
		return
	}

	x.disarm(a.account, a.market, fired)
	for _, m := range x.markets {
		halted := m.State == bourse.MarketHalted && (a.market == 0 || a.market == m.ID)
		if halted && slices.ContainsFunc(m.open, func(o *order) bool { return o.Account == a.account && o.ID <= a.upTo }) {
			a.expires = x.now + haltedRetry
			x.armed = append(x.armed, a)
			return
		}
	}
}

// openOf returns the number of an account's open orders in a market; zero for all markets.
func (x *Oracle) openOf(account bourse.AccountID, id bourse.MarketID) (n int) {
	for _, m := range x.markets {
		if id == 0 || id == m.ID {
			n += m.openOf(account)
		}
	}
	return n
}

// trip makes an armed switch one that fired, in place of an earlier one.
func (x *Oracle) trip(a deadman) deadman {
	x.disarm(a.account, a.market, a.connection)
	if a.open {
		a.open, a.expires = false, x.now
	}
	for _, was := range x.armed {
		if was.account == a.account && was.market == a.market && was.connection == fired {
			a.expires = min(a.expires, was.expires)
		}
	}
	x.disarm(a.account, a.market, fired)
	a.connection, a.upTo = fired, x.lastOrder
	x.armed = append(x.armed, a)
	return a
}
