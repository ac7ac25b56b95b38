package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// terms returns the terms of moving an asset on a network, or nil.
func (e *Engine) terms(network bourse.NetworkID, asset bourse.AssetID) *bourse.NetworkAsset {
	at, found := slices.BinarySearchFunc(e.networkAssets,
		&bourse.NetworkAsset{Network: network, Asset: asset}, compareTerms)
	if !found {
		return nil
	}
	return e.networkAssets[at]
}

// deposit applies an output that belongs to a customer or has no known owner. An output
// that was mined before, in a block that left the chain, is the same deposit and keeps
// its owner.
func (e *Engine) deposit(n *custody.Network, tx *bourse.TxEffect, o *bourse.Inflow, ev *bourse.Events) {
	d := n.Deposit(tx.Hash, o.Index)
	if d == nil {
		d = e.newDeposit(n, tx, o)
	} else if d.Status == bourse.WalletCanceled {
		d.Status = bourse.WalletPending
		d.Done = 0
	}
	d.Mined, d.Block, d.Gone = true, n.Tip, 0

	kind, where := booked(d)
	e.must(ev, bourse.Transfer{
		Kind: kind, From: bourse.NetworkAccount(n.Network), To: where, Asset: d.Asset, Amount: d.Amount,
	})
	e.custody.ChangedDeposit(ev, d)
}

// booked returns the kind of posting and the account for a mined deposit that is not
// credited.
func booked(d *bourse.Deposit) (bourse.TransferKind, bourse.AccountID) {
	if d.Account == 0 {
		return bourse.TransferParked, bourse.AccountParked
	}
	return bourse.TransferDeposit, bourse.AccountPendingDeposits
}

func (e *Engine) newDeposit(n *custody.Network, tx *bourse.TxEffect, o *bourse.Inflow) *bourse.Deposit {
	terms := e.terms(n.Network, o.Asset)
	d := &bourse.Deposit{
		Number: e.custody.AllotDeposit(), Network: n.Network, Asset: o.Asset, Amount: o.Amount,
		Tx: tx.Hash, Index: o.Index, Address: o.Address, Memo: o.Memo, Status: bourse.WalletPending,
		BelowMin: o.Amount.Less(terms.MinDeposit), Target: terms.Confirms, Created: e.now,
	}
	if e.account(o.Owner) != nil && (!o.OverAlone || e.rules >= bourse.RulesOverAlone) {
		e.own(d, o.Owner)
		d.OverAlone = o.OverAlone
	}
	e.custody.AddDeposit(d)
	return d
}

// own assigns a deposit to an account.
func (e *Engine) own(d *bourse.Deposit, account bourse.AccountID) {
	d.ID, d.Ordinal = e.allotMovement(account)
	d.Account = account
}

// allotMovement allots an account its next deposit or withdrawal.
func (e *Engine) allotMovement(account bourse.AccountID) (bourse.WalletID, uint64) {
	a := e.account(account)
	a.movements++
	return e.custody.AllotWallet(), a.movements
}

// undeposit removes a deposit from its block. A credited deposit stays credited: the
// exchange lacks the money until the deposit is mined again.
//
// Gone is counted from the highest tip ever reached, so that the new chain has the time
// to outgrow the old one before the deposit is given up.
func (e *Engine) undeposit(n *custody.Network, d *bourse.Deposit, ev *bourse.Events) {
	_, where := booked(d)
	d.Mined, d.Gone = false, n.Top()
	e.must(ev, bourse.Transfer{
		Kind: bourse.TransferRewound, From: where, To: bourse.NetworkAccount(n.Network),
		Asset: d.Asset, Amount: d.Amount,
	})
	if d.Status == bourse.WalletDone {
		e.halt(n, bourse.HaltReorg, ev)
	}
	e.custody.ChangedDeposit(ev, d)
}

// ripen applies the effects of a higher tip: it credits deposits that are deep enough and
// gives up deposits that stayed out of the chain for too long.
func (e *Engine) ripen(n *custody.Network, ev *bourse.Events) {
	for _, d := range n.Waiting() {
		switch {
		case d.Mined:
			e.creditDeposit(n, d, ev)
		case n.Tip.Height >= d.Gone+uint64(d.Target):
			d.Status, d.Done = bourse.WalletCanceled, e.now
			e.custody.ChangedDeposit(ev, d)
		}
	}
}

// creditDeposit credits a deposit to its account if it is deep enough and within the limit of
// the account's tier. Nothing else counts: frozen accounts and disabled assets are credited
// too.
func (e *Engine) creditDeposit(n *custody.Network, d *bourse.Deposit, ev *bourse.Events) {
	if d.Account == 0 || d.BelowMin || d.OverAlone || d.Confirms(n.Tip.Height) < uint64(d.Target) {
		return
	}
	if !d.Admitted && !e.mayReceive(d) {
		if !d.OverLimit {
			d.OverLimit = true
			e.custody.ChangedDeposit(ev, d)
		}
		return // each block tries again
	}
	if !e.transfer(ev, bourse.Transfer{
		Kind: bourse.TransferCredited, From: bourse.AccountPendingDeposits, To: d.Account,
		Asset: d.Asset, Amount: d.Amount,
	}) {
		return // the ledger has no room: the next block tries again
	}
	d.Status, d.OverLimit, d.Done = bourse.WalletDone, false, e.now
	e.custody.ChangedDeposit(ev, d)
	if e.tiers.counts(d.Asset, bourse.FlowDeposit) {
		e.count(d.Account, d.Asset, bourse.FlowDeposit, d.Amount, ev)
	}
}

// assignDeposit carries out an operator's decision: a parked deposit belongs to this
// account, or a deposit of this account is admitted although it is below the minimum, or
// beyond a limit or what one node alone credits. The usual rule credits it.
func (e *Engine) assignDeposit(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	if e.account(cmd.Account) == nil {
		return bourse.UnknownAccount
	}
	d := e.custody.Deposit(cmd.Wallet.Deposit)
	if d == nil || !d.NeedsOperator() || d.Account != 0 && d.Account != cmd.Account {
		return bourse.DepositNotFound
	}

	if d.Account == 0 {
		e.own(d, cmd.Account)
		if d.Mined {
			e.must(ev, bourse.Transfer{
				Kind: bourse.TransferAssigned, From: bourse.AccountParked, To: bourse.AccountPendingDeposits,
				Asset: d.Asset, Amount: d.Amount,
			})
		}
	}

	d.BelowMin, d.OverLimit, d.OverAlone, d.Admitted = false, false, false, true
	e.custody.ChangedDeposit(ev, d)
	if n := e.custody.Network(d.Network); d.Mined && n.Part == 0 {
		e.creditDeposit(n, d, ev)
	}
	ev.Outcome.ID = uint64(d.ID)
	return 0
}
