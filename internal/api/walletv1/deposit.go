package walletv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// deposit tells where the account receives an asset: the same place for ever.
func (w *Wallet) deposit(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}
	to := destination(r, c.Who.Account)
	c.Out.Bool("operating", r.Operating())
	c.Out.Uint("confirms_target", uint64(r.terms.Confirms))
	c.Out.Text("address", to.Address)
	if r.network.MemoName != "" {
		c.Out.Text("memo", to.Memo)
		c.Out.Text("memo_name", r.network.MemoName)
	}
	if uri, ok := r.PaymentURI(chain.CoinOf(r.asset.Symbol, r.terms.Contract), to); ok {
		c.Out.Text("qr_content", uri)
	}
	if r.terms.Contract != "" {
		c.Out.Text("contract", r.terms.Contract)
	}
	c.Out.Amount("min_deposit", r.terms.MinDeposit, r.asset.Scale)
	if r.network.MemoName != "" {
		c.Out.Text("warning", "A deposit without this "+r.network.MemoName+" waits for an operator")
	}
	return nil
}
