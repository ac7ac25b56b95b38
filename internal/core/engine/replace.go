package engine

import "github.com/bourse-exchange/bourse"

// replace cancels an order and places another one, in any market. The cancel comes first, so that
// the new order can hold the money of the old one. A refused cancel ends the command, unless it is
// to go on; a rejected order leaves the cancel as it is.
//
// The client id of the new order makes the whole request idempotent: if it is taken, the
// command cancels nothing.
func (e *Engine) replace(cmd *bourse.Command, ev *bourse.Events) {
	named := !cmd.NewOrder.ClientID.IsZero()
	switch {
	case e.account(cmd.Account) == nil:
		refuseReplace(bourse.UnknownAccount, ev)
		return
	case e.market(cmd.NewOrder.Market) == nil:
		refuseReplace(bourse.UnknownMarket, ev)
		return
	case named && e.repeated(cmd, ev):
		if !ev.Outcome.Repeated {
			ev.Outcome.Cancel = bourse.DuplicateClientID
		}
		return
	}

	reason := e.cancelOrder(cmd, ev)
	if reason != 0 && !cmd.On {
		refuseReplace(reason, ev)
		return
	}

	ev.Outcome = bourse.Outcome{}
	e.place(cmd, ev)
	ev.Outcome.Cancel = reason
	if at := e.names.byID[nameKey{cmd.Account, cmd.NewOrder.ClientID}]; named && at != 0 {
		e.names.entries[at].outcome.Cancel = reason
	}
}

// refuseReplace refuses a replacement of which no part takes effect.
func refuseReplace(reason bourse.Reason, ev *bourse.Events) {
	ev.Refuse(reason)
	ev.Outcome.Cancel = reason
}
