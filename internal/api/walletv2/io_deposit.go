package walletv2

import (
	"encoding/base64"

	"rsc.io/qr"

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
	text, ok := r.PaymentURI(chain.CoinOf(r.Asset.Symbol, r.Terms.Contract), to)
	if !ok {
		text = to.Address
	}

	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return err
	}

	c.Out.Text("address", to.Address)
	c.Out.Maybe("memoName", r.Listed.MemoName)
	c.Out.Maybe("memo", to.Memo)
	c.Out.Uint("confirmTarget", uint64(r.Terms.Confirms))
	c.Out.Maybe("contract", r.Terms.Contract)
	c.Out.Amount("minAmount", r.Terms.MinDeposit, r.Asset.Scale)
	c.Out.Bool("operating", r.Operating())
	c.Out.Text("qrCode", "data:image/png;base64,"+base64.StdEncoding.EncodeToString(code.PNG()))

	warning := ""
	if r.Listed.MemoName != "" {
		warning = "A deposit without this " + r.Listed.MemoName + " waits for an operator"
	}
	writeWarnings(c, warning)
	return nil
}
