package engine

import "github.com/bourse-exchange/bourse"

// A transfer between accounts is a withdrawal to an account of this exchange that
// names no network: it is approved, held up, paid and answered like one. It costs
// nothing, moves all that the ledger can count, and has no address to be trusted.

// refusesTransfer says why a transfer cannot be.
func (e *Engine) refusesTransfer(asked *bourse.Withdraw) bourse.Reason {
	switch {
	case int(asked.Asset) >= len(e.assets):
		return bourse.UnknownAsset
	case e.account(asked.Internal) == nil:
		return bourse.UnknownAccount
	case !e.assets[asked.Asset].Enabled:
		return bourse.WithdrawalsClosed
	}
	return 0
}

// letDueGo ends the wait of withdrawals whose time has come, as far as the steps
// allow.
func (e *Engine) letDueGo(ev *bourse.Events) {
	for e.steps > 0 {
		w := e.custody.Due(e.now)
		if w == nil {
			return
		}
		e.steps--
		e.custody.Undelay(w)
		if w.Approved {
			e.letGo(w, ev)
		} else {
			e.custody.ChangedWithdrawal(ev, w)
		}
	}
}
