package walletv1

import "github.com/bourse-exchange/bourse/internal/api"

// withdrawInfo tells the terms of withdrawals.
func (w *Wallet) withdrawInfo(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}
	c.Out.Bool("operating", r.Operating())
	c.Out.Amount("fee_min", r.terms.FeeMin, r.asset.Scale)
	c.Out.Amount("fee_max", r.terms.FeeMax, r.asset.Scale)
	c.Out.Uint("prec", uint64(r.terms.Precision))
	if r.network.MemoName != "" {
		c.Out.Text("memo_name", r.network.MemoName)
	}
	if r.terms.Contract != "" {
		c.Out.Text("contract", r.terms.Contract)
	}
	c.Out.Amount("min_withdrawal", r.terms.MinWithdrawal, r.asset.Scale)
	if state := w.View.NetworkState(r.network.ID); state.Stopped() {
		c.Out.Text("warning", "Withdrawals are stopped: what is asked for waits until they resume")
	}
	return nil
}
