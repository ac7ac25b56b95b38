package custody

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Mine applies a transaction of the admitted block that Begin opened: it moves the money
// on the network and remembers the transaction.
func (n *Network) Mine(ev *bourse.Events, tx *bourse.TxEffect) *Mined {
	m := &Mined{TxEffect: tx, Signed: n.signed[tx.Hash]}
	for i := range tx.Spent {
		u := n.unspent[tx.Spent[i]]
		delete(n.unspent, tx.Spent[i])
		gone := *u
		gone.By = bourse.TxHash{}
		m.spent = append(m.spent, gone)
		gone.Gone = true
		ev.AddUnspent(&gone)
	}

	if n.byOutput {
		for i := range tx.Inflows {
			n.addUnspent(ev, tx, &tx.Inflows[i])
		}
	} else {
		n.moveHoldings(ev, tx, false)
	}

	if m.Signed != nil {
		m.Was = m.Signed.State
		m.Signed.State, m.Signed.Block = bourse.SignedMined, n.Tip
		n.use(ev, m.Signed) // one that was kept as dropped has used its nonce after all
	}

	n.txs[tx.Hash] = n.Tip.Height
	tip := &n.blocks[len(n.blocks)-1]
	tip.txs = append(tip.txs, m)
	return m
}

// TakeBack undoes the drop of a mined transaction: if its block leaves the chain, it
// counts as accepted and has its inputs again.
func (n *Network) TakeBack(m *Mined) {
	m.Was = bourse.SignedAccepted
	n.claim(m.Signed)
}

// claim makes a transaction the one that has its inputs, once they are there.
func (n *Network) claim(s *bourse.SignedTx) {
	for _, at := range s.Inputs {
		n.claims[at] = s.Tx
	}
}

func (n *Network) addUnspent(ev *bourse.Events, tx *bourse.TxEffect, o *bourse.Inflow) {
	u := &bourse.Unspent{
		Network: n.Network, Outpoint: bourse.Outpoint{Tx: tx.Hash, Index: o.Index},
		Asset: o.Asset, Amount: o.Amount, Address: o.Address, Height: n.Tip.Height,
	}
	n.putUnspent(ev, u)
}

// putUnspent adds an unspent output. After a reorganisation it may belong to a
// transaction that is signed already.
func (n *Network) putUnspent(ev *bourse.Events, u *bourse.Unspent) {
	if by := n.claims[u.Outpoint]; n.reserves(n.signed[by], u.Outpoint) {
		u.By = by
	}
	n.unspent[u.Outpoint] = u
	ev.AddUnspent(u)
}

// moveHoldings applies a transaction to the holdings of addresses, or, with back, reverts
// it.
func (n *Network) moveHoldings(ev *bourse.Events, tx *bourse.TxEffect, back bool) {
	taken := func() {
		for _, t := range tx.Outflows {
			n.moveHolding(ev, place{t.Address, t.Asset}, t.Amount, back)
		}
	}
	// Outflows come before inflows, and after them in reverse, so that no holding is ever
	// below zero.
	if !back {
		taken()
	}
	for i := range tx.Inflows {
		o := &tx.Inflows[i]
		n.moveHolding(ev, place{o.Address, o.Asset}, o.Amount, !back)
	}
	if back {
		taken()
	}
}

func (n *Network) moveHolding(ev *bourse.Events, at place, amount bourse.Amount, add bool) {
	has := n.holdings[at]
	if add {
		has = has.Plus(amount)
	} else {
		has = has.Minus(amount)
	}
	if has.IsZero() {
		delete(n.holdings, at)
	} else {
		n.holdings[at] = has
	}
	ev.AddHolding(&bourse.Holding{Network: n.Network, Address: at.address, Asset: at.asset, Amount: has})
}

