package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// fees lists the fees and minimums of moving assets by symbol.
func (w *Wallet) fees(c *v2.Call) error {
	p := c.Page()
	if err := c.Err(); err != nil {
		return err
	}

	list := teller.Carried(w.View.Catalogue())
	v2.WritePart(c, "fees", p, list, func(a **bourse.Asset) { w.writeFee(c, *a) })
	return nil
}

func (w *Wallet) writeFee(c *v2.Call, a *bourse.Asset) {
	catalogue := w.View.Catalogue()
	w.writeTitle(c, a.Symbol, a.Name)

	c.Out.Name("networks")
	c.Out.Array()
	for _, terms := range teller.Carriers(catalogue, a.ID) {
		n := catalogue.Networks[terms.Network]
		c.Out.Object()
		w.writeTitle(c, n.Symbol, n.Name)

		c.Out.Name("deposit")
		c.Out.Object()
		c.Out.Amount("minAmount", terms.MinDeposit, a.Scale)
		c.Out.EndObject()

		c.Out.Name("withdrawal")
		c.Out.Object()
		c.Out.Amount("minAmount", terms.MinWithdrawal, a.Scale)
		c.Out.Amount("feeMin", terms.FeeMin, a.Scale)
		c.Out.Amount("feeMax", terms.FeeMax, a.Scale)
		c.Out.EndObject()
		c.Out.EndObject()
	}
	c.Out.EndArray()
}
