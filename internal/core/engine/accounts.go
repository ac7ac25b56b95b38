package engine

import "github.com/bourse-exchange/bourse"

// decideAccount carries out the commands about accounts, keys and sessions, and the commands
// that move money outside of trades and networks.
func (e *Engine) decideAccount(cmd *bourse.Command, ev *bourse.Events) {
	switch cmd.Kind {
	case bourse.CommandCreateAccount:
		e.createAccount(cmd, ev)
	case bourse.CommandFreezeAccount:
		e.freezeAccount(cmd, ev)
	case bourse.CommandSecureAccount:
		e.secureAccount(cmd, ev)
	case bourse.CommandResetPerson:
		e.resetPerson(cmd, ev)
	case bourse.CommandSetAccountFees:
		e.setAccountFees(cmd, ev)
	case bourse.CommandSetAccountLevel:
		e.setAccountLevel(cmd, ev)
	case bourse.CommandSetAccountTier:
		e.setAccountTier(cmd, ev)

	case bourse.CommandCreateKey:
		e.createKey(cmd, ev)
	case bourse.CommandChangeKey:
		e.changeKey(cmd, ev)
	case bourse.CommandRevokeKey:
		e.revokeKey(cmd, ev)
	case bourse.CommandOpenSession:
		e.openSession(cmd, ev)
	case bourse.CommandSetPerson:
		e.setPerson(cmd, ev)

	case bourse.CommandCredit:
		e.credit(cmd, ev)
	case bourse.CommandCollectFees:
		e.collectFees(ev)
	default:
		e.decideWallet(cmd, ev)
	}
}

func (e *Engine) createAccount(cmd *bourse.Command, ev *bourse.Events) {
	if e.lastAccount+1 >= bourse.AccountSandbox {
		ev.Refuse(bourse.TooMany)
		return
	}
	e.lastAccount++
	acct := e.accounts.At(uint32(e.lastAccount))
	acct.token = cmd.Token
	if cmd.Access != nil {
		acct.person = cmd.Access.Digest
	}
	ev.AddFact(bourse.EventAccountCreated, bourse.Fact{Account: e.lastAccount, Token: cmd.Token, Digest: acct.person})
	ev.Outcome.ID = uint64(e.lastAccount)
}

// freezeAccount bars an account from new orders, or admits them again. Its open orders
// stay until they are canceled; its stops are killed when they are triggered.
func (e *Engine) freezeAccount(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	acct.frozen = cmd.On
	ev.AddFact(bourse.EventAccountFrozen, bourse.Fact{Account: cmd.Account, On: cmd.On})
}

// secureAccount blocks withdrawals and transfers of an account for a time, because its
// person's credentials changed: an owner who did not make the change gets time to react.
// Pending withdrawals wait as well, and outside a sandbox they need an operator's
// approval, even if they had one. Trust in addresses ends, and so do sessions and, if the
// command says so, API keys.
func (e *Engine) secureAccount(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}

	if cmd.Access != nil {
		acct.setPerson(cmd, ev)
	}
	e.endKeys(acct.sessions, cmd.Key, ev)
	if cmd.On {
		e.endKeys(acct.keys, 0, ev)
	}
	e.hold(acct, cmd, ev)
}

// hold blocks withdrawals and transfers of an account for the hold of a command, and ends the trust
// in its addresses.
func (e *Engine) hold(acct *account, cmd *bourse.Command, ev *bourse.Events) {
	acct.held = max(acct.held, e.now+cmd.Hold)
	acct.announceHeld(cmd.Account, ev)
	e.custody.DistrustAll(ev, cmd.Account)
	if acct.held > e.now || !e.genesis.Sandbox {
		e.custody.HoldBack(ev, cmd.Account, acct.held, !e.genesis.Sandbox)
	}
}

// resetPerson replaces the row of an account's person by one that operators made, as secureAccount
// does, and ends all sessions and API keys. A row that its person changed meanwhile stays: the new one
// was made of an older one, and would take that change back.
func (e *Engine) resetPerson(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case acct.person != cmd.Operators.Was:
		ev.Refuse(bourse.WrongDigest)
		return
	}

	acct.setPerson(cmd, ev)
	e.endKeys(acct.sessions, 0, ev)
	e.endKeys(acct.keys, 0, ev)
	e.hold(acct, cmd, ev)
}

// setPerson replaces the digest of the row of an account's person.
func (e *Engine) setPerson(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	acct.setPerson(cmd, ev)
}

func (a *account) setPerson(cmd *bourse.Command, ev *bourse.Events) {
	a.person = cmd.Access.Digest
	ev.AddFact(bourse.EventPersonChanged, bourse.Fact{Account: cmd.Account, Digest: a.person})
}

func (a *account) announceHeld(id bourse.AccountID, ev *bourse.Events) {
	ev.AddFact(bourse.EventAccountHeld, bourse.Fact{Account: id, Until: a.held})
}

func (e *Engine) setAccountFees(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	acct.ownFees, acct.maker, acct.taker = cmd.On, 0, 0
	if cmd.On {
		acct.maker, acct.taker = cmd.Maker, cmd.Taker
	}
	acct.announceFees(cmd.Account, ev)
}

func (a *account) announceFees(id bourse.AccountID, ev *bourse.Events) {
	ev.AddFact(bourse.EventAccountFees, bourse.Fact{Account: id, On: a.ownFees, Maker: a.maker, Taker: a.taker})
}

// credit credits an account with sandbox money.
func (e *Engine) credit(cmd *bourse.Command, ev *bourse.Events) {
	switch {
	case !e.genesis.Sandbox:
		ev.Refuse(bourse.SandboxOnly)
	case e.account(cmd.Account) == nil:
		ev.Refuse(bourse.UnknownAccount)
	case int(cmd.AssetID) >= len(e.assets):
		ev.Refuse(bourse.UnknownAsset)
	case !e.transfer(ev, bourse.Transfer{
		Kind: bourse.TransferCredit, From: bourse.AccountSandbox, To: cmd.Account,
		Asset: cmd.AssetID, Amount: cmd.Amount,
	}):
		ev.Refuse(bourse.Overflow)
	}
}

// collectFees moves the balances of the fee accounts to the treasury.
func (e *Engine) collectFees(ev *bourse.Events) {
	for _, asset := range e.assets[1:] {
		for _, own := range e.ledger.Own(asset.ID) {
			if own.Account != bourse.AccountFees && own.Account != bourse.AccountWithdrawalFees || own.Has.IsZero() {
				continue
			}
			e.transfer(ev, bourse.Transfer{
				Kind: bourse.TransferFeesCollected, From: own.Account, To: bourse.AccountTreasury,
				Asset: asset.ID, Amount: own.Has,
			})
		}
	}
}

// transfer posts and announces a transfer. False means that the ledger refused it.
func (e *Engine) transfer(ev *bourse.Events, t bourse.Transfer) bool {
	if !e.ledger.Transfer(ev, t.From, t.To, t.Asset, t.Amount) {
		return false
	}
	ev.AddTransfer(t)
	return true
}
