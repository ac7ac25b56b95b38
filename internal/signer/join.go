package signer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// ErrBehind says that the record has entries that the asker does not know. Nothing was signed; After tells them.
var ErrBehind = errors.New("the record has entries that were not told")

// Part is a withdrawal that a joined transaction pays.
type Part struct {
	ID bourse.WalletID
	// Amount is the amount that arrives; never zero.
	Amount bourse.Amount
	To     chain.Destination
}

// Share is the amount of a joined transaction that a withdrawal gets, in the units of the coin.
type Share struct {
	ID     bourse.WalletID
	Amount bourse.Amount
}

// PartError is the refusal of a joined transaction because of one of its withdrawals. Without that one it may pass.
type PartError struct {
	ID  bourse.WalletID
	Err error
}

// Error names the withdrawal and the refusal.
func (p *PartError) Error() string { return fmt.Sprintf("withdrawal %d: %v", p.ID, p.Err) }

// Unwrap returns the refusal.
func (p *PartError) Unwrap() error { return p.Err }

// part is a withdrawal of a joined transaction on record.
type part struct {
	ID      bourse.WalletID `json:"id"`
	Attempt uint32          `json:"attempt,omitzero"`
	Amount  string          `json:"amount"`
	Address string          `json:"address"`
	Purpose digest          `json:"purpose"`
	Further bool            `json:"further,omitzero"`
}

// parts returns the withdrawals of an expectation, each as if it stood alone.
func (e *Expect) parts() []Expect {
	first := *e
	first.With = nil
	list := []Expect{first}
	for _, p := range e.With {
		next := first
		next.ID, next.Amount, next.To = p.ID, p.Amount, p.To
		list = append(list, next)
	}
	return list
}

// blame names the withdrawal of a refusal, if the transaction has several.
func (e *Expect) blame(of *Expect, err error) error {
	if err == nil || len(e.With) == 0 {
		return err
	}
	return &PartError{of.ID, err}
}

// checkJoined checks the withdrawals of a joined transaction. None goes to an address of the exchange: it could not be
// told from change, and a block from a payment that did not arrive.
func (n *Network) checkJoined(e *Expect, parts []Expect) error {
	if e.Kind != bourse.SignedWithdrawal || !n.Codec.Shape().Outputs || len(parts) > bourse.MaxJoined {
		return mismatch("it pays several withdrawals")
	}
	for i := range parts {
		p := &parts[i]
		if i > 0 && p.ID <= parts[i-1].ID || p.Amount.IsZero() || p.To.Memo != "" {
			return mismatch("not withdrawals in their order")
		}
		if _, ours := n.Codec.Owner(p.To.Address, ""); ours {
			return e.blame(p, mismatch("%s is the exchange's own", p.To.Address))
		}
	}
	return nil
}

// signJoined signs a transaction that pays several withdrawals. Each is checked as if it stood alone, and its attempt
// is the next one: that the asker knows the whole record excludes that it asks twice for the same. The caller holds mu.
func (s *Local) signJoined(n *Network, e *Expect, raw []byte, cost bourse.Amount) (Signed, error) {
	if e.Known != uint64(len(s.records[e.Network])) {
		return Signed{}, fmt.Errorf("%w: %d, and not %d", ErrBehind, len(s.records[e.Network]), e.Known)
	}
	parts, at := e.parts(), look{raw: raw}
	for i := range parts {
		p := &parts[i]
		before := s.done[withdrawal{p.Network, p.ID}]
		if p.Attempt = before.count(); before != nil && before.void {
			return Signed{}, e.blame(p, ErrVoid)
		}
		if err := s.excludes(n, p, &at, before); err != nil {
			return Signed{}, e.blame(p, err)
		}
	}
	return s.make(n, e, parts, raw, cost)
}

// join describes the withdrawals of an entry that is joined. What counts against the limits is its amount.
func (s *Local) join(n *Network, parts []Expect, made *entry) {
	var counts sum
	for i := range parts {
		p := &parts[i]
		if p.pays() {
			counts.add(p.Amount)
		}
		made.Parts = append(made.Parts, part{
			ID: p.ID, Attempt: p.Attempt, Amount: p.Amount.Format(0), Address: p.To.Address,
			Purpose: s.purpose(n, p), Further: p.further,
		})
	}
	made.Amount, made.Purpose = counts.Format(0), digest{}
}

// ids returns the withdrawals of an entry, or its order.
func (e *entry) ids() []bourse.WalletID {
	switch {
	case len(e.Parts) > 0:
		var list []bourse.WalletID
		for i := range e.Parts {
			list = append(list, e.Parts[i].ID)
		}
		return list
	case e.ID != 0:
		return []bourse.WalletID{e.ID}
	}
	return nil
}

// shares returns the withdrawals of a joined entry with their amounts.
func (e *entry) shares() (list []Share) {
	for i := range e.Parts {
		list = append(list, Share{e.Parts[i].ID, mustParse(e.Parts[i].Amount)})
	}
	return list
}

// counts reports whether the amount of an entry counts against the limits: no earlier one can pay it.
func (e *entry) counts() bool {
	return e.Kind == 0 && (len(e.Parts) > 0 || e.Attempt == 0 || e.Further)
}

// checkPaid checks that an earlier transaction makes the payment that is expected.
func (n *Network) checkPaid(before *entry, d *chain.Decoded, e *Expect) error {
	if len(before.Parts) == 0 {
		return n.checkPays(d, e)
	}
	at := slices.IndexFunc(before.Parts, func(p part) bool { return p.ID == e.ID })
	if at < 0 {
		return mismatch("it does not pay %d", e.ID)
	}
	p := &before.Parts[at]
	if before.Coin != e.Coin || p.Amount != e.Amount.Format(0) || p.Address != e.To.Address || e.To.Memo != "" {
		return mismatch("it pays %s to %s", p.Amount, p.Address)
	}
	return nil
}

// checkPart reports whether a line of the record has the parts of a joined transaction, or none.
func (e *entry) checkParts() bool {
	if len(e.Parts) == 0 {
		return true
	}
	if e.Kind != 0 || e.Void || len(e.Parts) < 2 || len(e.Parts) > bourse.MaxJoined || e.Parts[0].ID != e.ID {
		return false
	}
	last := bourse.WalletID(0)
	for i := range e.Parts {
		a, err := bourse.ParseAmount(e.Parts[i].Amount, 0)
		if err != nil || a.IsZero() || e.Parts[i].ID <= last {
			return false
		}
		last = e.Parts[i].ID
	}
	return true
}
