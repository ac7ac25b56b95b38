package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

func compareDelays(a, b *bourse.Withdrawal) int {
	return cmp.Or(cmp.Compare(a.NotBefore, b.NotBefore), cmp.Compare(a.ID, b.ID))
}

// delay adds a withdrawal with a NotBefore to delayed.
func (c *Custody) delay(w *bourse.Withdrawal) {
	if w.NotBefore == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(c.delayed, w, compareDelays)
	c.delayed = slices.Insert(c.delayed, at, w)
}

// HoldBack delays an account's unsigned withdrawals until a time. If person is true, it
// revokes their approval, and a person must look at them.
func (c *Custody) HoldBack(ev *bourse.Events, account bourse.AccountID, until bourse.Time, person bool) {
	for _, w := range c.open[account] {
		if w.Signed || w.Ending {
			continue
		}
		if until > w.NotBefore {
			c.Undelay(w)
			w.NotBefore = until
			c.delay(w)
		}
		w.Status, w.Approved = bourse.WalletPending, w.Approved && !person
		c.ChangedWithdrawal(ev, w)
	}
}

// Undelay ends a withdrawal's delay, if it has one.
func (c *Custody) Undelay(w *bourse.Withdrawal) {
	if w.NotBefore == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(c.delayed, w, compareDelays)
	c.delayed = slices.Delete(c.delayed, at, at+1)
	w.NotBefore = 0
}

// Due returns a withdrawal whose NotBefore has passed, or nil.
func (c *Custody) Due(now bourse.Time) *bourse.Withdrawal {
	if len(c.delayed) == 0 || c.delayed[0].NotBefore > now {
		return nil
	}
	return c.delayed[0]
}
