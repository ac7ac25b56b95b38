package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// Write writes the state in its canonical form. What follows from the rest
// (counts, what waits, what is ready) is not written.
func (c *Custody) Write(w *state.Writer) {
	w.Uint64(uint64(c.lastWallet))
	w.Uint64(uint64(c.lastDeposit))
	w.Uint32(uint32(c.lastAddress))
	var used []*Network
	for n := range c.Networks {
		if !n.empty() {
			used = append(used, n)
		}
	}
	w.Uint64(uint64(len(used)))
	for _, n := range used {
		n.write(w)
	}
	w.Uint64(uint64(len(c.deposits)))
	for _, d := range sorted(c.deposits) {
		writeDeposit(w, d)
	}
	w.Uint64(uint64(len(c.withdrawals)))
	for _, wd := range sorted(c.withdrawals) {
		writeWithdrawal(w, wd)
	}
	w.Uint64(uint64(len(c.addresses)))
	for _, a := range sorted(c.addresses) {
		writeSaved(w, a)
	}
	writeNamed(w, &c.named)
	c.keyed.write(w, func(r *request[bourse.RequestHash, bourse.RequestHash]) {
		w.Bytes(r.name[:])
		w.Bytes(r.asked[:])
	})
}

// empty reports whether nothing of a network needs to be written.
func (n *Network) empty() bool {
	return len(n.blocks)+len(n.signed)+len(n.nonces) == 0 && !n.Stopped()
}

func (n *Network) write(w *state.Writer) {
	w.Uint16(uint16(n.Network))
	w.Bool(n.Paused)
	w.Uint8(uint8(n.Halted))
	w.Bool(n.byOutput)
	w.Uint32(n.Part)
	w.Uint64(n.top)
	w.Uint64(uint64(len(n.signed)))
	for _, s := range sortedBy(n.signed, func(a, b *bourse.SignedTx) int { return compareHashes(a.Tx, b.Tx) }) {
		writeSigned(w, s)
	}
	w.Uint64(uint64(len(n.blocks)))
	for i := range n.blocks {
		writeBlock(w, &n.blocks[i])
	}
	w.Uint64(uint64(len(n.unspent)))
	for _, u := range sortedBy(n.unspent, compareUnspent) {
		writeUnspent(w, u)
	}
	w.Uint64(uint64(len(n.holdings)))
	for _, h := range n.sortedHoldings() {
		w.Uint32(h.Address)
		w.Uint16(uint16(h.Asset))
		w.Amount(h.Amount)
	}
	w.Uint64(uint64(len(n.nonces)))
	for _, next := range n.sortedNonces() {
		w.Uint32(next.Address)
		w.Uint64(next.Next)
	}
}

func compareHashes(a, b bourse.TxHash) int { return slices.Compare(a[:], b[:]) }

func compareUnspent(a, b *bourse.Unspent) int {
	return cmp.Or(compareHashes(a.Tx, b.Tx), cmp.Compare(a.Index, b.Index))
}

func (n *Network) sortedHoldings() []bourse.Holding {
	list := make([]bourse.Holding, 0, len(n.holdings))
	for p, amount := range n.holdings {
		list = append(list, bourse.Holding{Network: n.Network, Address: p.address, Asset: p.asset, Amount: amount})
	}
	slices.SortFunc(list, func(a, b bourse.Holding) int {
		return comparePlaces(place{a.Address, a.Asset}, place{b.Address, b.Asset})
	})
	return list
}

func (n *Network) sortedNonces() []bourse.Nonce {
	list := make([]bourse.Nonce, 0, len(n.nonces))
	for address, next := range n.nonces {
		list = append(list, bourse.Nonce{Network: n.Network, Address: address, Next: next})
	}
	slices.SortFunc(list, func(a, b bourse.Nonce) int { return cmp.Compare(a.Address, b.Address) })
	return list
}

func writeRef(w *state.Writer, b bourse.BlockRef) {
	w.Uint64(b.Height)
	w.Bytes(b.Hash[:])
}

func writeBlock(w *state.Writer, b *block) {
	writeRef(w, b.BlockRef)
	w.Bytes(b.parent[:])
	w.Uint64(uint64(b.time))
	w.Uint64(uint64(len(b.txs)))
	for _, m := range b.txs {
		writeMined(w, m)
	}
}

func writeMined(w *state.Writer, m *Mined) {
	w.Bytes(m.Hash[:])
	w.Uint8(uint8(m.Was))
	w.Uint64(uint64(len(m.Taken)))
	for _, t := range m.Taken {
		w.Uint32(t.Address)
		w.Uint16(uint16(t.Asset))
		w.Amount(t.Amount)
	}
	w.Uint64(uint64(len(m.spent)))
	for i := range m.spent {
		writeUnspent(w, &m.spent[i])
	}
	w.Uint64(uint64(len(m.Outputs)))
	for i := range m.Outputs {
		o := &m.Outputs[i]
		w.Uint32(o.Index)
		w.Uint16(uint16(o.Asset))
		w.Amount(o.Amount)
		w.Uint32(uint32(o.Owner))
		w.Uint32(o.Address)
		w.Text(o.Memo)
	}
	w.Uint64(uint64(len(m.Postings)))
	for i := range m.Postings {
		t := &m.Postings[i]
		w.Uint8(uint8(t.Kind))
		w.Uint32(uint32(t.From))
		w.Uint32(uint32(t.To))
		w.Uint16(uint16(t.Asset))
		w.Amount(t.Amount)
	}
}

