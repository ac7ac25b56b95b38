package custody

import "github.com/bourse-exchange/bourse"

// MaxSaved is how many entries an address book may have.
const MaxSaved = 1000

// savedKey is what an address book has once.
type savedKey struct {
	account bourse.AccountID
	network bourse.NetworkID
	address string
	memo    string
}

func keyOf(a *bourse.SavedAddress) savedKey {
	return savedKey{a.Account, a.Network, a.Address, a.Memo}
}

// CanSave says why an entry cannot be added, or zero.
func (c *Custody) CanSave(a *bourse.SavedAddress) bourse.Reason {
	switch {
	case c.byPlace[keyOf(a)] != 0:
		return bourse.AddressTaken
	case c.saved[a.Account] >= MaxSaved:
		return bourse.TooMany
	}
	return 0
}

// Save adds an entry and allots its id.
func (c *Custody) Save(ev *bourse.Events, a *bourse.SavedAddress) {
	c.lastAddress++
	a.ID = c.lastAddress
	c.keep(a)
	ev.AddAddress(bourse.EventAddressSaved, a)
}

func (c *Custody) keep(a *bourse.SavedAddress) {
	c.addresses[a.ID] = a
	c.byPlace[keyOf(a)] = a.ID
	c.saved[a.Account]++
}

// Saved returns an account's entry for a place, or nil.
func (c *Custody) Saved(account bourse.AccountID, w *bourse.Withdraw) *bourse.SavedAddress {
	return c.addresses[c.byPlace[savedKey{account, w.Network, w.Address, w.Memo}]]
}

// SavedByID returns an entry, or nil.
func (c *Custody) SavedByID(id bourse.AddressID) *bourse.SavedAddress { return c.addresses[id] }

// Trust lets withdrawals to an entry go without a person from a time on, unless
// they do already.
func (c *Custody) Trust(ev *bourse.Events, a *bourse.SavedAddress, from bourse.Time) {
	if a.Trusted == 0 {
		a.Trusted = from
		ev.AddAddress(bourse.EventAddressSaved, a)
	}
}

// Forget takes an entry out.
func (c *Custody) Forget(ev *bourse.Events, a *bourse.SavedAddress) {
	delete(c.addresses, a.ID)
	delete(c.byPlace, keyOf(a))
	if c.saved[a.Account]--; c.saved[a.Account] == 0 {
		delete(c.saved, a.Account)
	}
	ev.AddAddress(bourse.EventAddressForgotten, a)
}