// Finish ends a command's part of a block, and forgets the state of blocks that became
// final.
func (c *Custody) Finish(ev *bourse.Events, n *Network) {
	for len(n.blocks) > MaxBlocks {
		final := n.blocks[0].txs
		n.blocks = slices.Delete(n.blocks, 0, 1)
		for _, m := range final {
			c.settle(ev, n, m)
		}
	}
	n.Announce(ev)
}

// settle forgets the state that only a transaction, now final, kept.
func (c *Custody) settle(ev *bourse.Events, n *Network, m *Mined) {
	delete(n.txs, m.Hash)
	for i := range m.Inflows {
		d := n.Deposit(m.Hash, m.Inflows[i].Index)
		if d != nil && d.Mined && d.Status == bourse.WalletDone {
			c.forgetDeposit(n, d)
		}
	}

	for _, s := range n.droppedBy(m) {
		s.State = bourse.SignedFinal
		ev.AddSigned(s)
		n.forgetSigned(s)
	}
	s := m.Signed
	if s == nil {
		return
	}

	s.State = bourse.SignedFinal
	ev.AddSigned(s)
	n.forgetSigned(s)
	for _, w := range c.PaidBy(s) {
		if !s.Reverted {
			delete(c.withdrawals, w.ID)
		}
	}
}

// droppedBy returns the dropped transactions that a transaction excludes, by hash.
func (n *Network) droppedBy(m *Mined) []*bourse.SignedTx {
	return ordered.Select(n.signed,
		func(s *bourse.SignedTx) bool { return s.State == bourse.SignedDropped && excludes(m, s) },
		byHash)
}

func (n *Network) forgetSigned(s *bourse.SignedTx) {
	delete(n.signed, s.Tx)
	for _, at := range s.Inputs {
		if n.claims[at] == s.Tx {
			delete(n.claims, at)
		}
	}
}

// excludes reports whether a final transaction and another cannot be in one chain: they
// spend the same output, or use the same nonce.
func excludes(m *Mined, s *bourse.SignedTx) bool {
	for i := range m.spent {
		if slices.Contains(s.Inputs, m.spent[i].Outpoint) {
			return true
		}
	}
	return m.Signed != nil && m.Signed != s && m.Signed.Rivals(s)
}

// Undo takes back the tip, newest transaction first. It calls undo for each transaction
// before it restores the outputs and inputs.
func (n *Network) Undo(ev *bourse.Events, undo func(*Mined)) {
	last := n.blocks[len(n.blocks)-1]
	for i := len(last.txs) - 1; i >= 0; i-- {
		m := last.txs[i]
		undo(m)
		n.unmine(ev, m)
	}
	n.blocks[len(n.blocks)-1] = block{}
	n.blocks = n.blocks[:len(n.blocks)-1]
	var tip block
	if len(n.blocks) > 0 {
		tip = n.blocks[len(n.blocks)-1]
	}
	n.Tip, n.Time, n.Part = tip.BlockRef, tip.time, 0
}

func (n *Network) unmine(ev *bourse.Events, m *Mined) {
	delete(n.txs, m.Hash)
	if s := m.Signed; s != nil {
		s.State, s.Block, s.Reverted = m.Was, bourse.BlockRef{}, false
		if s.State == bourse.SignedWaiting {
			s.State = bourse.SignedAccepted
		}
		ev.AddSigned(s)
	}

	if n.byOutput {
		for i := range m.Inflows {
			at := bourse.Outpoint{Tx: m.Hash, Index: m.Inflows[i].Index}
			gone := *n.unspent[at]
			gone.Gone = true
			delete(n.unspent, at)
			ev.AddUnspent(&gone)
		}
		for i := len(m.spent) - 1; i >= 0; i-- {
			back := m.spent[i]
			n.putUnspent(ev, &back)
		}
	} else {
		n.moveHoldings(ev, m.TxEffect, true)
	}
}

// reserves reports whether a transaction may still spend an output.
func (n *Network) reserves(s *bourse.SignedTx, at bourse.Outpoint) bool {
	return s != nil && s.State <= bourse.SignedAccepted && slices.Contains(s.Inputs, at)
}
