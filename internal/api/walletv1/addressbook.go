package walletv1

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/view"
)

var addressbookFields = api.Fields{"asset", "network"}

// addressbook lists the account's saved addresses by id.
func (w *Wallet) addressbook(c *api.Call) error {
	catalogue := w.View.Catalogue()
	asset, network := new(bourse.Asset), new(bourse.Network)
	if c.Has("asset") {
		asset = api.Named(c.Form, "asset", catalogue.Asset)
	}
	if c.Has("network") {
		network = api.Named(c.Form, "network", catalogue.Network)
	}
	if err := c.Err(); err != nil {
		return err
	}

	list, err := w.Accounts.AddressBook(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	catalogue = w.View.Catalogue() // newer than the entries, so it has their assets and networks
	c.Out.Name("addressbook")
	c.Out.Object()
	for i := range list {
		a := &list[i]

		if (asset.ID == 0 || asset.ID == a.Asset) && (network.ID == 0 || network.ID == a.Network) {
			c.Out.Name(strconv.FormatUint(uint64(a.ID), 10))
			c.Out.Object()
			w.writeAddress(c, catalogue, a)
			c.Out.EndObject()
		}
	}
	c.Out.EndObject()
	return nil
}

func (w *Wallet) writeAddress(c *api.Call, catalogue *view.Catalogue, a *account.SavedAddress) {
	asset, network := catalogue.Assets[a.Asset], catalogue.Networks[a.Network]
	c.Out.Word("asset", string(asset.Symbol))
	c.Out.Word("network", string(network.Symbol))
	c.Out.Text("address", a.Address)
	c.Out.Text("name", a.Name)
	c.Out.Text("icon_url", w.Icon(asset.Symbol))
	c.Out.Text("network_description", network.Name)
	if network.MemoName != "" {
		if a.Memo != "" {
			c.Out.Text("memo", a.Memo)
		}
		c.Out.Text("memo_name", network.MemoName)
	}
}

// addressID reads the id of an entry.
func addressID(c *api.Call) bourse.AddressID {
	id := c.ID("adbkid")
	if id >= 1<<32 { // no address has such an id
		id = 0
	}
	return bourse.AddressID(id)
}
