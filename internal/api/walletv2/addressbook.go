package walletv2

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

var addressbookFields = fields(v2.PageFields, v2.SearchFields, api.Fields{"network"})

// addressbook lists the account's saved addresses by id.
func (w *Wallet) addressbook(c *v2.Call) error {
	p, q, network := c.Page(), c.Search(), w.networkFilter(c)
	if err := c.Err(); err != nil {
		return err
	}

	list, err := w.Accounts.AddressBook(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(a account.SavedAddress) bool {
		return network != 0 && network != a.Network || !teller.Matches(q, bourse.Symbol(a.Address), a.Name)
	})
	v2.WritePart(c, "addresses", p, list, func(a *account.SavedAddress) { w.writeAddress(c, a) })
	return nil
}

// networkFilter reads the field network; absent is zero. A disabled network is valid,
// because its past transactions stay visible.
func (w *Wallet) networkFilter(c *v2.Call) bourse.NetworkID {
	return filterBy(c, "network", w.View.Catalogue().Network, func(n *bourse.Network) bourse.NetworkID { return n.ID })
}

// filterBy reads a field with a symbol; absent is zero.
func filterBy[T any, ID ~uint16](c *v2.Call, name string, find func(bourse.Symbol) *T, id func(*T) ID) ID {
	if !c.Has(name) {
		return 0
	}
	is := found(c, name, c.Text(name), find, func(*T) bool { return true })
	if is == nil {
		return 0
	}
	return id(is)
}

// assetFilter reads the field asset; absent is zero.
func (w *Wallet) assetFilter(c *v2.Call) bourse.AssetID {
	return filterBy(c, "asset", w.View.Catalogue().Asset, func(a *bourse.Asset) bourse.AssetID { return a.ID })
}

func (w *Wallet) writeAddress(c *v2.Call, a *account.SavedAddress) {
	c.Out.Uint("adbkid", uint64(a.ID))
	c.Out.Text("name", a.Name)
	c.Out.Text("address", a.Address)
	c.Out.Maybe("memo", a.Memo)
	w.writeNetwork(c, w.View.Catalogue().Networks[a.Network])
}

// savedAddress returns the entry that the path names; an error if it is another
// account's.
func (w *Wallet) savedAddress(c *v2.Call) (account.SavedAddress, error) {
	id := c.SegmentID("adbkid")
	if err := c.Err(); err != nil {
		return account.SavedAddress{}, err
	}
	if id >= 1<<32 { // no address has such an id
		id = 0
	}

	a, found, foreign, err := w.Accounts.SavedAddress(c.Context, c.Who.Account, bourse.AddressID(id))
	switch {
	case err != nil || found:
		return a, err
	case foreign:
		return a, api.Errorf(codes.Forbidden, "adbkid: it is not yours")
	default:
		return a, api.Errorf(codes.NotFound, "adbkid: there is none with this id")
	}
}
