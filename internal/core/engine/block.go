package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// block applies the next block of a network, or a part of it: completely or not at all.
// Every movement is posted against the network's account, so that account always owes the
// exchange's balance on the chain.
func (e *Engine) block(b *bourse.BlockEffect, ev *bourse.Events) bourse.Reason {
	if e.network(b.Network) == nil {
		return bourse.UnknownNetwork
	}

	n := e.custody.Network(b.Network)
	if reason := n.Admit(b); reason != 0 {
		return reason
	}

	sums, fit := custody.Sums(b)
	for _, s := range sums {
		if e.terms(b.Network, s.Asset) == nil {
			return bourse.BlockInconsistent
		}
	}
	if !fit || !e.room(sums) {
		return bourse.Overflow
	}

	n.Begin(b)
	for i := range b.Txs {
		e.mine(n, &b.Txs[i], ev)
	}
	e.custody.Finish(ev, n)
	if !b.More {
		e.ripen(n, ev)
	}
	return 0
}

// room reports whether the exchange's own accounts can owe the sums on top of their
// debts.
func (e *Engine) room(sums []bourse.AssetAmount) bool {
	for _, s := range sums {
		if !e.ledger.Room(s.Asset, s.Amount) {
			return false
		}
	}
	return true
}

// mine applies one transaction of an admitted block.
func (e *Engine) mine(n *custody.Network, tx *bourse.TxEffect, ev *bourse.Events) {
	m := n.Mine(ev, tx)
	ours := e.ours(n, m, ev)
	if ours {
		e.mineOurs(n, m, ev)
	} else {
		e.mineStrange(n, m, ev)
	}

	moves := ours && m.Signed.Kind != bourse.SignedWithdrawal // between addresses of the exchange
	for i := range tx.Inflows {
		if o := &tx.Inflows[i]; o.Owner != bourse.AccountTreasury && !moves && !e.recount(n, m, o, ev) {
			e.deposit(n, tx, o, ev)
		}
	}

	if m.Signed != nil {
		ev.AddSigned(m.Signed)
	}
}

// ours reports whether a mined transaction counts as the exchange's. A dropped one of a withdrawal does if it is
// taken back. A dropped sweep or top-up always does: it moves money between addresses of the exchange. If its block
// leaves the chain, it is dropped as before, and so are the sweeps and top-ups that it excluded.
func (e *Engine) ours(n *custody.Network, m *custody.Mined, ev *bourse.Events) bool {
	switch {
	case m.Signed == nil:
		return false
	case m.Was != bourse.SignedDropped && !e.joinsLate(n, m.Signed):
		return true
	case m.Signed.Kind != bourse.SignedWithdrawal:
		n.DropMoves(ev, m.Signed)
		e.dropExcluded(n, m.Signed, ev)
		return true
	}
	e.takeBack(n, m, ev)
	return m.Was != bourse.SignedDropped
}

// takeBack restores a dropped transaction as that of its withdrawals, because it was mined and
// pays after all: no other transaction may pay them now. It does nothing if each withdrawal
// is final or paid. Others that it excludes are given up: once its block leaves the chain, it has their outputs again.
func (e *Engine) takeBack(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	d := e.dueOf(n, m.Signed, func(w *bourse.Withdrawal) bool { return w.Tx == m.Hash || e.unpaid(w) })
	if !slices.ContainsFunc(netOf(m), func(c netChange) bool { return e.pays(n, m, &d, c) }) {
		return
	}

	for _, w := range d.to {
		if s := n.Signed(w.Tx); s != nil && s.State != bourse.SignedMined {
			n.Drop(ev, s)
			e.disjoin(s, w, ev)
		}
		w.Tx, w.Reverted, w.Ending = m.Hash, false, false
	}
	e.dropExcluded(n, m.Signed, ev)
	n.TakeBack(m)
	for _, w := range d.to {
		if w.Status != bourse.WalletDone { // the signer may have signed for it without a request
			e.custody.Undelay(w)
			w.Status, w.Approved, w.Signed = bourse.WalletProcessing, true, true
		}
		e.custody.ChangedWithdrawal(ev, w)
	}
}

