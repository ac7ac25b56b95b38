package walletv1

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

// withdrawFields are all strings.
var withdrawFields = api.Fields{"asset", "network", "address", "amount", "fee", "memo", "adbk_name",
	"client_id", "code_2fa"}

// withdraw requests a withdrawal. Malformed requests are refused here; the engine decides
// everything else, so that a request repeated under its client id gets the first answer.
func (w *Wallet) withdraw(c *api.Call) error {
	c.Require("asset", "network", "address", "amount", "fee")
	for _, name := range withdrawFields { // wrong types are reported first
		c.Text(name)
	}

	r, err := w.route(c)
	if err != nil {
		return err
	}

	asked := &bourse.Withdraw{Network: r.Listed.ID, Asset: r.Asset.ID}
	r.readDestination(c, asked)
	asked.Amount, asked.Fee = teller.Moved(c, r.Amount), api.Read(c.Form, "fee", r.Amount)
	name := teller.AddressName(c, "adbk_name")
	asked.ClientID = api.ClientID(c.Form)
	act := c.Act(account.CaseWithdrawal, "/withdraw")
	if err := c.Err(); err != nil {
		return err
	}

	act.What = r.Says(asked)

	o, err := w.Pay(c.Context, &teller.Payment{
		Who: c.Who, Act: act, Asked: asked,
		Check: func() error { return w.check(c, &r, asked, name) },
		Send: func() (bourse.Outcome, error) {
			o, err := w.Accounts.Withdraw(c.Context, &bourse.Command{
				Kind: bourse.CommandWithdraw, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked},
			}, name)
			return o, named(err)
		},
	})
	switch {
	case err != nil:
		return err
	case o.Reason != 0:
		return r.Refused(o.Reason, asked)
	}
	c.Out.Uint("xid", o.ID)
	return nil
}

// named attributes an error about a name to its field.
func named(err error) error {
	var known *bourse.Error
	if errors.As(err, &known) && known.Code == bourse.CodeConflict {
		return bourse.Errorf(bourse.CodeConflict, "adbk_name: %s", known.Message)
	}
	return err
}

// check returns the error with which the exchange would refuse the request now, before a
// second factor is demanded.
func (w *Wallet) check(c *api.Call, r *route, asked *bourse.Withdraw, name string) error {
	if name != "" {
		if err := w.Accounts.CheckAddressName(c.Context, c.Who.Account, asked, name); err != nil {
			return named(err)
		}
	}
	return r.Refused(w.Precheck(c.Who.Account, &r.Route, asked), asked)
}

// readDestination reads address and memo in canonical form, and the account that they
// name.
func (r *route) readDestination(c *api.Call, asked *bourse.Withdraw) {
	address, memo := teller.Destination(c)
	var misplaced *teller.MisplacedError
	if err := r.Direct(asked, address, memo); errors.As(err, &misplaced) {
		c.Fail(api.Errorf(codes.InvalidAddress, "%s", misplaced))
	}
}
