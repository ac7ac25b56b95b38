package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// trustAfter is the time from an amount's approval until its address needs no person for
// as much.
const trustAfter = bourse.Day

func compareTrust(t bourse.Trust, asset bourse.AssetID) int { return cmp.Compare(t.Asset, asset) }

// Trusted reports whether a withdrawal needs no person, because its account's address
// book trusts its address with the amount.
func (c *Custody) Trusted(account bourse.AccountID, w *bourse.Withdraw, now bourse.Time) bool {
	a := c.Saved(account, w)
	if a == nil {
		return false
	}
	at, found := slices.BinarySearchFunc(a.Trusts, w.Asset, compareTrust)
	return found && a.Trusts[at].Covers(w.Amount, now)
}

// Approved notes that a person or a second factor approved a withdrawal: a day later its
// address, if it is saved, is trusted with the amount. A greater amount waits for its own
// day, and the present trust holds meanwhile.
func (c *Custody) Approved(ev *bourse.Events, account bourse.AccountID, w *bourse.Withdraw, now bourse.Time) {
	a := c.Saved(account, w)
	if a == nil {
		return
	}
	from := now + trustAfter
	at, found := slices.BinarySearchFunc(a.Trusts, w.Asset, compareTrust)
	if !found {
		// Events share the list: it is replaced, not changed.
		a.Trusts = slices.Insert(slices.Clone(a.Trusts), at, bourse.Trust{Asset: w.Asset, Most: w.Amount, From: from})
		ev.AddAddress(bourse.EventAddressSaved, a)
		return
	}

	t := a.Trusts[at]
	if t.GreaterFrom != 0 && t.GreaterFrom <= now {
		t.Most, t.From, t.Greater, t.GreaterFrom = t.Greater, t.GreaterFrom, bourse.Amount{}, 0
	}
	if t.Most.Less(w.Amount) && t.Greater.Less(w.Amount) {
		t.Greater, t.GreaterFrom = w.Amount, from
	}
	if t != a.Trusts[at] {
		a.Trusts = slices.Clone(a.Trusts)
		a.Trusts[at] = t
		ev.AddAddress(bourse.EventAddressSaved, a)
	}
}

// Distrust ends the trust in a withdrawal's address.
func (c *Custody) Distrust(ev *bourse.Events, account bourse.AccountID, w *bourse.Withdraw) {
	if a := c.Saved(account, w); a != nil {
		distrust(ev, a)
	}
}

// DistrustAll ends the trust in all addresses of an account.
func (c *Custody) DistrustAll(ev *bourse.Events, account bourse.AccountID) {
	for _, a := range c.books[account] {
		distrust(ev, a)
	}
}

func distrust(ev *bourse.Events, a *bourse.SavedAddress) {
	if len(a.Trusts) > 0 {
		a.Trusts = nil
		ev.AddAddress(bourse.EventAddressSaved, a)
	}
}