// dropExcluded gives up what waits for a block and spends an output of a transaction that was given up and is mined all
// the same. Under older rules it waited on for an operator.
func (e *Engine) dropExcluded(n *custody.Network, mined *bourse.SignedTx, ev *bourse.Events) {
	if !n.ByOutput() || e.rules < bourse.RulesJoined && len(mined.Joined) == 0 {
		return
	}
	for _, s := range n.Excluded(mined) {
		n.Drop(ev, s)
		e.disjoin(s, nil, ev)
	}
}

// joinsLate reports whether a joined transaction pays a withdrawal that waits for another one. A block paid that one
// when the joined one was taken back, and the chain has changed since.
func (e *Engine) joinsLate(n *custody.Network, s *bourse.SignedTx) bool {
	if len(s.Joined) == 0 {
		return false
	}
	return len(e.dueOf(n, s, func(w *bourse.Withdrawal) bool { return w.Tx != s.Tx && e.unpaid(w) }).to) > 0
}

// unpaid reports whether no block pays a withdrawal.
func (e *Engine) unpaid(w *bourse.Withdrawal) bool {
	s := e.custody.Network(w.Network).Signed(w.Tx)
	return s == nil || s.State != bourse.SignedMined || s.Reverted
}

// due is what a mined transaction of the exchange pays.
type due struct {
	to    []*bourse.Withdrawal
	asset bourse.AssetID
	// all includes lost, the amounts of a joined transaction for other withdrawals, which are over or paid by another
	// one.
	all, lost bourse.Amount
}

// dueOf returns what a transaction pays to those of its withdrawals that pass. Under older rules one of another network
// was paid too.
func (e *Engine) dueOf(n *custody.Network, s *bourse.SignedTx, pass func(*bourse.Withdrawal) bool) (d due) {
	for id := range s.Payees {
		w, share := e.custody.Withdrawal(id), s.Share(id)
		if w != nil && len(s.Joined) == 0 {
			share = w.Amount
		}
		d.all = d.all.Plus(share) // it is valid: the sum fits
		others := w != nil && w.Network != n.Network && e.rules >= bourse.RulesJoined
		if w == nil || others || w.Amount != share || len(d.to) > 0 && w.Asset != d.asset || !pass(w) {
			d.lost = d.lost.Plus(share)
			continue
		}
		d.to, d.asset = append(d.to, w), w.Asset
	}
	return d
}

// covered reports whether a change is a loss that covers what is paid.
func (d *due) covered(n netChange) bool {
	return !n.gained && n.Asset == d.asset && !n.Amount.Less(d.all)
}

// pays reports whether a change by a mined transaction is the payment of what is due.
func (e *Engine) pays(n *custody.Network, m *custody.Mined, d *due, c netChange) bool {
	return len(d.to) > 0 && d.covered(c) && e.apart(n, m, d.to[0])
}

// mineStrange posts a transaction that the exchange did not sign, or had dropped for a withdrawal that is over. Money
// that it took is the operator's loss and halts the network, unless the block is counted anew: the exchange has
// forgotten its own old transactions.
func (e *Engine) mineStrange(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	for _, t := range m.Outflows {
		e.post(m, ev, bourse.Transfer{
			Kind: bourse.TransferStrange, From: bourse.AccountTreasury, To: outside, Asset: t.Asset, Amount: t.Amount,
		})
		e.haltAtLoss(n, ev)
	}
	for i := range m.Inflows {
		if o := &m.Inflows[i]; o.Owner == bourse.AccountTreasury {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferFunding, From: outside, To: bourse.AccountTreasury,
				Asset: o.Asset, Amount: o.Amount,
			})
		}
	}
}

