package view

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// wallet is the view's state of deposits and withdrawals across accounts.
type wallet struct {
	networks map[bourse.NetworkID]bourse.NetworkState
	// waiting are the deposits that need an operator: without an account, below the minimum, or
	// beyond a limit or what one node alone credits.
	waiting map[bourse.DepositID]bourse.Deposit
	// leaving are the open withdrawals, and reverted ones until an operator decides.
	leaving map[bourse.WalletID]bourse.Withdrawal
	// last is the highest ID of a deposit or withdrawal seen.
	last bourse.WalletID
}

func newWallet() wallet {
	return wallet{
		networks: map[bourse.NetworkID]bourse.NetworkState{},
		waiting:  map[bourse.DepositID]bourse.Deposit{},
		leaving:  map[bourse.WalletID]bourse.Withdrawal{},
	}
}

// foldDeposit folds a deposit. A canceled one stays open: it may be mined again.
func (v *View) foldDeposit(e bourse.Event, d *bourse.Deposit) {
	if d.NeedsOperator() {
		v.wallet.waiting[d.Number] = *d
	} else {
		delete(v.wallet.waiting, d.Number)
	}
	if d.Account == 0 {
		return
	}
	v.wallet.last = max(v.wallet.last, d.ID)
	a := v.account(d.Account)
	a.Movements = max(a.Movements, d.Ordinal)
	a.Streams.Transfers = max(a.Streams.Transfers, e.StreamSeq)
	a.deposits = settle(a.deposits, *d, d.Status == bourse.WalletDone, depositOrdinal)
}

func (v *View) foldWithdrawal(e bourse.Event, w *bourse.Withdrawal) {
	over := w.Status == bourse.WalletDone || w.Status == bourse.WalletCanceled
	if !over || w.Reverted && !w.Refunded {
		v.wallet.leaving[w.ID] = *w
	} else {
		delete(v.wallet.leaving, w.ID)
	}
	v.wallet.last = max(v.wallet.last, w.ID)
	a := v.account(w.Account)
	a.Movements = max(a.Movements, w.Ordinal)
	a.Streams.Transfers = max(a.Streams.Transfers, e.StreamSeq)
	a.withdrawals = settle(a.withdrawals, *w, over, withdrawalOrdinal)
}

func depositOrdinal(d *bourse.Deposit) uint64       { return d.Ordinal }
func withdrawalOrdinal(w *bourse.Withdrawal) uint64 { return w.Ordinal }

// settle inserts or replaces an entry in a list by ascending ordinal, or removes it if it
// is over.
func settle[T any](list []T, entry T, over bool, ordinal func(*T) uint64) []T {
	at, found := slices.BinarySearchFunc(list, ordinal(&entry), func(e T, n uint64) int {
		return cmp.Compare(ordinal(&e), n)
	})
	switch {
	case found && over:
		return slices.Delete(list, at, at+1)
	case found:
		list[at] = entry
	case !over:
		return slices.Insert(list, at, entry)
	}
	return list
}

// span returns copies of a list's entries with ordinals in [first, last], newest first.
func span[T any](list []T, first, last uint64, ordinal func(*T) uint64) []T {
	var found []T
	for i := len(list) - 1; i >= 0 && ordinal(&list[i]) >= first; i-- {
		if ordinal(&list[i]) <= last {
			found = append(found, list[i])
		}
	}
	return found
}

// Movements returns the ordinal of an account's last deposit or withdrawal.
func (v *View) Movements(id bourse.AccountID) uint64 {
	a, _ := v.Account(id)
	return a.Movements
}

// LastMovement returns the highest ID of a deposit or withdrawal seen; one that was over
// before a restart may be higher.
func (v *View) LastMovement() bourse.WalletID {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.wallet.last
}

// OpenMovements returns copies of an account's open deposits and withdrawals with
// ordinals in [first, last], newest first. Canceled deposits are included.
func (v *View) OpenMovements(id bourse.AccountID, first, last uint64) ([]bourse.Deposit, []bourse.Withdrawal) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil, nil
	}
	return span(a.deposits, first, last, depositOrdinal), span(a.withdrawals, first, last, withdrawalOrdinal)
}

// OpenWithdrawals returns the number of an account's open withdrawals.
func (v *View) OpenWithdrawals(id bourse.AccountID) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		return len(a.withdrawals)
	}
	return 0
}

// OpenMovement returns an account's open deposit or withdrawal; both are nil if there is
// none.
func (v *View) OpenMovement(id bourse.AccountID, movement bourse.WalletID) (*bourse.Deposit, *bourse.Withdrawal) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil, nil
	}

	// IDs ascend with ordinals.
	at, found := slices.BinarySearchFunc(a.deposits, movement, func(d bourse.Deposit, id bourse.WalletID) int {
		return cmp.Compare(d.ID, id)
	})
	if found {
		d := a.deposits[at]
		return &d, nil
	}

	at, found = slices.BinarySearchFunc(a.withdrawals, movement, func(w bourse.Withdrawal, id bourse.WalletID) int {
		return cmp.Compare(w.ID, id)
	})
	if found {
		w := a.withdrawals[at]
		return nil, &w
	}
	return nil, nil
}

// NetworkState returns the exchange's state on a network.
func (v *View) NetworkState(id bourse.NetworkID) bourse.NetworkState {
	v.mu.RLock()
	defer v.mu.RUnlock()
	n := v.wallet.networks[id]
	n.Network = id
	return n
}

// Leaving returns the open withdrawals of all accounts, by ID, and those whose
// transaction was mined without paying, until an operator decides.
func (v *View) Leaving() []bourse.Withdrawal {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.SortedFunc(maps.Values(v.wallet.leaving), func(a, b bourse.Withdrawal) int {
		return cmp.Compare(a.ID, b.ID)
	})
}

// Parked returns the deposits that wait for an operator, by number: those without an
// account, those below the minimum, and those beyond the limit of their account's tier or what one node alone credits.
func (v *View) Parked() []bourse.Deposit {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return slices.SortedFunc(maps.Values(v.wallet.waiting), func(a, b bourse.Deposit) int {
		return cmp.Compare(a.Number, b.Number)
	})
}

// NetworkAsset returns the terms of an asset on a network, or nil; disabled ones are
// included.
func (c *Catalogue) NetworkAsset(network bourse.NetworkID, asset bourse.AssetID) *bourse.NetworkAsset {
	for _, n := range c.NetworkAssets {
		if n.Network == network && n.Asset == asset {
			return n
		}
	}
	return nil
}
