package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// AddWithdrawal adds a new withdrawal.
func (c *Custody) AddWithdrawal(w *bourse.Withdrawal) {
	c.withdrawals[w.ID] = w
	c.delay(w)
	if w.Open() {
		c.open[w.Account] = append(c.open[w.Account], w) // ids rise
	}
	c.sort(w)
}

// Withdrawal returns a remembered withdrawal, or nil.
func (c *Custody) Withdrawal(id bourse.WalletID) *bourse.Withdrawal { return c.withdrawals[id] }

// PaidBy returns the remembered withdrawals whose transaction is s, by id.
func (c *Custody) PaidBy(s *bourse.SignedTx) (list []*bourse.Withdrawal) {
	for id := range s.Payees {
		if w := c.withdrawals[id]; w != nil && w.Tx == s.Tx {
			list = append(list, w)
		}
	}
	return list
}

// OpenWithdrawals returns the number of an account's open withdrawals.
func (c *Custody) OpenWithdrawals(account bourse.AccountID) int { return len(c.open[account]) }

// Held returns the holds of an account's open withdrawals in an asset. It looks at each of them.
func (c *Custody) Held(account bourse.AccountID, asset bourse.AssetID) (held bourse.Amount) {
	for _, w := range c.open[account] {
		if w.Asset == asset {
			held = held.Plus(w.Held())
		}
	}
	return held
}

// ChangedWithdrawal announces a changed withdrawal.
func (c *Custody) ChangedWithdrawal(ev *bourse.Events, w *bourse.Withdrawal) {
	c.sort(w)
	ev.AddWithdrawal(bourse.EventWithdrawal, w)
}

// EndWithdrawal announces a withdrawal that holds no money any more, and starts the time
// after which its client id is free. A withdrawal that is done over a network stays
// remembered: its transaction can still leave the chain, or never reach it.
func (c *Custody) EndWithdrawal(ev *bourse.Events, w *bourse.Withdrawal, now bourse.Time) {
	c.close(w)
	c.Undelay(w)
	c.over(w.Account, &w.Withdraw, now)
	w.Once = bourse.Once{}
	c.ChangedWithdrawal(ev, w)
	if w.Status == bourse.WalletCanceled || w.Internal != 0 {
		delete(c.withdrawals, w.ID)
	}
}

// close removes a withdrawal from the open ones.
func (c *Custody) close(w *bourse.Withdrawal) {
	list := c.open[w.Account]
	at, _ := slices.BinarySearchFunc(list, w.ID,
		func(w *bourse.Withdrawal, id bourse.WalletID) int { return cmp.Compare(w.ID, id) })
	if list = slices.Delete(list, at, at+1); len(list) > 0 {
		c.open[w.Account] = list
	} else {
		delete(c.open, w.Account)
	}
}

// ForgetWithdrawal forgets a withdrawal that an operator ended.
func (c *Custody) ForgetWithdrawal(w *bourse.Withdrawal) { delete(c.withdrawals, w.ID) }

// sort adds a changed withdrawal to the ready ones, or removes it.
func (c *Custody) sort(w *bourse.Withdrawal) {
	n := c.Network(w.Network)
	at, found := slices.BinarySearch(n.ready, w.ID)
	switch want := w.Approved && w.Status == bourse.WalletPending && w.NotBefore == 0; {
	case want && !found:
		n.ready = slices.Insert(n.ready, at, w.ID)
		c.ready++
	case !want && found:
		n.ready = slices.Delete(n.ready, at, at+1)
		c.ready--
	}
}

// Ready returns an approved withdrawal whose network is not stopped, or nil.
func (c *Custody) Ready() *bourse.Withdrawal {
	if c.ready == 0 {
		return nil
	}
	for n := range c.Networks {
		if len(n.ready) > 0 && !n.Stopped() {
			return c.withdrawals[n.ready[0]]
		}
	}
	return nil
}
