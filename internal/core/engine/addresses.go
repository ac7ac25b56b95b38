package engine

import "github.com/bourse-exchange/bourse"

// savedFrom returns the address book entry that a withdrawal asks for.
func savedFrom(account bourse.AccountID, w *bourse.Withdraw) *bourse.SavedAddress {
	return &bourse.SavedAddress{
		Account: account, Network: w.Network, Asset: w.Asset, Address: w.Address, Memo: w.Memo, Token: w.Save,
	}
}

// saveAddress adds an entry to an address book. A saved address is not trusted.
func (e *Engine) saveAddress(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	asked := cmd.Wallet.Save
	switch {
	case e.account(cmd.Account) == nil:
		return bourse.UnknownAccount
	case e.network(asked.Network) == nil:
		return bourse.UnknownNetwork
	case e.terms(asked.Network, asked.Asset) == nil:
		return bourse.NotOnNetwork
	}

	a := &bourse.SavedAddress{
		Account: cmd.Account, Network: asked.Network, Asset: asked.Asset,
		Address: asked.Address, Memo: asked.Memo, Token: cmd.Token,
	}
	if reason := e.custody.CanSave(a); reason != 0 {
		return reason
	}
	e.custody.Save(ev, a)
	ev.Outcome.ID = uint64(a.ID)
	return 0
}

func (e *Engine) forgetAddress(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	a := e.custody.SavedByID(cmd.Wallet.Address)
	if a == nil || a.Account != cmd.Account {
		return bourse.AddressNotFound
	}
	e.custody.Forget(ev, a)
	ev.Outcome.ID = uint64(a.ID)
	return 0
}
