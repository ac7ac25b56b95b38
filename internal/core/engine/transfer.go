package engine

import "github.com/bourse-exchange/bourse"

// A transfer between accounts is a withdrawal to an account of this exchange without a
// network: it is approved, delayed, paid and answered like one. It is free, moves any
// amount that the ledger can count, and has no address to trust.

// letDueGo ends the delay of withdrawals whose NotBefore has come, within the step
// budget.
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
