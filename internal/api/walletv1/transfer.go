package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

var transferFields = api.Fields{"asset", "amount", "email", "address", "memo", "client_id", "code_2fa"}

// transfer requests a transfer to another account.
func (w *Wallet) transfer(c *api.Call) error {
	recipient := recipientField(c)
	c.Require("asset", "amount", recipient)
	for _, name := range transferFields { // wrong types are reported first
		c.Text(name)
	}

	asset := api.Named(c.Form, "asset", w.View.Catalogue().Asset)
	if err := c.Err(); err != nil {
		return err
	}
	to := teller.ReadTransfer(c, asset, recipient)
	id, act := api.ClientID(c.Form), c.Act(account.CaseWithdrawal, "/transfer")
	if !id.IsZero() {
		to.Asked.Once = teller.Once(id, act.Digest)
	}
	if err := c.Err(); err != nil {
		return err
	}

	o, err := w.Give(c, to, act)
	switch {
	case err != nil:
		return err
	case o.Reason == bourse.DuplicateRequest: // the name of the request is V1's client_id
		return api.RefusedWithdrawal(bourse.DuplicateClientID)
	case o.Reason != 0:
		return to.Refused(o.Reason, to.Asked)
	}
	c.Out.Uint("xid", o.ID)
	return nil
}

// recipientField returns the name of the field with the recipient's e-mail address, which
// older clients send as address. A request with both is refused.
func recipientField(c *api.Call) string {
	switch {
	case !c.Has("address"):
		return "email"
	case c.Has("email"):
		c.Fail(api.Invalid("address", "stands for email, which is given too"))
	}
	return "address"
}
