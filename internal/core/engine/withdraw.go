package engine

import "github.com/bourse-exchange/bourse"

// maxOpenWithdrawals is how many withdrawals an account may have open.
const maxOpenWithdrawals = 1_000

// withdraw takes a request for a withdrawal: amount and fee are held, or nothing
// is. What may go without a person goes on at once.
func (e *Engine) withdraw(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	asked := cmd.Wallet.Withdraw
	if e.account(cmd.Account) == nil {
		return bourse.UnknownAccount
	}
	switch first, same, found := e.custody.Before(cmd.Account, asked, e.now); {
	case found && same:
		ev.Repeat(first)
		return 0
	case found && asked.Once.Given():
		return bourse.DuplicateRequest
	case found:
		return bourse.DuplicateClientID
	case asked.Again:
		return bourse.NotAskedBefore
	}
	w := &bourse.Withdrawal{Account: cmd.Account, Withdraw: *asked, Status: bourse.WalletPending, Created: e.now}
	if w.Internal != 0 {
		w.Fee = bourse.Amount{} // whatever was offered
	}
	if held := e.account(cmd.Account).held; held > e.now {
		w.NotBefore = held
	}
	if reason := e.refusesWithdrawal(cmd.Account, asked, w, ev); reason != 0 {
		e.custody.Remember(cmd.Account, asked, bourse.Outcome{Reason: reason}, e.now)
		return reason
	}
	w.ID, w.Ordinal = e.allotMovement(cmd.Account)
	e.custody.Remember(cmd.Account, asked, bourse.Outcome{ID: uint64(w.ID)}, e.now)
	e.begin(w, ev)
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// refusesWithdrawal says why a withdrawal cannot be; if it can, its money is
// held. The order of the reasons is part of the rules.
func (e *Engine) refusesWithdrawal(
	account bourse.AccountID, asked *bourse.Withdraw, w *bourse.Withdrawal, ev *bourse.Events,
) bourse.Reason {
	if e.account(account).frozen {
		return bourse.AccountFrozen
	}
	if reason := e.refusesTerms(asked); reason != 0 {
		return reason
	}
	if asked.Save != (bourse.Token{}) {
		if reason := e.custody.CanSave(savedFrom(account, asked)); reason != 0 {
			return reason
		}
	}
	total, fits := w.Amount.Add(w.Fee)
	switch {
	case e.custody.OpenWithdrawals(account) >= maxOpenWithdrawals:
		return bourse.TooManyWithdrawals
	case !fits:
		return bourse.Overflow
	case !e.ledger.Of(w.Asset).Hold(ev, account, total):
		return bourse.InsufficientFunds
	}
	return 0
}

// refusesTerms holds a request against the terms of its network.
func (e *Engine) refusesTerms(asked *bourse.Withdraw) bourse.Reason {
	if asked.Transfer() {
		return e.refusesTransfer(asked)
	}
	network := e.network(asked.Network)
	switch {
	case int(asked.Asset) >= len(e.assets):
		return bourse.UnknownAsset
	case network == nil:
		return bourse.UnknownNetwork
	case asked.Internal != 0 && e.account(asked.Internal) == nil:
		return bourse.UnknownAccount
	}
	asset, terms := e.assets[asked.Asset], e.terms(asked.Network, asked.Asset)
	switch {
	case terms == nil:
		return bourse.NotOnNetwork
	case !asset.Enabled || !network.Enabled || !terms.Enabled:
		return bourse.WithdrawalsClosed
	case asked.Memo != "" && network.MemoName == "":
		return bourse.MemoNotAllowed
	}
	step := bourse.Pow10(asset.Scale - terms.Precision)
	_, amountRest := asked.Amount.Div64(step)
	_, feeRest := asked.Fee.Div64(step)
	switch {
	case amountRest != 0 || feeRest != 0:
		return bourse.BadPrecision
	case asked.Amount.Less(terms.MinWithdrawal):
		return bourse.BelowMinWithdrawal
	case terms.FeeMax.Less(asked.Fee), asked.Internal == 0 && asked.Fee.Less(terms.FeeMin):
		return bourse.FeeOutOfRange
	}
	return 0
}

// begin announces a withdrawal whose money is held, saves its address if asked
// to, and lets it go if policy does.
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

// letGo moves an approved withdrawal on, unless it must wait for a time or its
// network's withdrawals are stopped: then it is ready for when that is over.
func (e *Engine) letGo(w *bourse.Withdrawal, ev *bourse.Events) {
	switch {
	case w.NotBefore != 0, e.custody.Network(w.Network).Stopped():
		e.custody.ChangedWithdrawal(ev, w)
	case w.Internal == 0:
		w.Status = bourse.WalletProcessing
		e.custody.ChangedWithdrawal(ev, w)
	case e.account(w.Account).frozen:
		w.Approved = false // frozen while it waited: a person looks again
		e.custody.ChangedWithdrawal(ev, w)
	default:
		e.payInside(w, ev)
	}
}

// payInside books a withdrawal to an account of this exchange on both sides.
func (e *Engine) payInside(w *bourse.Withdrawal, ev *bourse.Events) {
	kind := bourse.TransferInternal
	if w.Transfer() {
		kind = bourse.TransferGiven
	}
	e.pay(ev, bourse.Transfer{Kind: kind, From: w.Account, To: w.Internal, Asset: w.Asset, Amount: w.Amount})
	d := &bourse.Deposit{
		Number: e.custody.AllotDeposit(), Network: w.Network, Asset: w.Asset, Amount: w.Amount, Memo: w.Memo,
		Status: bourse.WalletDone, From: w.ID, By: w.Account, Message: w.Message, Created: e.now, Done: e.now,
	}
	e.own(d, w.Internal)
	w.Deposit, w.Status, w.Sent, w.Done = d.ID, bourse.WalletDone, true, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
	ev.AddDeposit(bourse.EventDeposit, d)
}

// pay carries out a transfer out of what is held.
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
		Kind: bourse.TransferWithdrawalFee, From: w.Account, To: bourse.AccountWithdrawalFees, Asset: w.Asset, Amount: w.Fee,
	})
	w.Status, w.Done = bourse.WalletDone, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
}

