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
	// everClosed stands for the closed connections of an account.
	everClosed bourse.ConnectionID = math.MaxUint64
)

// deadmen are the armed dead man's switches, in any order.
type deadmen struct {
	armed          []deadman
	lastConnection bourse.ConnectionID
}

// deadman is an armed switch.
type deadman struct {
	account    bourse.AccountID
	market     bourse.MarketID
	connection bourse.ConnectionID
	// open is true for the switch of an open connection, which does not expire.
	open    bool
	expires bourse.Time
	// upTo is the newest order that it covers, once it has fired.
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
		if a.account == cmd.Account && a.connection != 0 && a.connection != everClosed {
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
	found := false
	for i := range x.armed {
		a := &x.armed[i]
		own := a.account == cmd.Account && a.connection == cmd.Connection
		if a.open && (own || cmd.Account == 0 && a.connection <= cmd.Connection) {
			a.open, a.expires, found = false, x.now, true
		}
	}
	if !found && cmd.Account != 0 {
		x.ev.Refuse(bourse.UnknownConnection)
		return
	}
	x.fireDue()
}

// nextDue returns the index of the expired switch that fires next, or -1.
func (x *Oracle) nextDue() int {
	next := -1
	for i, a := range x.armed {
		if a.open || a.expires > x.now {
			continue
		}
		if next < 0 || compareDeadmen(a, x.armed[next]) < 0 {
			next = i
		}
	}
	return next
}

func compareDeadmen(a, b deadman) int {
	return cmp.Or(cmp.Compare(a.expires, b.expires), cmp.Compare(a.account, b.account),
		cmp.Compare(a.market, b.market), cmp.Compare(a.connection, b.connection))
}

func (x *Oracle) fireDue() {
	for x.steps > 0 && x.nextDue() >= 0 {
		x.steps--
		x.fire(x.armed[x.nextDue()])
	}
}

func (x *Oracle) fire(a deadman) {
	x.disarm(a.account, a.market, a.connection)
	if a.upTo == 0 {
		a.upTo = x.lastOrder
	}
	w := partialCancel{a.account, a.market, a.upTo}
	if !x.cancelSome(w) {
		x.keepPartial(w)
	}

	for _, m := range x.markets {
		halted := m.State == bourse.MarketHalted && (a.market == 0 || a.market == m.ID)
		if !halted || !slices.ContainsFunc(m.open, func(o *order) bool { return o.Account == a.account && o.ID <= a.upTo }) {
			continue
		}
		if a.connection != 0 {
			a.connection = everClosed
			x.disarm(a.account, 0, everClosed)
		}
		a.expires = x.now + haltedRetry
		x.armed = append(x.armed, a)
		return
	}
}
