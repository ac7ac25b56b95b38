package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MaxSaved bounds the entries of an address book.
const MaxSaved = 1000

// savedKey is unique among the entries of all address books.
type savedKey struct {
	account bourse.AccountID
	network bourse.NetworkID
	address string
	memo    string
}

func keyOf(a *bourse.SavedAddress) savedKey {
	return savedKey{a.Account, a.Network, a.Address, a.Memo}
}

// CanSave returns the reason why an entry cannot be added, or zero.
func (c *Custody) CanSave(a *bourse.SavedAddress) bourse.Reason {
	switch {
	case c.byPlace[keyOf(a)] != 0:
		return bourse.AddressTaken
	case len(c.books[a.Account]) >= MaxSaved:
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
	c.books[a.Account] = append(c.books[a.Account], a) // ids rise
}

// Saved returns the entry for a withdrawal's destination in the account's book, or nil.
func (c *Custody) Saved(account bourse.AccountID, w *bourse.Withdraw) *bourse.SavedAddress {
	return c.addresses[c.byPlace[savedKey{account, w.Network, w.Address, w.Memo}]]
}

// SavedByID returns an entry, or nil.
func (c *Custody) SavedByID(id bourse.AddressID) *bourse.SavedAddress { return c.addresses[id] }

// Forget removes an entry.
func (c *Custody) Forget(ev *bourse.Events, a *bourse.SavedAddress) {
	delete(c.addresses, a.ID)
	delete(c.byPlace, keyOf(a))
	book := c.books[a.Account]
	at, _ := slices.BinarySearchFunc(book, a.ID,
		func(b *bourse.SavedAddress, id bourse.AddressID) int { return cmp.Compare(b.ID, id) })
	if book = slices.Delete(book, at, at+1); len(book) > 0 {
		c.books[a.Account] = book
	} else {
		delete(c.books, a.Account)
	}
	ev.AddAddress(bourse.EventAddressForgotten, a)
}
