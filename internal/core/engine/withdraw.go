package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
	"github.com/bourse-exchange/bourse/internal/core/terms"
)

// withdraw admits a request for a withdrawal and holds amount and fee, or refuses it. A
// withdrawal that needs no person goes on at once.
func (e *Engine) withdraw(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	asked := cmd.Wallet.Withdraw
	if e.account(cmd.Account) == nil {
		return bourse.UnknownAccount
	}
	switch first, same, found := e.custody.Before(cmd.Account, asked, e.now); {
	case found && same:
		ev.Repeat(first)
		return 0
	case found && !asked.Once.IsZero():
		return bourse.DuplicateRequest
	case found:
		return bourse.DuplicateClientID
	case asked.Again:
		return bourse.NotAskedBefore
	}

	w := &bourse.Withdrawal{Account: cmd.Account, Withdraw: *asked, Status: bourse.WalletPending, Created: e.now}
	if w.Internal != 0 {
		w.Fee = bourse.Amount{} // internal withdrawals are free
	}
	if held := e.account(cmd.Account).held; held > e.now {
		w.NotBefore = held
	}

	c := e.withdrawalCase(cmd.Account, asked)
	if reason := c.Refusal(); reason != 0 {
		e.custody.Remember(cmd.Account, asked, bourse.Outcome{Reason: reason}, e.now)
		return reason
	}

	if !e.ledger.Of(w.Asset).Hold(ev, cmd.Account, w.Held()) {
		bourse.Impossible("account %d has less of asset %d than a withdrawal may hold", cmd.Account, w.Asset)
	}

	w.Counted = e.tiers.counts(w.Asset, bourse.FlowWithdrawal)
	if w.Counted {
		e.count(cmd.Account, w.Asset, bourse.FlowWithdrawal, w.Amount, ev)
	}
	w.ID, w.Ordinal = e.allotMovement(cmd.Account)
	e.custody.Remember(cmd.Account, asked, bourse.Outcome{ID: uint64(w.ID)}, e.now)
	e.begin(w, ev)
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// withdrawalCase gathers the inputs of the decision on a request.
func (e *Engine) withdrawalCase(account bourse.AccountID, asked *bourse.Withdraw) terms.Case {
	c := terms.Case{
		Asked: asked, Network: e.network(asked.Network), Terms: e.terms(asked.Network, asked.Asset),
		Frozen: e.account(account).frozen, Recipient: e.account(asked.Internal) != nil,
		Open: e.custody.OpenWithdrawals(account), Available: e.ledger.Balance(account, asked.Asset).Available,
		Limit: e.tiers.defined.Limit(e.account(account).tier, asked.Asset, bourse.FlowWithdrawal),
		Moved: e.moved(account, asked.Asset, bourse.FlowWithdrawal),
	}
	if int(asked.Asset) < len(e.assets) {
		c.Asset = e.assets[asked.Asset]
	}
	if asked.Save != (bourse.Token{}) {
		c.Book = e.custody.CanSave(savedFrom(account, asked))
	}
	return c
}

// begin announces a withdrawal whose money is held, saves its address if asked, and lets
// it go if policy approves it.
func (e *Engine) begin(w *bourse.Withdrawal, ev *bourse.Events) {
	e.custody.AddWithdrawal(w)
	e.custody.ChangedWithdrawal(ev, w)
	if w.Save != (bourse.Token{}) {
		e.custody.Save(ev, savedFrom(w.Account, &w.Withdraw))
	}
	if w.Factor {
		e.custody.Approved(ev, w.Account, &w.Withdraw, e.now)
	}
	if e.genesis.Sandbox || e.custody.Trusted(w.Account, &w.Withdraw, e.now) {
		w.Approved = true
		e.letGo(w, ev)
	}
}

// letGo moves an approved withdrawal on. If it is delayed or its network's withdrawals
// are stopped, it stays ready for later.
func (e *Engine) letGo(w *bourse.Withdrawal, ev *bourse.Events) {
	switch {
	case w.NotBefore != 0, e.custody.Network(w.Network).Stopped():
		e.custody.ChangedWithdrawal(ev, w)
	case w.Internal == 0:
		w.Status = bourse.WalletProcessing
		e.custody.ChangedWithdrawal(ev, w)
	case e.account(w.Account).frozen:
		w.Approved = false // frozen during the wait: an operator decides again
		e.custody.ChangedWithdrawal(ev, w)
	default:
		e.payInside(w, ev)
	}
}

// payInside books a withdrawal to an account of this exchange on both sides.
func (e *Engine) payInside(w *bourse.Withdrawal, ev *bourse.Events) {
	kind := bourse.TransferInternal
	if w.Transfer() {
		kind = bourse.TransferToCustomer
	}
	e.pay(ev, bourse.Transfer{Kind: kind, From: w.Account, To: w.Internal, Asset: w.Asset, Amount: w.Amount})
	d := &bourse.Deposit{
		Number: e.custody.AllotDeposit(), Network: w.Network, Asset: w.Asset, Amount: w.Amount, Memo: w.Memo,
		Status: bourse.WalletDone, From: w.ID, By: w.Account, Message: w.Message, Created: e.now, Done: e.now,
	}
	e.own(d, w.Internal)
	w.Deposit, w.Status, w.Signed, w.Done = d.ID, bourse.WalletDone, true, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
	ev.AddDeposit(bourse.EventDeposit, d)
}

// pay carries out a transfer out of the held balance.
func (e *Engine) pay(ev *bourse.Events, t bourse.Transfer) {
	if !t.Amount.IsZero() {
		e.ledger.Pay(ev, t.From, t.To, t.Asset, t.Amount)
		ev.AddTransfer(t)
	}
}

// settleWithdrawal ends a withdrawal that its network accepted.
func (e *Engine) settleWithdrawal(w *bourse.Withdrawal, ev *bourse.Events) {
	e.pay(ev, bourse.Transfer{
		Kind: bourse.TransferWithdrawal, From: w.Account, To: bourse.AccountInTransit, Asset: w.Asset, Amount: w.Amount,
	})
	e.pay(ev, bourse.Transfer{
		Kind: bourse.TransferWithdrawalFee, From: w.Account, To: bourse.AccountWithdrawalFees,
		Asset: w.Asset, Amount: w.Fee,
	})
	w.Status, w.Done = bourse.WalletDone, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
}

// cancelWithdrawal cancels an unsigned withdrawal at its owner's request; the journal's
// order decides between a request to the signer and a cancellation. Trust in its address ends: the
// owner who cancels may not have made the request. A transfer is not its owner's to cancel.
func (e *Engine) cancelWithdrawal(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.Wallet.ID)
	if w == nil || w.Account != cmd.Account || w.Transfer() || w.Ending {
		return bourse.WithdrawalNotFound
	}
	if w.Signed {
		return bourse.WithdrawalSigned
	}
	e.custody.Distrust(ev, w.Account, &w.Withdraw)
	e.endUnsigned(w, ev)
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// endUnsigned cancels a withdrawal without a signature, or leaves it to the signer if it is
// there.
func (e *Engine) endUnsigned(w *bourse.Withdrawal, ev *bourse.Events) {
	if w.AtSigner {
		e.leaveToSigner(w, ev)
	} else {
		e.giveBack(w, ev)
	}
}

// giveBack cancels an open withdrawal and releases its money.
func (e *Engine) giveBack(w *bourse.Withdrawal, ev *bourse.Events) {
	held := w.Held()
	if w.Status != bourse.WalletPendingCancel {
		w.Status = bourse.WalletPendingCancel
		e.custody.ChangedWithdrawal(ev, w)
	}
	e.ledger.Of(w.Asset).Release(ev, w.Account, held)
	e.uncount(w, ev)
	w.Status, w.Done = bourse.WalletCanceled, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
}

// decideWithdrawal carries out an operator's decision on an unsigned withdrawal. A denial
// ends the trust in its address.
func (e *Engine) decideWithdrawal(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.Wallet.ID)
	switch {
	case w == nil:
		return bourse.WithdrawalNotFound
	case w.Signed:
		return bourse.WithdrawalSigned
	case w.Ending:
		return bourse.WithdrawalNotFound
	}
	ev.Outcome.ID = uint64(w.ID)

	if !cmd.On {
		e.custody.Distrust(ev, w.Account, &w.Withdraw)
		e.endUnsigned(w, ev)
		return 0
	}

	if e.account(w.Account).frozen {
		return bourse.AccountFrozen
	}

	e.custody.Approved(ev, w.Account, &w.Withdraw, e.now)
	if !w.Approved {
		w.Approved = true
		e.letGo(w, ev)
	}
	return 0
}

