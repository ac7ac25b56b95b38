package walletv1

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

// withdrawFields are all texts.
var withdrawFields = api.Fields{"asset", "network", "address", "amount", "fee", "memo", "adbk_name", "client_id", "code_2fa"}

// withdraw asks for a withdrawal. What is wrong with the form of the request is
// refused here; the engine decides about the rest, so that a request that comes
// again under its client id gets the first answer.
func (w *Wallet) withdraw(c *api.Call) error {
	if err := c.Require("asset", "network", "address", "amount", "fee"); err != nil {
		return err
	}
	for _, name := range withdrawFields { // what has the wrong type is told first
		if _, err := c.Text(name); err != nil {
			return err
		}
	}
	r, err := w.route(c)
	if err != nil {
		return err
	}
	asked := &bourse.Withdraw{Network: r.Listed.ID, Asset: r.Asset.ID}
	if err := r.readDestination(c, asked); err != nil {
		return err
	}
	if err := r.readAmounts(c, asked); err != nil {
		return err
	}
	name, err := readExtras(c, asked)
	if err != nil {
		return err
	}
	act, err := c.Act(account.CaseWithdrawal, "/withdraw")
	if err != nil {
		return err
	}
	act.What = r.Says(asked)
	check := func() error { return w.check(c, &r, asked, name) }
	refused, err := w.Clear(c.Context, c.Who, act, asked, check)
	if err != nil {
		return err
	}
	o, err := w.Accounts.Withdraw(c.Context, &bourse.Command{
		Kind: bourse.CommandWithdraw, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked},
	}, name)
	switch {
	case err != nil:
		return named(err)
	case o.Reason == bourse.NotAskedBefore:
		return refused
	case o.Reason != 0:
		return r.Refusal(o.Reason, asked)
	}
	c.Out.Uint("xid", o.ID)
	return nil
}

// named tells to which field an error about a name belongs.
func named(err error) error {
	var known *bourse.Error
	if errors.As(err, &known) && known.Code == bourse.CodeConflict {
		return api.Invalid("adbk_name", known.Message)
	}
	return err
}

// check finds out what the exchange would say, before a second factor is asked for.
func (w *Wallet) check(c *api.Call, r *route, asked *bourse.Withdraw, name string) error {
	if name != "" {
		if err := w.Accounts.CheckAddressName(c.Context, c.Who.Account, asked, name); err != nil {
			return named(err)
		}
	}
	if reason := w.Precheck(c.Who.Account, &r.Route, asked); reason != 0 {
		return r.Refusal(reason, asked)
	}
	return nil
}

// readDestination reads address and memo in their canonical forms, and whose they
// are.
func (r *route) readDestination(c *api.Call, asked *bourse.Withdraw) error {
	address, memo, err := teller.Destination(c)
	if err != nil {
		return err
	}
	var misplaced *teller.MisplacedError
	if err := r.Direct(asked, address, memo); errors.As(err, &misplaced) {
		return bourse.Errorf(bourse.CodeInvalid, "%s", misplaced)
	}
	return nil
}

// readAmounts reads amount and fee, which have as many decimals as the network
// can move.
func (r *route) readAmounts(c *api.Call, asked *bourse.Withdraw) (err error) {
	if asked.Amount, err = teller.Moved(c, r.Amount); err != nil {
		return err
	}
	asked.Fee, err = teller.Amount(c, "fee", r.Amount)
	return err
}

// readExtras reads the name under which to save the address, and the client id.
func readExtras(c *api.Call, asked *bourse.Withdraw) (name string, err error) {
	if name, err = teller.AddressName(c, "adbk_name"); err != nil {
		return "", err
	}
	asked.ClientID, err = api.ClientID(c)
	return name, err
}
