package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// followChain has a network whose chain changed deeper than is remembered follow the chain that its nodes tell, from
// its first block on. Up to the block that operators name, blocks are counted alone: all that was credited before stays
// credited, and what its addresses have is the treasury's difference. Withdrawals wait until operators resume them.
//
// The treasury takes the place of all that the network had, and each block gives it back what the chain has. What
// remains is the loss, or the gain of payments that the chain lacks.
func (e *Engine) followChain(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(cmd.Network)
	if !n.Lost() {
		return bourse.ChainStands
	}
	if !e.roomAnew(n) {
		return bourse.Overflow
	}

	n.UndoAll(ev, func(m *custody.Mined) { e.unmine(n, m, ev) })
	for _, d := range n.Mined() {
		e.undeposit(n, d, ev)
	}
	e.forsake(n, ev)
	n.Anew(ev, bourse.BlockRef{Height: cmd.Height, Hash: cmd.Tx})

	n.Paused, n.Halted = true, 0
	e.outdateResuming(n, ev)
	n.Announce(ev)
	return 0
}

// forsake posts the balance of a network's account to the treasury.
func (e *Engine) forsake(n *custody.Network, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	for _, a := range e.assets[1:] {
		for _, own := range e.ledger.Own(a.ID) {
			switch {
			case own.Account != outside:
			case own.Has.IsZero():
				e.must(ev, bourse.Transfer{
					Kind: bourse.TransferStrange, From: bourse.AccountTreasury, To: outside, Asset: a.ID, Amount: own.Owes,
				})
			default: // what waits for an operator is more than the network had
				e.must(ev, bourse.Transfer{
					Kind: bourse.TransferFunding, From: outside, To: bourse.AccountTreasury, Asset: a.ID, Amount: own.Has,
				})
			}
		}
	}
}

// roomAnew reports whether the exchange's own accounts can owe what followChain posts: the movements of all remembered
// blocks, and twice what the network has.
func (e *Engine) roomAnew(n *custody.Network) bool {
	sums, fit := n.Sums(0)
	if !fit {
		return false
	}
	owned := n.Owned(len(e.assets))
	for _, s := range sums {
		sum, ok := owned[s.Asset].Add(s.Amount)
		owned[s.Asset], fit = sum, fit && ok
	}
	for asset, has := range owned {
		twice, ok := has.Add(has)
		fit = fit && ok && (has.IsZero() || e.ledger.Room(bourse.AssetID(asset), twice))
	}
	return fit
}

// recount posts an inflow of a block that is counted anew, to an address of a customer. Whatever it was credited to was
// credited before. It reports false for a deposit that waits, which the block has again.
func (e *Engine) recount(n *custody.Network, m *custody.Mined, o *bourse.Inflow, ev *bourse.Events) bool {
	if !n.Recounts() || n.Deposit(m.Hash, o.Index) != nil {
		return false
	}
	e.post(m, ev, bourse.Transfer{
		Kind: bourse.TransferFunding, From: bourse.NetworkAccount(n.Network), To: bourse.AccountTreasury,
		Asset: o.Asset, Amount: o.Amount,
	})
	return true
}

// paidWithdrawal marks a withdrawal as paid by a transaction that blocks have in the place of one that was given up for
// it, and that the journal took for a stranger's. Operators say that it paid the withdrawal's address, which blocks do
// not tell; that it took the amount, and that nothing else is paid by it, is seen here. The withdrawal has the bytes
// that were given up: if the block leaves the chain they are offered again, and exclude the other transaction.
func (e *Engine) paidWithdrawal(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.ID)
	switch {
	case w == nil || w.Ending:
		return bourse.WithdrawalNotFound
	case !w.Signed:
		return bourse.NotSigned
	case !w.Unsigned():
		return bourse.NotProcessing
	}

	n := e.custody.Network(w.Network)
	var stand *bourse.SignedTx
	n.Strandings(w.ID, cmd.Tx, func(m *custody.Mined, old *bourse.SignedTx) bool {
		stand = e.standIn(n, m, old, w)
		return stand == nil
	})
	if stand == nil {
		return bourse.NotPaid
	}

	e.keep(n, stand, ev)
	for _, p := range stand.Joined {
		if p.Wallet != w.ID {
			e.outdateTransaction(p.Wallet, ev)
		}
	}
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// standIn returns a stranger's transaction as one of the exchange, in the place of one that was given up: it pays the
// withdrawal alone or, if it took too much for that, all that a joined one would have paid. It returns nil if it did
// neither.
func (e *Engine) standIn(
	n *custody.Network, m *custody.Mined, old *bourse.SignedTx, w *bourse.Withdrawal,
) *bourse.SignedTx {
	s := *old
	s.Tx, s.Inputs, s.Time = m.Hash, m.Spent, e.now
	trial := custody.Mined{TxEffect: m.TxEffect, Signed: &s}
	s.Wallet, s.Joined = w.ID, nil
	if e.tookAmount(n, &trial) {
		return &s
	}
	s.Wallet, s.Joined = old.Wallet, old.Joined
	if len(s.Joined) > 0 && e.tookAmount(n, &trial) {
		return &s
	}
	return nil
}

// tookAmount reports whether a transaction takes what it pays, and little besides it, and all its withdrawals are
// stranded. On a network of accounts the amount leaves as such, beside the cost. Elsewhere the rest is the cost, which
// is at most as much as that of the transaction that was given up.
func (e *Engine) tookAmount(n *custody.Network, m *custody.Mined) bool {
	if sums, fit := custody.Sums(&bourse.BlockEffect{Txs: []bourse.TxEffect{*m.TxEffect}}); !fit || !e.room(sums) {
		return false
	}
	d := e.dueOf(n, m.Signed, func(w *bourse.Withdrawal) bool { return w.Signed && !w.Ending && w.Unsigned() })
	if len(d.to) == 0 || !d.lost.IsZero() {
		return false
	}
	for _, net := range netOf(m) {
		if !d.covered(net) {
			continue
		}
		if n.ByOutput() {
			return !m.Signed.Cost.Amount.Less(net.Amount.Minus(d.all))
		}
		return beside(m, d.to[0])
	}
	return false
}