func writeUnspent(w *state.Writer, u *bourse.Unspent) {
	w.Bytes(u.Tx[:])
	w.Uint32(u.Index)
	w.Uint16(uint16(u.Asset))
	w.Amount(u.Amount)
	w.Uint32(u.Address)
	w.Uint64(u.Height)
	w.Bytes(u.By[:])
}

func writeSigned(w *state.Writer, s *bourse.SignedTx) {
	w.Bytes(s.Tx[:])
	w.Uint8(uint8(s.Kind))
	w.Uint64(uint64(s.Wallet))
	w.Text(string(s.Raw))
	w.Uint64(uint64(len(s.Inputs)))
	for i := range s.Inputs {
		w.Bytes(s.Inputs[i].Tx[:])
		w.Uint32(s.Inputs[i].Index)
	}
	w.Uint32(s.From)
	w.Uint64(s.Nonce)
	w.Uint16(uint16(s.Cost.Asset))
	w.Amount(s.Cost.Amount)
	w.Uint8(uint8(s.State))
	w.Bool(s.Reverted)
	writeRef(w, s.Block)
	w.Uint64(uint64(s.Time))
}

func writeDeposit(w *state.Writer, d *bourse.Deposit) {
	w.Uint64(uint64(d.Number))
	w.Uint64(uint64(d.ID))
	w.Uint64(d.Ordinal)
	w.Uint32(uint32(d.Account))
	w.Uint16(uint16(d.Network))
	w.Uint16(uint16(d.Asset))
	w.Amount(d.Amount)
	w.Bytes(d.Tx[:])
	w.Uint32(d.Index)
	w.Uint32(d.Address)
	w.Text(d.Memo)
	w.Uint8(uint8(d.Status))
	w.Bool(d.BelowMin)
	w.Bool(d.Mined)
	writeRef(w, d.Block)
	w.Uint64(d.Gone)
	w.Uint32(d.Target)
	w.Uint64(uint64(d.Created))
	w.Uint64(uint64(d.Done))
}

func writeWithdrawal(w *state.Writer, d *bourse.Withdrawal) {
	w.Uint64(uint64(d.ID))
	w.Uint64(d.Ordinal)
	w.Uint32(uint32(d.Account))
	writeAsked(w, &d.Withdraw)
	w.Uint8(uint8(d.Status))
	w.Bool(d.Approved)
	w.Bool(d.Sent)
	w.Bool(d.Reverted)
	w.Bytes(d.Tx[:])
	w.Uint64(uint64(d.Created))
	w.Uint64(uint64(d.Done))
	w.Uint64(uint64(d.NotBefore))
	w.Bytes(d.Once.Key[:])
	w.Bytes(d.Once.Body[:])
	w.Bytes(d.Message[:])
}

func writeAsked(w *state.Writer, a *bourse.Withdraw) {
	w.Uint16(uint16(a.Network))
	w.Uint16(uint16(a.Asset))
	w.Amount(a.Amount)
	w.Amount(a.Fee)
	w.Text(a.Address)
	w.Text(a.Memo)
	w.Uint32(uint32(a.Internal))
	w.Bool(a.Factor)
	w.Bytes(a.Save[:])
	w.Bytes(a.ClientID[:])
}

func writeSaved(w *state.Writer, a *bourse.SavedAddress) {
	w.Uint32(uint32(a.ID))
	w.Uint32(uint32(a.Account))
	w.Uint16(uint16(a.Network))
	w.Uint16(uint16(a.Asset))
	w.Text(a.Address)
	w.Text(a.Memo)
	w.Bytes(a.Token[:])
	w.Uint64(uint64(len(a.Trusts)))
	for i := range a.Trusts {
		t := &a.Trusts[i]
		w.Uint16(uint16(t.Asset))
		w.Amount(t.Most)
		w.Uint64(uint64(t.From))
		w.Amount(t.Greater)
		w.Uint64(uint64(t.GreaterFrom))
	}
}

// writeNamed writes the client ids.
func writeNamed(w *state.Writer, q *requests[bourse.ClientID, bourse.Withdraw]) {
	q.write(w, func(r *request[bourse.ClientID, bourse.Withdraw]) { writeAsked(w, &r.asked) })
}

// write writes the names of open withdrawals, by withdrawal, then those of
// requests that ended, oldest first; what writes what was asked for.
func (q *requests[N, A]) write(w *state.Writer, what func(*request[N, A])) {
	var open []*request[N, A]
	for _, r := range q.byName {
		if r.ended == 0 {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b *request[N, A]) int { return cmp.Compare(a.outcome.ID, b.outcome.ID) })
	for _, list := range [...][]*request[N, A]{open, q.live()} {
		w.Uint64(uint64(len(list)))
		for _, r := range list {
			w.Uint32(uint32(r.account))
			what(r)
			w.Uint8(uint8(r.outcome.Reason))
			w.Uint64(r.outcome.ID)
			w.Uint64(uint64(r.ended))
		}
	}
}
