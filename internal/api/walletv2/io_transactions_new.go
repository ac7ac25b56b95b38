package walletv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// newFields are all strings.
var newFields = api.Fields{"type", "asset", "network", "address", "memo", "amount", "fee", "adbkSaveName"}

// newTransaction requests a withdrawal or a transfer. Malformed requests are refused
// here; the engine decides everything else, so that a request repeated under its key gets
// the first answer.
func (w *Wallet) newTransaction(c *v2.Call) error {
	c.Require("type", "asset", "address", "amount")
	kind := c.Text("type")
	if kind != "WITHDRAWAL" && kind != "TRANSFER_OUT" {
		c.Fail(api.Invalid("type", "must be WITHDRAWAL or TRANSFER_OUT"))
	}
	asset := w.assetOf(c, "asset", c.Text("asset"))
	if err := c.Err(); err != nil {
		return err
	}

	if kind == "WITHDRAWAL" {
		return w.withdraw(c, asset)
	}
	return w.transfer(c, asset)
}

// withdraw requests a withdrawal.
func (w *Wallet) withdraw(c *v2.Call, asset *bourse.Asset) error {
	c.Require("network")
	network := w.networkOf(c, "network", c.Text("network"))
	r, err := w.routeOf(c, asset, network)
	if err != nil {
		return err
	}

	asked := &bourse.Withdraw{Network: network.ID, Asset: asset.ID}
	name, act := readWithdrawal(c, &r, asked), nameRequest(c, asked)
	if err := c.Err(); err != nil {
		return err
	}

	check := func() error {
		if name != "" {
			if err := w.Accounts.CheckAddressName(c.Context, c.Who.Account, asked, name); err != nil {
				return err
			}
		}
		return w.check(c, &r, asked)
	}
	send := func() (bourse.Outcome, error) {
		return w.Accounts.Withdraw(c.Context, &bourse.Command{
			Kind: bourse.CommandWithdraw, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked},
		}, name)
	}

	act.What = r.Says(asked)
	o, err := w.Pay(c.Context, &teller.Payment{Who: c.Who, Act: act, Asked: asked, Check: check, Send: send})
	return w.answer(c, &r, asked, o, err)
}

// check returns the error with which the exchange would refuse the request now; nil if it
// would not.
func (w *Wallet) check(c *v2.Call, r *teller.Route, asked *bourse.Withdraw) error {
	return r.Refused(w.Precheck(c.Who.Account, r, asked), asked)
}

// readWithdrawal reads the destination, the amount and the fee of a withdrawal, and the
// name under which to save the address.
func readWithdrawal(c *v2.Call, r *teller.Route, asked *bourse.Withdraw) (name string) {
	address, memo := teller.Destination(c.Call)
	if err := r.Direct(asked, address, memo); err != nil {
		c.Fail(api.Errorf(codes.InvalidAddress, "%s", err))
	}
	asked.Amount, asked.Fee = teller.Moved(c.Call, r.Amount), teller.UsualFee(r.Asset, r.Terms)
	if c.Has("fee") {
		asked.Fee = api.Read(c.Form, "fee", r.Amount)
	}
	return teller.AddressName(c.Call, "adbkSaveName")
}

// transfer requests a transfer to another account.
func (w *Wallet) transfer(c *v2.Call, asset *bourse.Asset) error {
	to := teller.ReadTransfer(c.Call, asset, "address")
	act := nameRequest(c, to.Asked)
	if err := c.Err(); err != nil {
		return err
	}

	o, err := w.Give(c.Call, to, act)
	return w.answer(c, &to.Route, to.Asked, o, err)
}

// nameRequest names a request by its Idempotency-Key, if it has one, and returns its act.
func nameRequest(c *v2.Call, asked *bourse.Withdraw) account.Act {
	key, act := c.IdempotencyKey(), c.Act(account.CaseWithdrawal)
	if !key.IsZero() {
		asked.Once = teller.Once(key, act.Digest)
	}
	return act
}

// answer answers a request with its transaction, or returns its error.
func (w *Wallet) answer(c *v2.Call, r *teller.Route, asked *bourse.Withdraw, o bourse.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case o.Reason != 0:
		return r.Refused(o.Reason, asked)
	}
	return w.show(c, bourse.WalletID(o.ID))
}
