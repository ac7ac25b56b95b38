package engine

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// decideWallet carries out the commands of the wallet.
func (e *Engine) decideWallet(cmd *bourse.Command, ev *bourse.Events) {
	var reason bourse.Reason
	switch cmd.Kind {
	case bourse.CommandBlock:
		reason = e.block(cmd.Wallet.Block, ev)
	case bourse.CommandRewind:
		reason = e.rewind(cmd.Wallet, ev)
	case bourse.CommandAssignDeposit:
		reason = e.assignDeposit(cmd, ev)
	case bourse.CommandWithdraw, bourse.CommandTransfer:
		reason = e.withdraw(cmd, ev)
	case bourse.CommandCancelWithdrawal:
		reason = e.cancelWithdrawal(cmd, ev)
	case bourse.CommandDecideWithdrawal:
		reason = e.decideWithdrawal(cmd, ev)
	case bourse.CommandPauseWithdrawals:
		reason = e.pauseWithdrawals(cmd, ev)
	case bourse.CommandCool:
		reason = e.cool(cmd, ev)
	case bourse.CommandWarm:
		reason = e.warm(cmd, ev)
	case bourse.CommandFollowChain:
		reason = e.followChain(cmd.Wallet, ev)
	case bourse.CommandPaidWithdrawal:
		reason = e.paidWithdrawal(cmd.Wallet, ev)
	case bourse.CommandSigned:
		reason = e.signed(cmd.Wallet.Signed, ev)
	case bourse.CommandAsking:
		reason = e.asking(cmd.Wallet.ID, ev)
	case bourse.CommandRecord, bourse.CommandRecordJoined:
		// Older rules take joined entries too: blocks can have a transaction once the signer made it.
		reason = e.record(cmd.Wallet, ev)
	case bourse.CommandVoided:
		reason = e.voided(cmd.Wallet.ID, ev)
	case bourse.CommandAccepted:
		reason = e.accepted(cmd.Wallet, ev)
	case bourse.CommandReplaceWithdrawal:
		reason = e.replaceWithdrawal(cmd.Wallet, ev)
	case bourse.CommandReleaseWithdrawal:
		reason = e.releaseWithdrawal(cmd.Wallet, ev)
	case bourse.CommandSaveAddress:
		reason = e.saveAddress(cmd, ev)
	case bourse.CommandForgetAddress:
		reason = e.forgetAddress(cmd, ev)
	default:
		bourse.Impossible("command %d has unknown kind %d", cmd.Seq, cmd.Kind)
	}

	if reason != 0 {
		ev.Refuse(reason)
	}
}

// ownKey names one of the exchange's own accounts in one asset.
type ownKey struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

// claim is the balance that custody expects of an own account: has minus owes, kept as
// two sums because amounts are unsigned.
type claim struct{ has, owes bourse.Amount }

// checkCustody recomputes custody's invariants and compares the ledger's own accounts
// with it, to the unit: a network's account owes the exchange's balance on the network,
// and pending, parked and in-transit balances match the deposits and withdrawals.
func (e *Engine) checkCustody() error {
	if err := e.custody.Check(); err != nil {
		return err
	}

	claims := map[ownKey]claim{}
	fits := e.custody.Claims(func(
		account bourse.AccountID, asset bourse.AssetID, amount bourse.Amount, owes bool,
	) bool {
		k := ownKey{account, asset}
		c := claims[k]
		var ok bool
		if owes {
			c.owes, ok = c.owes.Add(amount)
		} else {
			c.has, ok = c.has.Add(amount)
		}
		claims[k] = c
		return ok
	})
	if !fits {
		return errors.New("what custody knows of is more than fits")
	}

	for _, a := range e.assets[1:] {
		for _, own := range e.ledger.Own(a.ID) {
			k := ownKey{own.Account, a.ID}
			if custody.Accounts(own.Account) && !claims[k].is(own.Has, own.Owes) {
				return fmt.Errorf("account %d owes %s and has %s of %s; custody says %s and %s", own.Account,
					own.Owes.Format(a.Scale), own.Has.Format(a.Scale), a.Symbol,
					claims[k].owes.Format(a.Scale), claims[k].has.Format(a.Scale))
			}
			delete(claims, k)
		}
	}

	for n := bourse.NetworkID(0); int(n) < len(e.networks); n++ {
		for _, a := range e.assets[1:] {
			for _, account := range [...]bourse.AccountID{
				bourse.NetworkAccount(n), bourse.AccountPendingDeposits, bourse.AccountParked, bourse.AccountInTransit,
			} {
				if !claims[ownKey{account, a.ID}].is(bourse.Amount{}, bourse.Amount{}) {
					return fmt.Errorf("account %d has nothing of %s, custody says otherwise", account, a.Symbol)
				}
			}
		}
	}
	return nil
}

// is reports whether the claim equals a balance of has minus owes.
func (c claim) is(has, owes bourse.Amount) bool {
	left, leftFits := c.has.Add(owes)
	right, rightFits := c.owes.Add(has)
	return leftFits && rightFits && left == right
}

// Owned yields the exchange's balance on a network, by asset, according to its blocks.
func (e *Engine) Owned(n bourse.NetworkID, yield func(bourse.AssetID, bourse.Amount)) {
	if e.network(n) == nil {
		return
	}
	for id, has := range e.custody.Network(n).Owned(len(e.assets)) {
		if !has.IsZero() {
			yield(bourse.AssetID(id), has)
		}
	}
}

// readCustody restores the wallet's part of the state.
func (x *restorer) readCustody() {
	x.custody = custody.Read(x.c, custody.Around{
		Networks: len(x.networks), Assets: len(x.assets), Accounts: x.lastAccount, Now: x.now,
		Terms: func(n bourse.NetworkID, a bourse.AssetID) bool { return x.terms(n, a) != nil },
	})
	if !x.c.OK() {
		return
	}
	x.custody.Movements(func(account bourse.AccountID, ordinal uint64) {
		a := x.account(account)
		x.c.Want(a != nil && ordinal <= a.movements)
	})
}

// announceWallet announces the wallet's part of the state.
func (x *restorer) announceWallet() { x.custody.Announce(&x.ev, x.flushIfFull) }
