package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Signed returns a transaction of the exchange that is not final, or nil.
func (n *Network) Signed(tx bourse.TxHash) *bourse.SignedTx { return n.signed[tx] }

// CanSign returns the reason why a transaction cannot go on record, or zero: it is mined,
// or known and not dropped; an input is not free; or its nonce is not the sending
// address's next.
func (n *Network) CanSign(s *bourse.SignedTx) bourse.Reason {
	_, mined := n.txs[s.Tx]
	old := n.signed[s.Tx]
	switch {
	case old != nil && old.State != bourse.SignedDropped || mined:
		return bourse.NotProcessing
	case n.byOutput && !n.free(s.Inputs), !n.byOutput && len(s.Inputs) > 0:
		return bourse.InputTaken
	case !n.byOutput && !n.next(s):
		return bourse.WrongNonce
	}
	return 0
}

// Supersedes reports whether each withdrawal that a transaction pays is paid once at most, whatever nodes report about
// those dropped for it: with each of them the transaction shares an output or its nonce, unless a block at least depth
// deep excludes that one. So all transactions of a withdrawal exclude each other, whichever others each pays.
func (n *Network) Supersedes(s *bourse.SignedTx, depth uint64) bool {
	return !ordered.Any(n.signed, func(old *bourse.SignedTx) bool {
		return old.State == bourse.SignedDropped && old.Shares(s) && !old.Rivals(s) && !n.excluded(old, depth)
	})
}

// excluded reports whether a block at least depth deep holds a transaction that
// excludes s, so that s can never be mined.
func (n *Network) excluded(s *bourse.SignedTx, depth uint64) bool {
	for i := range n.blocks {
		if n.blocks[i].Height+depth > n.Tip.Height+1 {
			break
		}
		for _, m := range n.blocks[i].txs {
			if excludes(m, s) {
				return true
			}
		}
	}
	return false
}

// free reports whether outputs can be spent: each is known, not reserved and named once.
func (n *Network) free(inputs []bourse.Outpoint) bool {
	seen := make(map[bourse.Outpoint]bool, len(inputs))
	for _, at := range inputs {
		u := n.unspent[at]
		if u == nil || u.By != (bourse.TxHash{}) || seen[at] {
			return false
		}
		seen[at] = true
	}
	return len(inputs) > 0
}

// next reports whether a transaction's nonce may be used: it is the address's next, or
// that of a dropped transaction. The first one is zero, so that a stolen exchange cannot have a deposit's
// address begin where the chain never arrives.
func (n *Network) next(s *bourse.SignedTx) bool {
	want := n.nonces[s.From]
	if s.Nonce >= want {
		return s.Nonce == want
	}

	used := func(dropped bool) bool {
		return ordered.Any(n.signed, func(old *bourse.SignedTx) bool {
			return old.From == s.From && old.Nonce == s.Nonce && (old.State == bourse.SignedDropped) == dropped
		})
	}
	return used(true) && !used(false)
}

// Sign puts a transaction on record, reserves its inputs and uses its nonce.
func (n *Network) Sign(ev *bourse.Events, s *bourse.SignedTx) {
	n.signed[s.Tx] = s
	for _, at := range s.Inputs {
		u := n.unspent[at]
		u.By, n.claims[at] = s.Tx, s.Tx
		ev.AddUnspent(u)
	}
	n.use(ev, s)
	ev.AddSigned(s)
}

// use makes a transaction's nonce a used one of its address.
func (n *Network) use(ev *bourse.Events, s *bourse.SignedTx) {
	if next, sent := n.nonces[s.From]; !n.byOutput && (!sent || s.Nonce >= next) {
		n.nonces[s.From] = s.Nonce + 1
		ev.AddNonce(&bourse.Nonce{Network: n.Network, Address: s.From, Next: s.Nonce + 1})
	}
}

// Follows reports whether an entry of the signer's record is the next one.
func (n *Network) Follows(record uint64) bool { return record == n.Record+1 }

// TakeOver notes that the journal has an entry of the signer's record.
func (n *Network) TakeOver(record uint64, chain bourse.TxHash) { n.Record, n.Chain = record, chain }

// Keep puts a transaction on record as a dropped one, unless it is known: it must not be
// sent, and what replaces it must exclude it. If a remembered block has it already, Keep links the two and
// returns the block's transaction.
func (n *Network) Keep(ev *bourse.Events, s *bourse.SignedTx) *Mined {
	height, mined := n.txs[s.Tx]
	if n.signed[s.Tx] != nil {
		return nil
	}
	var m *Mined
	if mined {
		if m = n.stranger(s.Tx, height); m == nil {
			return nil
		}
	}
	s.State = bourse.SignedDropped
	n.signed[s.Tx] = s
	for _, at := range s.Inputs {
		if old := n.signed[n.claims[at]]; old == nil || old.State == bourse.SignedDropped {
			n.claims[at] = s.Tx
		}
	}
	if m != nil {
		m.Signed, m.Was = s, bourse.SignedDropped
		s.State, s.Block = bourse.SignedMined, n.blocks[height-n.blocks[0].Height].BlockRef
		n.use(ev, s)
	}
	ev.AddSigned(s)
	return m
}

// stranger returns the transaction of a remembered block, or nil if it is there in several parts: a
// transaction of the exchange's never is.
func (n *Network) stranger(tx bourse.TxHash, height uint64) (found *Mined) {
	for _, m := range n.blocks[height-n.blocks[0].Height].txs {
		if m.Hash != tx {
			continue
		}
		if found != nil {
			return nil
		}
		found = m
	}
	return found
}

// Drop gives up a transaction that is in no block, and frees its inputs.
func (n *Network) Drop(ev *bourse.Events, s *bourse.SignedTx) {
	s.State = bourse.SignedDropped
	for _, at := range s.Inputs {
		if u := n.unspent[at]; u != nil && u.By == s.Tx {
			u.By = bourse.TxHash{}
			ev.AddUnspent(u)
		}
	}
	ev.AddSigned(s)
}

// DropMoves gives up the waiting sweeps and top-ups that a mined transaction excludes.
func (n *Network) DropMoves(ev *bourse.Events, mined *bourse.SignedTx) {
	for _, s := range n.Excluded(mined) {
		if s.Kind != bourse.SignedWithdrawal {
			n.Drop(ev, s)
		}
	}
}

// Excluded returns the transactions that wait for a block and that a mined one excludes, by hash.
func (n *Network) Excluded(mined *bourse.SignedTx) []*bourse.SignedTx {
	return ordered.Select(n.signed,
		func(s *bourse.SignedTx) bool { return s.State <= bourse.SignedAccepted && s.Rivals(mined) },
		byHash,
	)
}
