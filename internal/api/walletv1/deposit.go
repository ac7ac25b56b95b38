package walletv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// deposit writes the account's deposit address for an asset, which never changes.
func (w *Wallet) deposit(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}

	to := r.Home(c.Who.Account)
	c.Out.Bool("operating", r.Operating())
	c.Out.Uint("confirms_target", uint64(r.Terms.Confirms))
	c.Out.Text("address", to.Address)
	if r.Listed.MemoName != "" {
		c.Out.Text("memo", to.Memo)
		c.Out.Text("memo_name", r.Listed.MemoName)
	}
	if uri, ok := r.PaymentURI(chain.CoinOf(r.Asset.Symbol, r.Terms.Contract), to); ok {
		c.Out.Text("qr_content", uri)
	}
	if r.Terms.Contract != "" {
		c.Out.Text("contract", r.Terms.Contract)
	}
	c.Out.Amount("min_deposit", r.Terms.MinDeposit, r.Asset.Scale)
	if r.Listed.MemoName != "" {
		c.Out.Text("warning", "A deposit without this "+r.Listed.MemoName+" waits for an operator")
	}
	return nil
}
