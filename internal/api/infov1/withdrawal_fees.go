package infov1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/view"
)

// withdrawalFees lists the fees and minimums of moving assets by symbol.
func (i *Info) withdrawalFees(c *api.Call) error {
	skip := c.Offset()
	if err := c.Err(); err != nil {
		return err
	}

	catalogue := i.View.Catalogue()
	list := teller.Carried(catalogue)
	list = list[min(skip, len(list)):]

	c.Out.Name("fees")
	c.Out.Array()
	for _, a := range list[:min(pageSize, len(list))] {
		c.Out.Object()
		i.writeFees(c, catalogue, a)
		c.Out.EndObject()
	}
	c.Out.EndArray()
	return nil
}

// writeFees writes an asset with its networks. Members have the names of V2's list and, for
// older clients, the names of V1's wallet as well.
func (i *Info) writeFees(c *api.Call, catalogue *view.Catalogue, a *bourse.Asset) {
	i.writeTitle(c, a.Symbol, a.Name)
	c.Out.Word("asset", string(a.Symbol))

	c.Out.Name("networks")
	c.Out.Array()
	for _, terms := range teller.Carriers(catalogue, a.ID) {
		n := catalogue.Networks[terms.Network]
		c.Out.Object()
		i.writeTitle(c, n.Symbol, n.Name)
		c.Out.Text("network_description", n.Name)
		c.Out.Amount("fee", teller.UsualFee(a, terms), a.Scale)

		c.Out.Name("deposit")
		c.Out.Object()
		c.Out.Amount("min_amount", terms.MinDeposit, a.Scale)
		c.Out.EndObject()

		c.Out.Name("withdrawal")
		c.Out.Object()
		c.Out.Amount("min_amount", terms.MinWithdrawal, a.Scale)
		c.Out.Amount("fee_min", terms.FeeMin, a.Scale)
		c.Out.Amount("fee_max", terms.FeeMax, a.Scale)
		c.Out.EndObject()
		c.Out.EndObject()
	}
	c.Out.EndArray()
}

func (i *Info) writeTitle(c *api.Call, symbol bourse.Symbol, name string) {
	c.Out.Word("symbol", string(symbol))
	c.Out.Text("name", name)
	c.Out.Text("icon_url", i.Icon(symbol))
}
