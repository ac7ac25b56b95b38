package engine

import "github.com/bourse-exchange/bourse"

// number gives the events of a command their positions in the streams of their accounts.
// The positions are part of the state: they are equal after a restart and on every node.
// Trades and levels have theirs already, and the position of a fill is its ordinal.
func (e *Engine) number(ev *bourse.Events) {
	for i := range ev.Balances {
		b := &ev.Balances[i]
		acct := e.accounts.Find(uint32(b.Account))
		acct.streams.Balances++
		b.StreamSeq = acct.streams.Balances
	}

	updates := false
	for i := range ev.List {
		x := &ev.List[i]
		switch x.Kind {
		case bourse.EventOrderAccepted, bourse.EventOrderRejected, bourse.EventOrderTriggered:
			x.StreamSeq = e.nextOrderSeq(ev.Orders[x.At].Account)
		case bourse.EventOrderClosed, bourse.EventTraded:
			updates = true
		case bourse.EventDeposit:
			x.StreamSeq = e.nextTransferSeq(ev.Wallet.Deposits[x.At].Account)
		case bourse.EventWithdrawal:
			x.StreamSeq = e.nextTransferSeq(ev.Wallet.Withdrawals[x.At].Account)
		default: // in no stream of an account, or numbered where it happens
		}
	}

	if updates {
		e.numberUpdates(ev)
	}
}

// numberUpdates gives each order that the command changed after its acceptance one
// position behind those of acceptances and triggers: at its end, or at its last fill if it
// stays open.
func (e *Engine) numberUpdates(ev *bourse.Events) {
	for i := range ev.List {
		x := &ev.List[i]
		switch x.Kind {
		case bourse.EventOrderClosed:
			x.StreamSeq = e.nextOrderSeq(ev.Orders[x.At].Account)
		case bourse.EventTraded:
			t := &ev.Trades[x.At]
			e.numberFill(&t.Maker)
			e.numberFill(&t.Taker)
		default:
		}
	}
}

// numberFill gives a fill the position of its order's update, unless the order has ended
// or has a later fill in the command.
func (e *Engine) numberFill(f *bourse.Fill) {
	f.UpdateSeq = 0
	if s := e.arena.Find(f.Order); s != 0 && e.arena.At(s).Filled == f.Filled {
		f.UpdateSeq = e.nextOrderSeq(f.Account)
	}
}

func (e *Engine) nextOrderSeq(id bourse.AccountID) uint64 {
	acct := e.accounts.Find(uint32(id))
	acct.streams.Orders++
	return acct.streams.Orders
}

// nextTransferSeq returns zero for a deposit without an account.
func (e *Engine) nextTransferSeq(id bourse.AccountID) uint64 {
	if id == 0 {
		return 0
	}
	acct := e.accounts.Find(uint32(id))
	acct.streams.Transfers++
	return acct.streams.Transfers
}
