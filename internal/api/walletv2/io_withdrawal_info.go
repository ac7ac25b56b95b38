package walletv2

import "github.com/bourse-exchange/bourse/internal/api/v2"

// withdrawalInfo writes the terms of withdrawals.
func (w *Wallet) withdrawalInfo(c *v2.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}

	c.Out.Maybe("memoName", r.Listed.MemoName)
	c.Out.Maybe("contract", r.Terms.Contract)
	c.Out.Amount("minAmount", r.Terms.MinWithdrawal, r.Asset.Scale)
	c.Out.Amount("feeMin", r.Terms.FeeMin, r.Asset.Scale)
	c.Out.Amount("feeMax", r.Terms.FeeMax, r.Asset.Scale)
	c.Out.Uint("feePrec", uint64(r.Terms.Precision))
	c.Out.Uint("prec", uint64(r.Terms.Precision))
	c.Out.Bool("operating", r.Operating())

	stopped, held := "", ""
	if state := w.View.NetworkState(r.Listed.ID); state.Stopped() {
		stopped = "Withdrawals are stopped: what is asked for waits until they resume"
	}
	if w.Accounts.HeldUntil(c.Who.Account) > w.View.Now() {
		held = "Withdrawals of this account wait because of a change of how its holder gets in"
	}
	writeWarnings(c, stopped, held)
	return nil
}
