package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/wire"
)

var balancesFields = api.Fields{"symbols", "search", "offset"}

// balances lists the account's balances, including zeros, by symbol.
func (w *Wallet) balances(c *api.Call) error {
	return w.listBalances(c, func(*bourse.Asset) {})
}

// listBalances lists balances; more appends fields to each.
func (w *Wallet) listBalances(c *api.Call, more func(*bourse.Asset)) error {
	list, err := w.selectAssets(c, true)
	if err != nil {
		return err
	}

	ids := make([]bourse.AssetID, len(list))
	for i, a := range list {
		ids[i] = a.ID
	}

	c.Out.Name("balances")
	c.Out.Object()
	for i, b := range w.View.Balances(c.Who.Account, ids) {
		c.Out.Name(string(list[i].Symbol))
		c.Out.Object()
		writeBalance(c.Out, list[i], &b)
		more(list[i])
		c.Out.EndObject()
	}
	c.Out.EndObject()
	return nil
}

func writeBalance(out *wire.Writer, a *bourse.Asset, b *bourse.Balance) {
	out.Amount("total", b.Available.Plus(b.Held), a.Scale)
	out.Amount("locked", b.Held, a.Scale)
	out.Amount("avbl", b.Available, a.Scale)
}
