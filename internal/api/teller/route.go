package teller

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/core/terms"
)

// Route is an asset on a connected network.
type Route struct {
	Asset *bourse.Asset
	Way
	Terms *bourse.NetworkAsset
}

// Way is a connected network.
type Way struct {
	Listed *bourse.Network
	Network
	// maxMemo bounds memos, in bytes, as the rules have it.
	maxMemo int
}

// Way returns the way over a network, even a disabled one. The error is an *bourse.Error
// with CodeUnavailable if it is not connected.
func (t *Teller) Way(listed *bourse.Network) (Way, error) {
	n, connected := t.Networks.Network(listed.ID)
	if !connected {
		return Way{}, bourse.Errorf(bourse.CodeUnavailable, "network: %s is not connected", listed.Symbol)
	}
	return Way{listed, n, bourse.MemoBound(t.View.Catalogue().Rules)}, nil
}

// Route returns the route of an asset on a network, even a disabled one; false if the
// network does not carry it. The error is Way's.
func (t *Teller) Route(asset *bourse.Asset, network *bourse.Network) (r Route, carried bool, err error) {
	r.Asset = asset
	if r.Terms = t.View.Catalogue().NetworkAsset(network.ID, asset.ID); r.Terms == nil {
		return r, false, nil
	}
	r.Way, err = t.Way(network)
	return r, true, err
}

// Home returns the destination for an account's deposits.
func (w *Way) Home(id bourse.AccountID) chain.Destination { return w.Destination(uint32(id)) }

// MisplacedError is the error for an address or memo to which money cannot go.
type MisplacedError struct {
	// Field is the name of the field with the address or the memo.
	Field string
	why   string
}

// Error returns the field and the reason.
func (e *MisplacedError) Error() string { return e.Field + ": " + e.why }

// Direct sets the destination of a request from an address and a memo, which may be
// empty: both in canonical form, and the account of the exchange that they name. The
// error is a *MisplacedError.
func (w *Way) Direct(asked *bourse.Withdraw, address, memo string) (err error) {
	if memo != "" && w.Listed.MemoName == "" {
		return &MisplacedError{"memo", string(w.Listed.Symbol) + " has no memos"}
	}

	if memo != "" {
		if asked.Memo, err = w.ParseMemo(memo); err != nil {
			return &MisplacedError{"memo", api.Public(err)}
		}
	}
	if asked.Address, err = w.ParseAddress(address); err != nil {
		return &MisplacedError{"address", api.Public(err)}
	}

	owner, ours := w.Owner(asked.Address, asked.Memo)
	switch {
	case !ours:
	case owner.Kind == chain.OwnerCustomer:
		asked.Internal = bourse.AccountID(owner.Index)
	case owner.Kind == chain.OwnerNobody:
		return &MisplacedError{"address", "is this exchange's own, and the memo names no account"}
	default:
		return &MisplacedError{"address", "is this exchange's own"}
	}
	return nil
}

// ParseMemo returns the canonical form of a memo that the network has and the rules allow.
func (w *Way) ParseMemo(memo string) (string, error) {
	canonical, err := w.Network.ParseMemo(memo)
	if err == nil && len(canonical) > w.maxMemo {
		return "", bourse.Errorf(bourse.CodeInvalid, "memo is longer than %d bytes", w.maxMemo)
	}
	return canonical, err
}

// Verdict is a judgement of an address with a memo.
type Verdict struct {
	// Address and Memo report whether they are valid; an empty memo is valid on every
	// network. Internal reports whether they name an account of the exchange.
	Address, Memo, Internal bool
}

// Judge reports whether money can go to an address with a memo. The exchange's own
// addresses are invalid, except the one that accounts share, with an account's memo.
func (w *Way) Judge(address, memo string) Verdict {
	canonical, goodMemo := "", true
	if memo != "" {
		var err error
		canonical, err = w.ParseMemo(memo)
		goodMemo = err == nil && w.Listed.MemoName != ""
	}

	owner, goodAddress := w.judgeAddress(address, canonical)
	return Verdict{
		Address: goodAddress, Memo: goodMemo && owner.Kind != chain.OwnerNobody,
		Internal: goodMemo && owner.Kind == chain.OwnerCustomer,
	}
}

// judgeAddress returns the owner of an address with a canonical memo, if it is the
// exchange's, and whether withdrawals may go there.
func (w *Way) judgeAddress(address, memo string) (chain.Owner, bool) {
	canonical, err := w.ParseAddress(address)
	if err != nil {
		return chain.Owner{}, false
	}

	owner, ours := w.Owner(canonical, memo)
	if !ours {
		return chain.Owner{}, true
	}
	return owner, owner.Kind == chain.OwnerCustomer
}

// Amount parses a decimal into ledger units, with at most the decimals that the network
// moves. The error is for the client.
func (r *Route) Amount(text string) (bourse.Amount, error) {
	a, err := bourse.ParseAmount(text, r.Terms.Precision)
	if err != nil {
		return bourse.Amount{}, err
	}
	a, fits := a.Mul(bourse.Pow10(r.Asset.Scale - r.Terms.Precision))
	if !fits {
		return bourse.Amount{}, bourse.Errorf(bourse.CodeInvalid, "number too large")
	}
	return a, nil
}

// Refused returns the error for a reason, with the terms concerned; nil for zero.
func (r *Route) Refused(reason bourse.Reason, asked *bourse.Withdraw) error {
	amount := func(a bourse.Amount) string { return a.Format(r.Asset.Scale) }
	switch reason {
	case bourse.FeeOutOfRange:
		least := amount(terms.LeastFee(asked, r.Terms))
		return api.Refused(reason, "fee: must be from "+least+" to "+amount(r.Terms.FeeMax))
	case bourse.BelowMinWithdrawal:
		return api.Refused(reason, "amount: must be at least "+amount(r.Terms.MinWithdrawal))
	default:
		return api.RefusedWithdrawal(reason)
	}
}
