package walletv1

import "github.com/bourse-exchange/bourse/internal/api"

// withdrawInfo writes the terms of withdrawals.
func (w *Wallet) withdrawInfo(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}

	c.Out.Bool("operating", r.Operating())
	c.Out.Amount("fee_min", r.Terms.FeeMin, r.Asset.Scale)
	c.Out.Amount("fee_max", r.Terms.FeeMax, r.Asset.Scale)
	c.Out.Uint("prec", uint64(r.Terms.Precision))
	if r.Listed.MemoName != "" {
		c.Out.Text("memo_name", r.Listed.MemoName)
	}
	if r.Terms.Contract != "" {
		c.Out.Text("contract", r.Terms.Contract)
	}
	c.Out.Amount("min_withdrawal", r.Terms.MinWithdrawal, r.Asset.Scale)
	if state := w.View.NetworkState(r.Listed.ID); state.Stopped() {
		c.Out.Text("warning", "Withdrawals are stopped: what is asked for waits until they resume")
	}
	return nil
}
