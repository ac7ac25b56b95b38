package walletv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var networksFields = api.Fields{"asset"}

// networks lists the networks that carry an asset by symbol.
func (w *Wallet) networks(c *api.Call) error {
	catalogue := w.View.Catalogue()
	c.Require("asset")
	a := api.Named(c.Form, "asset", catalogue.Asset)
	if err := c.Err(); err != nil {
		return err
	}

	if !a.Enabled {
		return api.Unknown("asset", "asset", string(a.Symbol))
	}

	c.Out.Name("networks")
	c.Out.Object()
	for _, terms := range teller.Carriers(catalogue, a.ID) {
		n := catalogue.Networks[terms.Network]
		c.Out.Name(string(n.Symbol))
		c.Out.Object()
		c.Out.Text("description", n.Name)
		c.Out.Text("icon_url", w.Icon(n.Symbol))
		c.Out.EndObject()
	}
	c.Out.EndObject()
	return nil
}
