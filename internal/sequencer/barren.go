package sequencer

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

const (
	// barrenAfter is how many commands of an account in a row must come to nothing
	// before the next ones wait for company.
	barrenAfter = 8
	// patience is how long they wait at most: 20 frames a second are what all such
	// accounts together can cause.
	patience = bourse.Second / 20
	// mostBarren bounds the accounts that are counted; beyond it all begin anew.
	mostBarren = 1 << 16
	// patientShare is what waited for long may take of a frame before other orders.
	patientShare = 8
)

// barren counts, for each account, the commands in a row that were refused, repeated or
// found nothing to trade with. They cost their sender nothing, and a frame of their own would cost the
// journal a block and a sync each. Anybody may call its methods.
type barren struct {
	// some is the length of counts: while it is zero nobody takes the lock.
	some   atomic.Int64
	mu     sync.Mutex
	counts map[bourse.AccountID]uint8
}

// note counts what became of an account's command. A MARKET order that filled nothing
// may have held nothing; others held what they asked for.
func (b *barren) note(c *bourse.Command, o *bourse.Outcome) {
	account := c.Account
	fruitless := o.Reason != 0 || o.Repeated ||
		c.Kind == bourse.CommandPlace && c.Place.Type == bourse.MarketOrder && o.Filled == 0
	if account == 0 || !fruitless && b.some.Load() == 0 {
		return
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !fruitless:
		delete(b.counts, account)
	case len(b.counts) >= mostBarren:
		b.counts = map[bourse.AccountID]uint8{account: 1}
	default:
		b.counts[account] = min(b.counts[account]+1, barrenAfter)
	}
	b.some.Store(int64(len(b.counts)))
}

// waits reports whether an account's next command waits for company.
func (b *barren) waits(account bourse.AccountID) bool {
	if b.some.Load() == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[account] >= barrenAfter
}
