package custody

import "github.com/bourse-exchange/bourse"

// Announce tells the whole state, after a restore. After each entry it calls
// told.
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
		for _, u := range sortedBy(n.unspent, compareUnspent) {
			ev.AddUnspent(u)
			told()
		}
		for _, s := range sortedBy(n.signed, func(a, b *bourse.SignedTx) int { return compareHashes(a.Tx, b.Tx) }) {
			ev.AddSigned(s)
			told()
		}
	}
	for _, d := range sorted(c.deposits) {
		ev.AddDeposit(bourse.EventDepositRestored, d)
		told()
	}
	for _, w := range sorted(c.withdrawals) {
		ev.AddWithdrawal(bourse.EventWithdrawalRestored, w)
		told()
	}
	for _, a := range sorted(c.addresses) {
		ev.AddAddress(bourse.EventAddressSaved, a)
		told()
	}
}

// Movements yields the ordinals that the remembered deposits and withdrawals of
// accounts have.
func (c *Custody) Movements(yield func(bourse.AccountID, uint64)) {
	for _, d := range sorted(c.deposits) {
		if d.Account != 0 {
			yield(d.Account, d.Ordinal)
		}
	}
	for _, w := range sorted(c.withdrawals) {
		yield(w.Account, w.Ordinal)
	}
}
