package walletv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var validateFields = api.Fields{"asset", "network", "address", "memo"}

// validate judges an address, a memo or both. With both, the memo is valid only
// if the two together name somebody.
func (w *Wallet) validate(c *api.Call) error {
	r, err := w.openRoute(c)
	if err != nil {
		return err
	}
	if !c.Has("address") && !c.Has("memo") {
		return api.Missing("address")
	}
	address, err := c.Text("address")
	if err != nil {
		return err
	}
	memo, err := c.Text("memo")
	if err != nil {
		return err
	}
	none := memo == ""
	memo, goodMemo := r.judgeMemo(memo)
	var to destined
	if c.Has("address") {
		to = r.judgeAddress(address, memo)
		c.Out.Bool("valid_address", to.valid)
	}
	if c.Has("memo") {
		c.Out.Bool("valid_memo", goodMemo && !to.nobody)
	}
	if c.Has("address") {
		c.Out.Bool("internal", (goodMemo || none) && to.owner.Kind == chain.OwnerCustomer)
	}
	return nil
}

// judgeMemo returns the canonical form of a memo and whether it is one that the
// network knows. The empty memo is none, which only a network with memos takes
// for one.
func (r *route) judgeMemo(memo string) (string, bool) {
	if memo == "" {
		return "", r.network.MemoName != ""
	}
	canonical, err := r.ParseMemo(memo)
	return canonical, err == nil && r.network.MemoName != ""
}

// destined is what an address with a memo is.
type destined struct {
	// address is in its canonical form.
	address string
	valid   bool
	// owner is set if the address is ours; nobody says that it is, and that the
	// memo names no account.
	owner  chain.Owner
	nobody bool
}

// judgeAddress judges an address with a memo in its canonical form.
func (r *route) judgeAddress(address, memo string) (d destined) {
	canonical, err := r.ParseAddress(address)
	if err != nil {
		return d
	}
	d.address = canonical
	owner, ours := r.Owner(canonical, memo)
	if ours {
		d.owner = owner
	}
	// The exchange's own addresses are no place to withdraw to; the one that
	// accounts share is, with the memo of an account.
	d.valid = d.owner.Kind != chain.OwnerTreasury
	d.nobody = d.owner.Kind == chain.OwnerNobody
	return d
}
