package walletv1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var validateFields = api.Fields{"asset", "network", "address", "memo"}

// validate judges an address, a memo or both.
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
	canonical, goodMemo := r.judgeMemo(memo)
	owner, goodAddress := r.judgeAddress(address, canonical)
	if c.Has("address") {
		c.Out.Bool("valid_address", goodAddress)
	}
	if c.Has("memo") {
		c.Out.Bool("valid_memo", goodMemo && owner.Kind != chain.OwnerNobody)
	}
	if c.Has("address") {
		c.Out.Bool("internal", goodMemo && owner.Kind == chain.OwnerCustomer)
	}
	return nil
}

// judgeMemo returns the canonical form of a memo, and whether it is one that the
// network knows. The empty memo is none, which is right everywhere.
func (r *route) judgeMemo(memo string) (string, bool) {
	if memo == "" {
		return "", true
	}
	canonical, err := r.ParseMemo(memo)
	return canonical, err == nil && r.network.MemoName != ""
}

// judgeAddress returns whose an address with a memo in its canonical form is, if
// it is ours, and whether it is one to withdraw to. The exchange's own addresses
// are not; the one that accounts share is, with the memo of an account.
func (r *route) judgeAddress(address, memo string) (chain.Owner, bool) {
	canonical, err := r.ParseAddress(address)
	if err != nil {
		return chain.Owner{}, false
	}
	owner, ours := r.Owner(canonical, memo)
	if !ours {
		return chain.Owner{}, true
	}
	return owner, owner.Kind == chain.OwnerCustomer
}
