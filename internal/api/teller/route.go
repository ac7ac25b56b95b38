package teller

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Route is an asset on a network that is connected.
type Route struct {
	Asset *bourse.Asset
	Way
	Terms *bourse.NetworkAsset
}

// Way is a network that is connected.
type Way struct {
	Listed *bourse.Network
	Network
}

// Way finds a network, also where it is disabled. The error is an *bourse.Error
// with CodeUnavailable if it is not connected.
func (t *Teller) Way(listed *bourse.Network) (Way, error) {
	n, connected := t.Networks.Network(listed.ID)
	if !connected {
		return Way{}, bourse.Errorf(bourse.CodeUnavailable, "network: %s is not connected", listed.Symbol)
	}
	return Way{listed, n}, nil
}

// Route finds an asset on a network, also where it is disabled; false if the
// network does not carry it. The error is that of Way.
func (t *Teller) Route(asset *bourse.Asset, network *bourse.Network) (r Route, carried bool, err error) {
	r.Asset = asset
	if r.Terms = t.View.Catalogue().NetworkAsset(network.ID, asset.ID); r.Terms == nil {
		return r, false, nil
	}
	r.Way, err = t.Way(network)
	return r, true, err
}

// Home returns where an account receives deposits on the network.
func (w *Way) Home(id bourse.AccountID) chain.Destination { return w.Destination(uint32(id)) }

// MisplacedError says that money cannot go to an address, or with a memo.
type MisplacedError struct {
	// Field is address or memo.
	Field string
	why   string
}

// Error says what is wrong, with the field's name.
func (e *MisplacedError) Error() string { return e.Field + ": " + e.why }

// Direct reads address and memo, which may be empty, into a request: in their
// canonical forms, and with the account that they name. The error is a
// *MisplacedError.
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

// Verdict is what there is to say of an address with a memo.
type Verdict struct {
	// Address and Memo are whether they are good; the empty memo is none, which is
	// right everywhere. Internal is whether they name an account of the exchange.
	Address, Memo, Internal bool
}

// Judge says whether money can go to an address with a memo. The exchange's own
// addresses are no good; the one that accounts share is, with the memo of one.
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

// judgeAddress returns whose an address with a memo in its canonical form is, if
// it is ours, and whether it is one to withdraw to.
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

// Amount reads a decimal in ledger units; it has as many decimals as the network
// can move. The error is for who sent it.
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

// LeastFee returns the least fee of a request.
func (r *Route) LeastFee(asked *bourse.Withdraw) bourse.Amount {
	if asked.Internal != 0 {
		return bourse.Amount{}
	}
	return r.Terms.FeeMin
}