// mineOurs posts a transaction of the exchange. Of the amount that left, the withdrawals'
// amounts are their payments and the rest the network's fee. If less left, the transaction did
// not pay. What a joined one that was given up pays for a withdrawal that is over is the operator's loss, and halts the
// network.
func (e *Engine) mineOurs(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	d := e.dueOf(n, m.Signed, func(w *bourse.Withdrawal) bool { return w.Tx == m.Hash })

	paid := false
	for _, net := range netOf(m) {
		if net.gained {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferFunding, From: outside, To: bourse.AccountTreasury,
				Asset: net.Asset, Amount: net.Amount,
			})
			continue
		}
		cost := net.Amount
		if e.pays(n, m, &d, net) {
			paid = true
			cost = net.Amount.Minus(d.all)
			e.postPaid(n, m, &d, ev)
		}
		if !cost.IsZero() {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferNetworkCost, From: bourse.AccountNetworkCosts, To: outside,
				Asset: net.Asset, Amount: cost,
			})
		}
	}

	for _, w := range d.to {
		switch {
		case !paid:
			m.Signed.Reverted, w.Reverted = true, true
			e.custody.ChangedWithdrawal(ev, w)
		case w.Status == bourse.WalletProcessing:
			e.settleWithdrawal(w, ev) // the acceptance got lost
		}
	}
}

// postPaid posts what a transaction pays.
func (e *Engine) postPaid(n *custody.Network, m *custody.Mined, d *due, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	for _, w := range d.to {
		e.post(m, ev, bourse.Transfer{
			Kind: bourse.TransferPaid, From: bourse.AccountInTransit, To: outside, Asset: w.Asset, Amount: w.Amount,
		})
	}
	if !d.lost.IsZero() {
		e.post(m, ev, bourse.Transfer{
			Kind: bourse.TransferStrange, From: bourse.AccountTreasury, To: outside, Asset: d.asset, Amount: d.lost,
		})
		e.haltAtLoss(n, ev)
	}
}

// haltAtLoss halts a network of which a stranger or a late transaction took money. A chain that is counted anew has
// what operators know, and stays.
func (e *Engine) haltAtLoss(n *custody.Network, ev *bourse.Events) {
	if !n.Recounts() {
		e.halt(n, bourse.HaltStrangeSpend, ev)
	}
}

// netChange is the exchange's loss or gain of an asset.
type netChange struct {
	bourse.AssetAmount
	gained bool
}

// apart reports whether what left by a transaction can only be a payment of the withdrawal. On a network of accounts,
// which has no joined ones, a payment takes two amounts from its address, the cost and the amount, and a failed
// transaction takes the cost alone. That matters for the coin of the costs, if the transaction may cost as much as it
// pays.
func (e *Engine) apart(n *custody.Network, m *custody.Mined, w *bourse.Withdrawal) bool {
	s := m.Signed
	if e.rules < bourse.RulesRescue || n.ByOutput() || s.Cost.Asset != w.Asset || s.Cost.Amount.Less(w.Amount) {
		return true
	}
	return beside(m, w)
}

// beside reports whether a withdrawal's amount left the sending address as such, and, in the coin of the costs, beside
// another amount.
func beside(m *custody.Mined, w *bourse.Withdrawal) bool {
	amount, others := false, 0
	for _, t := range m.Outflows {
		switch {
		case t.Address != m.Signed.From || t.Asset != w.Asset:
		case t.Amount == w.Amount && !amount:
			amount = true
		default:
			others++
		}
	}
	return amount && (others > 0 || m.Signed.Cost.Asset != w.Asset)
}

