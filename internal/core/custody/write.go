package custody

import (
	"cmp"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Write writes the state in its canonical form. Derived state (counts, waiting, ready) is
// not written.
func (c *Custody) Write(w *codec.Codec) {
	c.code(w)
	var used []*Network
	for n := range c.Networks {
		if !n.empty() {
			used = append(used, n)
		}
	}
	w.Count(len(used))
	for _, n := range used {
		n.write(w)
	}

	w.Count(len(c.deposits))
	for _, d := range byID(c.deposits) {
		w.Deposit(d)
	}
	w.Count(len(c.withdrawals))
	for _, d := range byID(c.withdrawals) {
		w.Withdrawal(d)
	}
	w.Count(len(c.addresses))
	for _, a := range byID(c.addresses) {
		codeSaved(w, a)
	}
	c.named.write(w, codeNamed)
	c.keyed.write(w, codeKeyed)
}

// empty reports whether a network has no state to write.
func (n *Network) empty() bool {
	return len(n.blocks)+len(n.signed)+len(n.nonces) == 0 && n.Record == 0 && !n.Stopped() && n.Recount == bourse.BlockRef{}
}

func (n *Network) write(w *codec.Codec) {
	n.code(w)
	w.Count(len(n.signed))
	for _, s := range ordered.Values(n.signed, bourse.TxHash.Compare) {
		codeSigned(w, s)
	}

	w.Count(len(n.blocks))
	for i := range n.blocks {
		b := &n.blocks[i]
		b.code(w)
		w.Count(len(b.txs))
		for _, m := range b.txs {
			m.code(w)
		}
	}

	w.Count(len(n.unspent))
	for _, u := range n.outputs() {
		w.Unspent(u)
	}
	w.Count(len(n.holdings))
	for _, h := range n.sortedHoldings() {
		w.Holding(&h)
	}
	w.Count(len(n.nonces))
	for _, next := range n.sortedNonces() {
		w.Nonce(&next)
	}
}

// byHash orders transactions by their hashes.
func byHash(a, b *bourse.SignedTx) int { return a.Tx.Compare(b.Tx) }

func compareOutpoints(a, b bourse.Outpoint) int {
	return cmp.Or(a.Tx.Compare(b.Tx), cmp.Compare(a.Index, b.Index))
}

// outputs returns the unspent outputs in their canonical order.
func (n *Network) outputs() []*bourse.Unspent { return ordered.Values(n.unspent, compareOutpoints) }

func (n *Network) sortedHoldings() []bourse.Holding {
	list := make([]bourse.Holding, 0, len(n.holdings))
	for _, p := range ordered.Keys(n.holdings, comparePlaces) {
		list = append(list, bourse.Holding{
			Network: n.Network, Address: p.address, Asset: p.asset, Amount: n.holdings[p],
		})
	}
	return list
}

func (n *Network) sortedNonces() []bourse.Nonce {
	list := make([]bourse.Nonce, 0, len(n.nonces))
	for _, address := range ordered.Keys(n.nonces, cmp.Compare[uint32]) {
		list = append(list, bourse.Nonce{Network: n.Network, Address: address, Next: n.nonces[address]})
	}
	return list
}

// write writes the requests of open withdrawals, by withdrawal, then the ended ones,
// oldest first.
func (q *requests[N, A]) write(w *codec.Codec, code func(*codec.Codec, *request[N, A])) {
	open := ordered.Select(q.byName,
		func(r *request[N, A]) bool { return r.ended == 0 },
		func(a, b *request[N, A]) int { return cmp.Compare(a.outcome.ID, b.outcome.ID) })
	for _, list := range [...][]*request[N, A]{open, q.live()} {
		w.Count(len(list))
		for _, r := range list {
			code(w, r)
		}
	}
}
