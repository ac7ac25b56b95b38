package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

// block takes in the next block of a network, or a part of it: all that it says,
// or nothing. Every unit that it moves is posted against the network's account,
// which so owes at every moment what the chain says the exchange has there.
func (e *Engine) block(b *bourse.Block, ev *bourse.Events) bourse.Reason {
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

// room reports whether own accounts could owe so much more of each asset.
func (e *Engine) room(sums []bourse.AssetAmount) bool {
	for _, s := range sums {
		if !e.ledger.Room(s.Asset, s.Amount) {
			return false
		}
	}
	return true
}

// mine takes in one transaction of an admitted block.
func (e *Engine) mine(n *custody.Network, tx *bourse.Tx, ev *bourse.Events) {
	m := n.Mine(ev, tx)
	if m.Signed != nil && m.Was == bourse.SignedDropped {
		e.takeBack(n, m, ev)
	}
	ours := m.Signed != nil && m.Was != bourse.SignedDropped
	if ours {
		e.mineOurs(n, m, ev)
	} else {
		e.mineStrange(n, m, ev)
	}
	moves := ours && m.Signed.Kind != bourse.SignedWithdrawal // between addresses of the exchange
	for i := range tx.Outputs {
		if o := &tx.Outputs[i]; o.Owner != bourse.AccountTreasury && !moves {
			e.deposit(n, tx, o, ev)
		}
	}
	if m.Signed != nil {
		ev.AddSigned(m.Signed)
	}
}

// takeBack makes a transaction that was given up, and is mined and pays all the
// same, its withdrawal's again, unless that is over or paid: nothing else may pay
// it now.
func (e *Engine) takeBack(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	w := e.custody.Withdrawal(m.Signed.Wallet)
	if w == nil || !slices.ContainsFunc(netOf(m), func(c netChange) bool { return c.pays(w) }) {
		return
	}
	switch s := n.Signed(w.Tx); {
	case s == nil:
	case s.State != bourse.SignedMined:
		n.Drop(ev, s)
	case !s.Reverted:
		return
	}
	n.TakeBack(m)
	w.Tx, w.Reverted = m.Hash, false
	e.custody.ChangedWithdrawal(ev, w)
}

// mineStrange posts what a transaction did that the exchange did not sign, or had
// given up. Money that it took is the operator's loss, and stops the network.
func (e *Engine) mineStrange(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	for _, t := range m.Taken {
		e.post(m, ev, bourse.Transfer{
			Kind: bourse.TransferStrange, From: bourse.AccountTreasury, To: outside, Asset: t.Asset, Amount: t.Amount,
		})
		n.Halt(bourse.HaltStrangeSpend)
	}
	for i := range m.Outputs {
		if o := &m.Outputs[i]; o.Owner == bourse.AccountTreasury {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferFunding, From: outside, To: bourse.AccountTreasury, Asset: o.Asset, Amount: o.Amount,
			})
		}
	}
}

// mineOurs posts what a transaction of the exchange did. Of what left, as much as
// the withdrawal's amount is what it paid; the rest is what the network took. If
// less left, it did not pay.
func (e *Engine) mineOurs(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	outside := bourse.NetworkAccount(n.Network)
	w := e.custody.Withdrawal(m.Signed.Wallet)
	if w != nil && w.Tx != m.Hash {
		w = nil
	}
	paid := false
	for _, net := range netOf(m) {
		if net.gained {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferFunding, From: outside, To: bourse.AccountTreasury, Asset: net.Asset, Amount: net.Amount,
			})
			continue
		}
		cost := net.Amount
		if w != nil && net.pays(w) {
			paid = true
			cost = net.Amount.Minus(w.Amount)
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferPaid, From: bourse.AccountInTransit, To: outside, Asset: net.Asset, Amount: w.Amount,
			})
		}
		if !cost.IsZero() {
			e.post(m, ev, bourse.Transfer{
				Kind: bourse.TransferNetworkCost, From: bourse.AccountNetworkCosts, To: outside, Asset: net.Asset, Amount: cost,
			})
		}
	}
	switch {
	case w == nil:
	case paid && w.Status == bourse.WalletProcessing:
		e.settleWithdrawal(w, ev) // the network's acceptance got lost
	case !paid:
		m.Signed.Reverted, w.Reverted = true, true
		e.custody.ChangedWithdrawal(ev, w)
	}
}

// netChange is what the exchange lost of an asset, or gained.
type netChange struct {
	bourse.AssetAmount
	gained bool
}

// pays reports whether the change is enough to be what a withdrawal pays.
func (n *netChange) pays(w *bourse.Withdrawal) bool {
	return !n.gained && n.Asset == w.Asset && !n.Amount.Less(w.Amount)
}

// netOf returns what a transaction of the exchange did to its own addresses, by
// asset. Where it pays a withdrawal, what reaches a customer's address is a
// deposit and not the exchange's.
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
	for _, t := range m.Taken {
		add(t.Asset, t.Amount, false)
	}
	for i := range m.Outputs {
		if o := &m.Outputs[i]; o.Owner == bourse.AccountTreasury || m.Signed.Kind != bourse.SignedWithdrawal {
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

// post carries out a posting of a block and remembers it, so that a rewind takes
// it back. There is room for it: the block was admitted.
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

// rewind takes back the blocks above a height. What they posted is taken back to
// the unit; a deposit that they had brought waits to be mined again, and if it
// was credited already, the network is stopped.
func (e *Engine) rewind(cmd *bourse.WalletCommand, ev *bourse.Events) bourse.Reason {
	if e.network(cmd.Network) == nil {
		return bourse.UnknownNetwork
	}
	n := e.custody.Network(cmd.Network)
	if cmd.Height >= n.Tip.Height {
		return bourse.BlockOutOfOrder
	}
	if !n.Reaches(cmd.Height) {
		n.Halt(bourse.HaltDeepReorg)
		n.Announce(ev)
		return bourse.RewindTooDeep
	}
	if sums, fit := n.Sums(cmd.Height); !fit || !e.room(sums) {
		return bourse.Overflow
	}
	for n.Tip.Height > cmd.Height {
		n.Undo(ev, func(m *custody.Mined) { e.unmine(n, m, ev) })
	}
	n.Announce(ev)
	return 0
}

// unmine takes back what mine did, newest first.
func (e *Engine) unmine(n *custody.Network, m *custody.Mined, ev *bourse.Events) {
	for i := len(m.Outputs) - 1; i >= 0; i-- {
		if d := n.Deposit(m.Hash, m.Outputs[i].Index); d != nil && d.Mined {
			e.undeposit(n, d, ev)
		}
	}
	for i := len(m.Postings) - 1; i >= 0; i-- {
		t := m.Postings[i]
		e.must(ev, bourse.Transfer{
			Kind: bourse.TransferRewound, From: t.To, To: t.From, Asset: t.Asset, Amount: t.Amount,
		})
	}
	if m.Signed == nil || m.Signed.Kind != bourse.SignedWithdrawal {
		return
	}
	w := e.custody.Withdrawal(m.Signed.Wallet)
	switch {
	case w == nil || w.Tx != m.Hash:
		m.Was = bourse.SignedDropped // given up while it was mined and had not paid
	case w.Reverted:
		w.Reverted = false
		e.custody.ChangedWithdrawal(ev, w)
	}
}
