package walletv2

import (
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// deposit writes the account's deposit address for an asset, which never changes.
func (w *Wallet) deposit(c *v2.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}
	to := r.Home(c.Who.Account)
	paymentURL, _ := r.PaymentURI(chain.CoinOf(r.Asset.Symbol, r.Terms.Contract), to)

	c.Out.Text("address", to.Address)
	c.Out.Maybe("memoName", r.Listed.MemoName)
	c.Out.Maybe("memo", to.Memo)
	c.Out.Uint("confirmTarget", uint64(r.Terms.Confirms))
	c.Out.Maybe("contract", r.Terms.Contract)
	c.Out.Amount("minAmount", r.Terms.MinDeposit, r.Asset.Scale)
	c.Out.Bool("operating", r.Operating())
	c.Out.Maybe("qrCode", paymentURL)

	warning := ""
	if r.Listed.MemoName != "" {
		warning = "A deposit without this " + r.Listed.MemoName + " waits for an operator"
	}
	writeWarnings(c, warning)
	return nil
}
