package sim

import (
	"reflect"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// cloneEvents returns a copy of the events. The values that they point to are immutable.
func cloneEvents(ev *bourse.Events) bourse.Events {
	c := *ev
	c.List, c.Orders, c.Trades = slices.Clone(ev.List), slices.Clone(ev.Orders), slices.Clone(ev.Trades)
	c.Levels, c.Transfers = slices.Clone(ev.Levels), slices.Clone(ev.Transfers)
	c.Facts, c.Balances = slices.Clone(ev.Facts), slices.Clone(ev.Balances)
	c.Moved = slices.Clone(ev.Moved)
	w, from := &c.Wallet, &ev.Wallet
	w.Networks, w.Deposits = slices.Clone(from.Networks), slices.Clone(from.Deposits)
	w.Withdrawals, w.Signed = slices.Clone(from.Withdrawals), slices.Clone(from.Signed)
	w.Unspent, w.Holdings = slices.Clone(from.Unspent), slices.Clone(from.Holdings)
	w.Nonces, w.Addresses = slices.Clone(from.Nonces), slices.Clone(from.Addresses)
	return c
}

// sameEvents reports whether two commands had the same events.
func sameEvents(a, b *bourse.Events) bool {
	return a.Outcome == b.Outcome && slices.Equal(a.List, b.List) && slices.Equal(a.Orders, b.Orders) &&
		slices.Equal(a.Trades, b.Trades) && slices.Equal(a.Levels, b.Levels) &&
		slices.Equal(a.Transfers, b.Transfers) && slices.Equal(a.Balances, b.Balances) &&
		slices.Equal(a.Moved, b.Moved) &&
		deepEqual(a.Facts, b.Facts) && sameWallet(&a.Wallet, &b.Wallet)
}

func sameWallet(a, b *bourse.WalletEvents) bool {
	return slices.Equal(a.Networks, b.Networks) && deepEqual(a.Deposits, b.Deposits) &&
		deepEqual(a.Withdrawals, b.Withdrawals) && deepEqual(a.Signed, b.Signed) &&
		deepEqual(a.Unspent, b.Unspent) && deepEqual(a.Holdings, b.Holdings) &&
		deepEqual(a.Nonces, b.Nonces) && deepEqual(a.Addresses, b.Addresses)
}

// deepEqual compares entries including the values that they point to.
func deepEqual[E any](a, b []E) bool {
	return slices.EqualFunc(a, b, func(x, y E) bool { return reflect.DeepEqual(x, y) })
}