// cancelWithdrawal ends a withdrawal at its owner's request, if no transaction
// was signed for it. The journal's order decides between the two. Its address is
// not trusted any more: whoever cancels may not have asked for it.
func (e *Engine) cancelWithdrawal(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.Wallet.ID)
	if w == nil || w.Account != cmd.Account {
		return bourse.WithdrawalNotFound
	}
	if w.Sent {
		return bourse.WithdrawalSent
	}
	e.custody.Distrust(ev, w.Account, &w.Withdraw)
	e.giveBack(w, ev)
	ev.Outcome.ID = uint64(w.ID)
	return 0
}

// giveBack cancels an open withdrawal and releases its money.
func (e *Engine) giveBack(w *bourse.Withdrawal, ev *bourse.Events) {
	held := w.Held()
	w.Status = bourse.WalletPendingCancel
	e.custody.ChangedWithdrawal(ev, w)
	e.ledger.Of(w.Asset).Release(ev, w.Account, held)
	w.Status, w.Done = bourse.WalletCanceled, e.now
	e.custody.EndWithdrawal(ev, w, e.now)
}

// decideWithdrawal is a person's word on a withdrawal that nobody signed yet. A
// denial ends the trust in its address, whoever gave it.
func (e *Engine) decideWithdrawal(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	w := e.custody.Withdrawal(cmd.Wallet.ID)
	switch {
	case w == nil:
		return bourse.WithdrawalNotFound
	case w.Sent:
		return bourse.WithdrawalSent
	}
	ev.Outcome.ID = uint64(w.ID)
	if !cmd.On {
		e.custody.Distrust(ev, w.Account, &w.Withdraw)
		e.giveBack(w, ev)
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

// pauseWithdrawals stops a network's withdrawals or resumes them, whoever
// stopped them.
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

// letReadyGo moves approved withdrawals on whose networks resumed, as far as the
// steps allow; a Continue does the rest.
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