// pauseWithdrawals pauses a network's withdrawals or resumes them. Resuming also ends a
// halt.
func (e *Engine) pauseWithdrawals(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Wallet.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(cmd.Wallet.Network)
	n.Paused = cmd.On
	if !cmd.On {
		n.Halted = 0
	}
	n.Announce(ev)
	e.letReadyGo(ev)
	return 0
}

// halt stops a network's withdrawals.
func (e *Engine) halt(n *custody.Network, why bourse.Halt, ev *bourse.Events) {
	n.Halt(why)
	e.outdateResuming(n, ev)
}

// outdateResuming marks the waiting acts that resume the withdrawals of a network that the exchange
// itself just stopped: their operators did not know why.
func (e *Engine) outdateResuming(n *custody.Network, ev *bourse.Events) {
	e.outdate(&bourse.Command{
		Kind: bourse.CommandPauseWithdrawals, On: true, Wallet: &bourse.WalletCommand{Network: n.Network},
	}, ev)
}

// letReadyGo moves on approved withdrawals whose networks resumed, within the step
// budget; a Continue does the rest.
func (e *Engine) letReadyGo(ev *bourse.Events) {
	for e.steps > 0 {
		w := e.custody.Ready()
		if w == nil {
			return
		}
		e.steps--
		e.letGo(w, ev)
	}
}
