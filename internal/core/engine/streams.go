package engine

import "github.com/bourse-exchange/bourse"

// The events of a command get positions in the streams of their accounts. The positions
// are part of the state: they are equal after a restart and on every node. Trades and
// levels have theirs already, and the position of a fill is its ordinal. Events about
// orders are numbered where they are announced, all others when the command has been
// carried out.

// number gives a command's balances, updates of orders and transfers their positions.
func (e *Engine) number(ev *bourse.Events) {
	var of bourse.AccountID
	var acct *account
	for i := range ev.Balances {
		b := &ev.Balances[i]
		if b.Account != of {
			of, acct = b.Account, e.accounts.Find(uint32(b.Account))
		}
		acct.streams.Balances++
		b.StreamSeq = acct.streams.Balances
	}

	if e.mayUpdate {
		e.mayUpdate = false
		e.numberUpdates(ev)
	}
	if len(ev.Wallet.Deposits) != 0 || len(ev.Wallet.Withdrawals) != 0 {
		e.numberTransfers(ev)
	}
}

// numberLast gives the last event, which is about an order of the account, the next
// position in the stream of the account's orders.
func (a *account) numberLast(ev *bourse.Events) {
	a.streams.Orders++
	ev.List[len(ev.List)-1].StreamSeq = a.streams.Orders
}

// updateDue marks a fill, in UpdateSeq, whose order is open after it.
const updateDue = 1

// numberUpdates gives each order that traded and stayed open one position, at its last
// fill, behind all other events about orders.
func (e *Engine) numberUpdates(ev *bourse.Events) {
	for i := range ev.Trades {
		t := &ev.Trades[i]
		e.numberUpdate(&t.Maker)
		e.numberUpdate(&t.Taker)
	}
}

// numberUpdate gives a fill the position of its order's update, unless the order has ended
// or has a later fill in the command.
func (e *Engine) numberUpdate(f *bourse.Fill) {
	if f.UpdateSeq != updateDue {
		return
	}

	f.UpdateSeq = 0
	if s := e.arena.Find(f.Order); s != 0 && e.arena.At(s).Filled == f.Filled {
		acct := e.accounts.Find(uint32(f.Account))
		acct.streams.Orders++
		f.UpdateSeq = acct.streams.Orders
	}
}

func (e *Engine) numberTransfers(ev *bourse.Events) {
	for i := range ev.List {
		x := &ev.List[i]
		switch x.Kind {
		case bourse.EventDeposit:
			x.StreamSeq = e.nextTransferSeq(ev.Wallet.Deposits[x.At].Account)
		case bourse.EventWithdrawal:
			x.StreamSeq = e.nextTransferSeq(ev.Wallet.Withdrawals[x.At].Account)
		default:
		}
	}
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
