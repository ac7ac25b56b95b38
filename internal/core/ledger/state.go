package ledger

import (
	"fmt"
	"iter"

	"github.com/bourse-exchange/bourse"
)

// Customers yields the nonzero balances of an asset's customers, by ascending account.
func (l *Ledger) Customers(asset bourse.AssetID) iter.Seq[bourse.Balance] {
	return func(yield func(bourse.Balance) bool) {
		if int(asset) >= len(l.assets) {
			return
		}
		for id, c := range l.assets[asset].customers.All {
			if c.available.IsZero() && c.held.IsZero() {
				continue
			}
			if !yield(bourse.Balance{
				Account: bourse.AccountID(id), Asset: asset, Available: c.available, Held: c.held,
			}) {
				return
			}
		}
	}
}

// Own returns the nonzero own accounts of an asset, the fee account included, by
// ascending account.
func (l *Ledger) Own(asset bourse.AssetID) []Own {
	if int(asset) >= len(l.assets) {
		return nil
	}
	a := l.assets[asset]
	var list []Own
	fees := Own{Account: bourse.AccountFees, Has: a.fees}
	for _, own := range a.own {
		if own.Account > fees.Account && !fees.Has.IsZero() {
			list = append(list, fees)
			fees.Has = bourse.Amount{}
		}
		if !own.Owes.IsZero() || !own.Has.IsZero() {
			list = append(list, own)
		}
	}
	if !fees.Has.IsZero() {
		list = append(list, fees)
	}
	return list
}

// RestoreCustomer sets a customer's balance on a ledger that is being rebuilt.
func (l *Ledger) RestoreCustomer(b bourse.Balance) {
	*l.Of(b.Asset).customers.At(uint32(b.Account)) = customer{b.Available, b.Held}
}

// RestoreOwn sets an own account on a ledger that is being rebuilt. It returns false for
// an impossible one: a customer's account, one that both owes and has, a fee account that
// owes, or a sum of debts that does not fit.
func (l *Ledger) RestoreOwn(asset bourse.AssetID, own Own) bool {
	a := l.Of(asset)
	owed, fits := a.owed.Add(own.Owes)
	if own.Account < bourse.AccountSandbox || !own.Owes.IsZero() && !own.Has.IsZero() || !fits {
		return false
	}
	if own.Account == bourse.AccountFees {
		a.fees = own.Has
		return own.Owes.IsZero()
	}
	*a.ownAccount(own.Account) = own
	a.owed = owed
	return true
}

// Check recomputes the sums of an asset from scratch. The sum of debts must equal the sum
// of balances.
func (l *Ledger) Check(asset bourse.AssetID) error {
	var owed, owned bourse.Amount
	fits := true
	add := func(sum *bourse.Amount, a bourse.Amount) {
		s, ok := sum.Add(a)
		*sum, fits = s, fits && ok
	}

	for b := range l.Customers(asset) {
		add(&owned, b.Available)
		add(&owned, b.Held)
	}
	for _, own := range l.Own(asset) {
		add(&owed, own.Owes)
		add(&owned, own.Has)
	}

	if int(asset) < len(l.assets) && l.assets[asset].owed != owed {
		return fmt.Errorf("asset %d: %s units are counted as owed and %s found", asset,
			l.assets[asset].owed.Format(0), owed.Format(0))
	}
	if !fits || owed != owned {
		return fmt.Errorf("asset %d: %s units are owed and %s owned", asset, owed.Format(0), owned.Format(0))
	}
	return nil
}
