package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Announce announces the whole state after a restore, and calls told after each entry.
func (c *Custody) Announce(ev *bourse.Events, told func()) {
	for n := range c.Networks {
		if n.empty() {
			continue
		}
		n.Announce(ev)
		for _, next := range n.sortedNonces() {
			ev.AddNonce(&next)
			told()
		}
		for _, h := range n.sortedHoldings() {
			ev.AddHolding(&h)
			told()
		}
		for _, u := range n.outputs() {
			ev.AddUnspent(u)
			told()
		}
		for _, s := range ordered.Values(n.signed, bourse.TxHash.Compare) {
			ev.AddSigned(s)
			told()
		}
	}

	for _, d := range byID(c.deposits) {
		ev.AddDeposit(bourse.EventDepositRestored, d)
		told()
	}

	for _, w := range byID(c.withdrawals) {
		ev.AddWithdrawal(bourse.EventWithdrawalRestored, w)
		told()
	}

	for _, a := range byID(c.addresses) {
		ev.AddAddress(bourse.EventAddressSaved, a)
		told()
	}
}

// Movements yields the ordinals of the accounts' remembered deposits and withdrawals.
func (c *Custody) Movements(yield func(bourse.AccountID, uint64)) {
	for _, d := range byID(c.deposits) {
		if d.Account != 0 {
			yield(d.Account, d.Ordinal)
		}
	}
	for _, w := range byID(c.withdrawals) {
		yield(w.Account, w.Ordinal)
	}
}
