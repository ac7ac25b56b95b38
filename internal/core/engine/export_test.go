package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// UseUp moves a market's numbers and the order ids near their end.
func (e *Engine) UseUp(id bourse.MarketID, lastOrder bourse.OrderID, trades, levels uint64) {
	m := e.market(id)
	e.lastOrder, m.trades, m.levelSeq = lastOrder, trades, levels
	if trades > 0 {
		m.last = 100
	}
	for a := bourse.AccountID(1); a <= e.lastAccount; a++ {
		e.account(a).orders = uint64(lastOrder)
	}
}

// NumberKeys has so many API keys and sessions made already.
func (e *Engine) NumberKeys(keys, sessions bourse.KeyID) {
	e.keys.last, e.sessions.last = keys, bourse.FirstSession+sessions
}

// Withdrawal returns a withdrawal that is remembered, or nil.
func (e *Engine) Withdrawal(id bourse.WalletID) *bourse.Withdrawal { return e.custody.Withdrawal(id) }

// Spoilt is an open order, and the fields of its stop and its list. Prevent sets what self-trade
// prevention took of it.
type Spoilt struct {
	*book.Order
	Stop    *book.Stop
	Leg     *book.Leg
	Prevent func(bourse.Lots)
}

// Spoil changes an open order as no command can.
func (e *Engine) Spoil(id bourse.OrderID, change func(Spoilt)) {
	s := e.arena.Find(id)
	prevent := func(lots bourse.Lots) { e.arena.SetPrevented(s, lots) }
	change(Spoilt{e.arena.At(s), e.arena.Stop(s), e.arena.Leg(s), prevent})
}

// Volumes returns the number of accounts that have volume.
func (e *Engine) Volumes() int { return int(e.fees.used) - len(e.fees.free) }

// Windows returns the number of windows of all accounts.
func (e *Engine) Windows() (n int) {
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		n += len(e.accounts.At(uint32(id)).moved)
	}
	return n
}
