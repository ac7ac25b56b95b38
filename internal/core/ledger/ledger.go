package ledger

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// Ledger is the state of all balances. The zero value is empty.
type Ledger struct {
	// assets is indexed by id; index zero is unused.
	assets []*Accounts
}

// Accounts are the accounts of one asset.
type Accounts struct {
	asset     bourse.AssetID
	customers table.Table[customer]
	// own is sorted by account. The fee account is in fees instead, because every trade
	// posts to it.
	own  []Own
	fees bourse.Amount
	// owed is the sum of the own accounts' debts.
	owed bourse.Amount
}

type customer struct{ available, held bourse.Amount }

// Own is the state of one of the exchange's own accounts. At most one of Owes and Has is
// above zero.
type Own struct {
	Account bourse.AccountID
	Owes    bourse.Amount
	Has     bourse.Amount
}

// Of returns the accounts of an asset. The pointer stays valid.
func (l *Ledger) Of(asset bourse.AssetID) *Accounts {
	for len(l.assets) <= int(asset) {
		l.assets = append(l.assets, &Accounts{asset: bourse.AssetID(len(l.assets))})
	}
	return l.assets[asset]
}

// customer returns a customer's balances, and creates them if missing. It is not inlined,
// so the postings of orders and trades repeat its lookup by hand.
func (a *Accounts) customer(id bourse.AccountID) *customer {
	return a.customers.At(uint32(id))
}

// Balance returns a customer's balance of an asset.
func (l *Ledger) Balance(account bourse.AccountID, asset bourse.AssetID) bourse.Balance {
	b := bourse.Balance{Account: account, Asset: asset}
	if int(asset) < len(l.assets) {
		if c := l.assets[asset].customers.Find(uint32(account)); c != nil {
			b.Available, b.Held = c.available, c.held
		}
	}
	return b
}

// Available returns an account's available balance.
func (a *Accounts) Available(account bourse.AccountID) bourse.Amount {
	if c := a.customers.Find(uint32(account)); c != nil {
		return c.available
	}
	return bourse.Amount{}
}

// Hold moves amount from available to held. If less is available, it changes nothing and
// returns false.
func (a *Accounts) Hold(ev *bourse.Events, account bourse.AccountID, amount bourse.Amount) bool {
	c := a.customers.Find(uint32(account))
	if c == nil {
		c = a.customers.At(uint32(account))
	}
	left, ok := c.available.Sub(amount)
	if !ok {
		return false
	}
	c.set(ev, account, a.asset, left, c.held.Plus(amount))
	return true
}

// Release moves amount from held back to available.
func (a *Accounts) Release(ev *bourse.Events, account bourse.AccountID, amount bourse.Amount) {
	if amount.IsZero() {
		return
	}
	c := a.customers.Find(uint32(account)) // exists, because it holds amount
	c.set(ev, account, a.asset, c.available.Plus(amount), c.held.Minus(amount))
}

// A trade is settled asset by asset: one side gives, the other receives.

// Give takes amount, which is not zero, out of an account's held balance, and moves
// refund, the price improvement, from held back to available.
func (a *Accounts) Give(ev *bourse.Events, account bourse.AccountID, amount, refund bourse.Amount) {
	c := a.customers.Find(uint32(account)) // exists, because it holds amount
	c.set(ev, account, a.asset, c.available.Plus(refund), c.held.Minus(amount).Minus(refund))
}

// Receive adds amount less fee to an account's available balance, and fee to the fee
// account. fee is at most amount.
func (a *Accounts) Receive(ev *bourse.Events, account bourse.AccountID, amount, fee bourse.Amount) {
	c := a.customers.Find(uint32(account))
	if c == nil {
		c = a.customers.At(uint32(account))
	}
	c.set(ev, account, a.asset, c.available.Plus(amount.Minus(fee)), c.held)
	a.fees = a.fees.Plus(fee)
}

// Transfer moves amount between two accounts, from a customer's available balance or from
// one of the exchange's own accounts, which may go into debt. If a customer has less
// available or the sum of debts would not fit, it changes nothing and returns false.
func (l *Ledger) Transfer(
	ev *bourse.Events, from, to bourse.AccountID, asset bourse.AssetID, amount bourse.Amount,
) bool {
	a := l.Of(asset)
	if from.IsCustomer() {
		c := a.customer(from)
		left, ok := c.available.Sub(amount)
		if !ok {
			return false
		}
		c.set(ev, from, asset, left, c.held)
	} else if !a.take(from, amount) {
		return false
	}
	if to.IsCustomer() {
		c := a.customer(to)
		c.set(ev, to, asset, c.available.Plus(amount), c.held)
	} else {
		a.give(to, amount)
	}
	return true
}

// Pay moves amount from a customer's held balance to another account's available one, or
// to one of the exchange's own accounts.
func (l *Ledger) Pay(ev *bourse.Events, from, to bourse.AccountID, asset bourse.AssetID, amount bourse.Amount) {
	if amount.IsZero() {
		return
	}
	a := l.Of(asset)
	c := a.customer(from)
	c.set(ev, from, asset, c.available, c.held.Minus(amount))
	if to.IsCustomer() {
		c = a.customer(to)
		c.set(ev, to, asset, c.available.Plus(amount), c.held)
	} else {
		a.give(to, amount)
	}
}

// Room reports whether the sum of debts can grow by amount: transfers up to amount in
// total are not refused for lack of room.
func (l *Ledger) Room(asset bourse.AssetID, amount bourse.Amount) bool {
	_, fits := l.Of(asset).owed.Add(amount)
	return fits
}

// take moves amount out of an own account.
func (a *Accounts) take(account bourse.AccountID, amount bourse.Amount) bool {
	if account == bourse.AccountFees {
		left, ok := a.fees.Sub(amount)
		if ok {
			a.fees = left
		}
		return ok
	}
	own := a.ownAccount(account)
	if left, ok := own.Has.Sub(amount); ok {
		own.Has = left
		return true
	}
	short := amount.Minus(own.Has)
	owed, ok := a.owed.Add(short)
	if !ok {
		return false
	}
	a.owed = owed
	own.Has, own.Owes = bourse.Amount{}, own.Owes.Plus(short)
	return true
}

// give moves amount into an own account.
func (a *Accounts) give(account bourse.AccountID, amount bourse.Amount) {
	if account == bourse.AccountFees {
		a.fees = a.fees.Plus(amount)
		return
	}
	own := a.ownAccount(account)
	if left, ok := own.Owes.Sub(amount); ok {
		own.Owes = left
		a.owed = a.owed.Minus(amount)
		return
	}
	own.Has = own.Has.Plus(amount.Minus(own.Owes))
	a.owed = a.owed.Minus(own.Owes)
	own.Owes = bourse.Amount{}
}

// ownAccount returns an own account, and creates it if missing.
func (a *Accounts) ownAccount(account bourse.AccountID) *Own {
	at := 0
	for at < len(a.own) && a.own[at].Account < account {
		at++
	}
	if at == len(a.own) || a.own[at].Account != account {
		a.own = append(a.own, Own{})
		copy(a.own[at+1:], a.own[at:])
		a.own[at] = Own{Account: account}
	}
	return &a.own[at]
}

// set changes and announces a balance.
func (c *customer) set(
	ev *bourse.Events, account bourse.AccountID, asset bourse.AssetID, available, held bourse.Amount,
) {
	c.available, c.held = available, held
	ev.AddBalance(account, asset, available, held)
}
