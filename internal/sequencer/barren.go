package sequencer

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

const (
	// barrenAfter is the number of an account's fruitless commands in a row after which
	// its next ones wait for company.
	barrenAfter = 8
	// patience bounds that wait. All such accounts together cause at most 20 frames a
	// second.
	patience = bourse.Second / 20
	// mostBarren bounds the accounts counted; beyond it the count starts anew.
	mostBarren = 1 << 16
	// patientShare divides the part of a frame that commands get before other orders once
	// they have waited for patience.
	patientShare = 8
)

// barren counts each account's consecutive fruitless commands: refused or repeated ones, orders
// that found nothing to trade with, and commands without money of an account without open
// orders. They cost the account nothing, but each frame costs the journal a block and a sync.
// Safe for concurrent use.
type barren struct {
	// some is the length of counts. While it is zero, mu is not needed.
	some   atomic.Int64
	mu     sync.Mutex
	counts map[bourse.AccountID]uint8
}

// note counts the outcome of an account's command. A MARKET order that filled nothing may
// have held no funds; other accepted orders held theirs. free is true for a command that
// takes effect without money, of an account without open orders.
func (b *barren) note(c *bourse.Command, o *bourse.Outcome, free bool) {
	account := c.Account
	canceled := c.Kind == bourse.CommandReplace && o.Cancel == 0
	places := c.Kind == bourse.CommandPlace || c.Kind == bourse.CommandReplace
	fruitless := free || o.Repeated || !canceled &&
		(o.Reason != 0 || places && c.NewOrder.Type == bourse.MarketOrder && o.Filled == 0)
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
