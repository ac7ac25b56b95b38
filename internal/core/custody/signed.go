package custody

import (
	"github.com/bourse-exchange/bourse"
)

// Signed returns a transaction of the exchange that is not final, or nil.
func (n *Network) Signed(tx bourse.TxHash) *bourse.SignedTx { return n.signed[tx] }

// CanSign says why a transaction cannot go on record, or zero: it is there
// already and was not given up, spends what is not free, or is not the sending
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

// Supersedes reports whether at most one will be paid of a withdrawal's transaction
// and those that were given up for it, whatever was said of them: with each it shares
// an output or its number, unless a block at least depth deep keeps that one out.
func (n *Network) Supersedes(s *bourse.SignedTx, depth uint64) bool {
	for _, old := range n.signed {
		if old.Wallet == s.Wallet && old.State == bourse.SignedDropped && !old.Rivals(s) && !n.keptOut(old, depth) {
			return false
		}
	}
	return true
}

// keptOut reports whether a transaction that excludes another one is at least depth
// blocks deep.
func (n *Network) keptOut(s *bourse.SignedTx, depth uint64) bool {
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

// free reports whether outputs can be spent: each is known, reserved by nobody
// and named once.
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

// next reports whether a transaction's nonce may be used: it is the address's
// next, or that of one that was given up. Of an address that never sent through
// the exchange any is taken, because it may have sent before.
func (n *Network) next(s *bourse.SignedTx) bool {
	want, sent := n.nonces[s.From]
	if !sent || s.Nonce >= want {
		return !sent || s.Nonce == want
	}
	dropped := false
	for _, old := range n.signed {
		if old.From != s.From || old.Nonce != s.Nonce {
			continue
		}
		if old.State != bourse.SignedDropped {
			return false
		}
		dropped = true
	}
	return dropped
}

// Sign puts a transaction on record: its inputs are reserved, its nonce is used.
func (n *Network) Sign(ev *bourse.Events, s *bourse.SignedTx) {
	n.signed[s.Tx] = s
	for _, at := range s.Inputs {
		u := n.unspent[at]
		u.By, n.claims[at] = s.Tx, s.Tx
		ev.AddUnspent(u)
	}
	if next, sent := n.nonces[s.From]; !n.byOutput && (!sent || s.Nonce >= next) {
		n.nonces[s.From] = s.Nonce + 1
		ev.AddNonce(&bourse.Nonce{Network: n.Network, Address: s.From, Next: s.Nonce + 1})
	}
	ev.AddSigned(s)
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
