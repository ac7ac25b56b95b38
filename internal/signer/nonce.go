package signer

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// payer is the source of a transaction on networks of accounts.
type payer struct {
	// From is the index of the address that pays.
	From  uint32 `json:"from"`
	Nonce uint64 `json:"nonce"`
}

// slot is a payer's place on a network's chain, which holds one transaction.
type slot struct {
	network bourse.NetworkID
	payer
}

// payerOf returns the source of an expected transaction; nil on networks of outputs.
func (n *Network) payerOf(e *Expect) *payer {
	if n.Codec.Shape().Outputs {
		return nil
	}
	p := &payer{From: chain.IndexHot, Nonce: e.Nonce}
	if e.Kind == bourse.SignedSweep {
		p.From = e.Account
	}
	return p
}

// checkNonce checks that no other withdrawal has the payer's nonce: a transaction in its place would
// leave that withdrawal signed, and unpaid for ever. A withdrawal that was ended gives its nonce
// back, because nothing more is signed for it.
func (s *Local) checkNonce(n *Network, e *Expect) error {
	p := n.payerOf(e)
	if p == nil {
		return nil
	}
	holder, taken := s.holders[slot{e.Network, *p}]
	if !taken || holder == e.ID && e.Kind == bourse.SignedWithdrawal {
		return nil
	}
	if s.done[withdrawal{e.Network, holder}].void {
		return nil
	}
	return fmt.Errorf("%w: %d is that of withdrawal %d", ErrNonce, p.Nonce, holder)
}

// hold notes that a withdrawal has the nonce of its transaction. Records of older builds name no
// payer: their bytes tell it.
func (s *Local) hold(e *entry) {
	if e.ID == 0 || e.Void {
		return
	}
	p := e.Payer
	if n, known := s.networks[e.Network]; p == nil && known && !n.Codec.Shape().Outputs {
		if d, err := n.Codec.Decode(e.Raw); err == nil {
			p = &payer{d.From, d.Nonce}
		}
	}
	if p != nil {
		s.holders[slot{e.Network, *p}] = e.ID
	}
}