// netOf returns, by asset, the effect of a transaction of the exchange on its own
// addresses. If it pays a withdrawal, an inflow to a customer's address is a deposit and
// does not count.
func netOf(m *custody.Mined) []netChange {
	var list []netChange
	add := func(asset bourse.AssetID, amount bourse.Amount, gained bool) {
		for i := range list {
			if n := &list[i]; n.Asset == asset {
				n.add(amount, gained)
				return
			}
		}
		list = append(list, netChange{bourse.AssetAmount{Asset: asset, Amount: amount}, gained})
	}

	for _, t := range m.Outflows {
		add(t.Asset, t.Amount, false)
	}
	for i := range m.Inflows {
		if o := &m.Inflows[i]; o.Owner == bourse.AccountTreasury || m.Signed.Kind != bourse.SignedWithdrawal {
			add(o.Asset, o.Amount, true)
		}
	}

	kept := list[:0]
	for _, n := range list {
		if !n.Amount.IsZero() {
			kept = append(kept, n)
		}
	}
	return kept
}

func (n *netChange) add(amount bourse.Amount, gained bool) {
	switch {
	case n.gained == gained:
		n.Amount = n.Amount.Plus(amount)
	case n.Amount.Less(amount):
		n.Amount, n.gained = amount.Minus(n.Amount), gained
	default:
		n.Amount = n.Amount.Minus(amount)
	}
}

// post carries out a posting of a block and records it for a rewind. It cannot be
// refused, because the block was admitted.
func (e *Engine) post(m *custody.Mined, ev *bourse.Events, t bourse.Transfer) {
	e.must(ev, t)
	m.Postings = append(m.Postings, t)
}

// must carries out a transfer that cannot be refused.
func (e *Engine) must(ev *bourse.Events, t bourse.Transfer) {
	if !e.transfer(ev, t) {
		bourse.Impossible("a transfer of kind %d was refused: %s of asset %d from %d to %d",
			t.Kind, t.Amount.Format(0), t.Asset, t.From, t.To)
	}
}

// rewind reverts the blocks above a height. Their postings are reversed to the unit. A
// deposit in them waits to be mined again; if it was already credited, the network halts.
func (e *Engine) rewind(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Network) == nil {
		return bourse.UnknownNetwork
	}

	n := e.custody.Network(cmd.Network)
	if cmd.Height >= n.Tip.Height {
		return bourse.BlockOutOfOrder
	}
	if !n.Reaches(cmd.Height) {
		e.halt(n, bourse.HaltDeepReorg, ev)
		n.Announce(ev)
		return bourse.RewindTooDeep
	}

	if sums, fit := n.Sums(cmd.Height + 1); !fit || !e.room(sums) {
		return bourse.Overflow
	}

	for n.Tip.Height > cmd.Height {
		n.Undo(ev, func(m *custody.Mined) { e.unmine(n, m, ev) })
	}
	n.Announce(ev)
	return 0
}

// unpost reverts the postings of a transaction, newest first.
func (e *Engine) unpost(m *custody.Mined, ev *bourse.Events) {
	for i := len(m.Postings) - 1; i >= 0; i-- {
		t := m.Postings[i]
		e.must(ev, bourse.Transfer{
			Kind: bourse.TransferRewound, From: t.To, To: t.From, Asset: t.Asset, Amount: t.Amount,
		})
	}
}

// unmine reverts mine, newest first.
func (e *Engine) unmine(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	for i := len(m.Inflows) - 1; i >= 0; i-- {
		if d := n.Deposit(m.Hash, m.Inflows[i].Index); d != nil && d.Mined {
			e.undeposit(n, d, ev)
		}
	}
	e.unpost(m, ev)
	if m.Signed == nil || m.Signed.Kind != bourse.SignedWithdrawal {
		return
	}
	paid := e.custody.PaidBy(m.Signed)
	if len(paid) == 0 {
		m.Was = bourse.SignedDropped // dropped while it was mined without paying
	}
	for _, w := range paid {
		if w.Reverted {
			w.Reverted = false
			e.custody.ChangedWithdrawal(ev, w)
		}
	}
}
