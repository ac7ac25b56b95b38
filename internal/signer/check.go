package signer

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

func mismatch(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMismatch, fmt.Sprintf(format, args...))
}

// check compares all effects of the bytes with the expectation.
func (n *Network) check(raw []byte, e *Expect) (cost bourse.Amount, err error) {
	d, err := n.Codec.Decode(raw)
	if err != nil {
		return cost, mismatch("%v", err)
	}
	if d.Signed {
		return cost, mismatch("it is signed already")
	}

	if err := n.checkPurpose(e); err != nil {
		return cost, err
	}
	if err := n.checkPayer(&d, e); err != nil {
		return cost, err
	}
	if len(e.With) > 0 {
		err = n.checkJoined(e, e.parts())
	}
	if err == nil {
		err = n.checkPays(&d, e)
	}
	if err != nil {
		return cost, err
	}

	if e.CostCap.Less(d.Cost) {
		return cost, mismatch("it costs %s, more than %s", d.Cost.Format(0), e.CostCap.Format(0))
	}
	if n.MaxCost.Less(d.Cost) || e.Kind == bourse.SignedTopUp && n.MaxCost.Less(e.Amount) {
		return cost, fmt.Errorf("%w: a cost of %s", ErrLimit, d.Cost.Format(0))
	}
	return d.Cost, nil
}

// checkPurpose checks the destination of a kind of payment against the signer's own
// addresses.
func (n *Network) checkPurpose(e *Expect) error {
	shape := n.Codec.Shape()
	switch e.Kind {
	case bourse.SignedWithdrawal:
		if e.ID == 0 || e.Account != 0 || e.Amount.IsZero() {
			return mismatch("not a withdrawal")
		}
		return nil
	case bourse.SignedSweep:
		if shape.Sweeps && e.ID == 0 && isCustomer(e.Account) && e.To == n.Codec.Destination(chain.IndexHot) &&
			!e.Amount.IsZero() {
			return nil
		}
	case bourse.SignedTopUp:
		if shape.Sweeps && e.ID == 0 && isCustomer(e.Account) && e.Coin == shape.Native &&
			e.To == n.Codec.Destination(e.Account) && !e.Amount.IsZero() {
			return nil
		}
	case bourse.SignedCool:
		// A second attempt would move as much again, if both were mined.
		if e.ID != 0 && e.Account == 0 && e.Attempt == 0 && !e.Amount.IsZero() && n.keepsCold(e.To) {
			return nil
		}
	case bourse.SignedWarm: // the keys of cold storage are not here
	}

	return mismatch("not a payment that this network needs")
}

// keepsCold reports whether a destination is an address of the signer's own descriptor of cold storage.
func (n *Network) keepsCold(to chain.Destination) bool {
	owner, ours := n.Codec.Owner(to.Address, to.Memo)
	return ours && to.Memo == "" && n.Codec.Shape().KeepsCold(owner.At)
}

func isCustomer(index uint32) bool { return bourse.AccountID(index).IsCustomer() }

// checkPayer requires the hot wallet as the payer, or the swept account. On networks of
// outputs any own address may pay: Decode has checked that all inputs are the exchange's.
func (n *Network) checkPayer(d *chain.Decoded, e *Expect) error {
	if n.Codec.Shape().Outputs {
		for i := range d.Inputs {
			if d.Inputs[i].Coin != e.Coin && d.Inputs[i].Coin != n.Codec.Shape().Native {
				return mismatch("it spends %s", d.Inputs[i].Coin)
			}
		}
		return nil
	}
	payer := chain.IndexHot
	if e.Kind == bourse.SignedSweep {
		payer = e.Account
	}
	if d.From != payer || d.Nonce != e.Nonce {
		return mismatch("payment %d of address %d, not %d of %d", d.Nonce, d.From, e.Nonce, payer)
	}
	return nil
}

// checkPays requires exactly one payment for each withdrawal and, on networks of outputs,
// allows change.
func (n *Network) checkPays(d *chain.Decoded, e *Expect) error {
	rest := slices.Clone(d.Pays)
	for _, part := range e.parts() {
		at := slices.IndexFunc(rest, func(p chain.Pay) bool {
			return p.To == part.To && p.Coin == part.Coin && p.Amount == part.Amount
		})
		if at < 0 {
			return mismatch("it does not pay what it should")
		}
		rest = slices.Delete(rest, at, at+1)
	}
	change := n.Codec.Destination(chain.IndexChange)
	for _, p := range rest {
		// Change has no memo of its own: Decode repeats the withdrawal's.
		if !n.Codec.Shape().Outputs || p.To.Address != change.Address {
			return mismatch("it pays %s too", p.To.Address)
		}
	}
	return nil
}

// sign signs and checks the keyring's result. It refuses what no journal takes, such as a nonce from 2^62 on: an
// exchange that cannot take over an entry of the record signs nothing more on its network.
func (n *Network) sign(raw []byte, e *Expect) (Signed, error) {
	signed, hash, err := n.Keys.Sign(raw)
	if err != nil {
		return Signed{}, fmt.Errorf("signer: %w", err)
	}
	d, err := n.Codec.Decode(signed)
	if err != nil || !d.Signed || d.Hash != hash {
		return Signed{}, fmt.Errorf("signer: the keys did not sign: %w", errOrUnsigned(err))
	}
	tx := bourse.SignedTx{
		Network: e.Network, Kind: e.Kind, Wallet: e.ID, Tx: hash, Raw: signed, From: d.From, Nonce: d.Nonce,
	}
	for i := range d.Inputs {
		tx.Inputs = append(tx.Inputs, d.Inputs[i].Outpoint)
	}
	if parts := e.parts(); len(parts) > 1 {
		for i := range parts {
			tx.Joined = append(tx.Joined, bourse.Share{Wallet: parts[i].ID, Amount: parts[i].Amount})
		}
	}
	if !tx.Valid() {
		return Signed{}, mismatch("no journal takes it")
	}
	return Signed{Raw: signed, Hash: hash}, nil
}

func errOrUnsigned(err error) error {
	if err == nil {
		return ErrMismatch
	}
	return err
}
