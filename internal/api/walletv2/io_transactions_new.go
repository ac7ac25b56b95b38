package walletv2

import (
	"errors"
	"fmt"

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
	name := readWithdrawal(c, &r, asked)
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
		return w.Accounts.Withdraw(c.Context, command(c, bourse.CommandWithdraw, asked), name)
	}
	return w.pay(c, &r, r.Says(asked), &teller.Payment{Asked: asked, Check: check, Send: send})
}

// check returns the error with which the exchange would refuse the request now; nil if it
// would not.
func (w *Wallet) check(c *v2.Call, r *teller.Route, asked *bourse.Withdraw) error {
	return r.Refused(w.Precheck(c.Who.Account, r, asked), asked)
}

func command(c *v2.Call, kind bourse.CommandKind, asked *bourse.Withdraw) *bourse.Command {
	return &bourse.Command{Kind: kind, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked}}
}

// readWithdrawal reads the destination, the amount and the fee of a withdrawal, and the
// name under which to save the address.
func readWithdrawal(c *v2.Call, r *teller.Route, asked *bourse.Withdraw) (name string) {
	address, memo := teller.Destination(c.Call)
	if err := r.Direct(asked, address, memo); err != nil {
		c.Fail(api.Errorf(codes.InvalidAddress, "%s", err))
	}
	asked.Amount, asked.Fee = teller.Moved(c.Call, r.Amount), middle(r)
	if c.Has("fee") {
		asked.Fee = api.Read(c.Form, "fee", r.Amount)
	}
	return teller.AddressName(c.Call, "adbkSaveName")
}

// middle returns the middle of the fee's range, rounded down to the network's precision.
func middle(r *teller.Route) bourse.Amount {
	step := bourse.Pow10(r.Asset.Scale - r.Terms.Precision)
	steps, _ := r.Terms.FeeMax.Minus(r.Terms.FeeMin).Div64(2 * step)
	half, _ := steps.Mul(step) // less than FeeMax
	return r.Terms.FeeMin.Plus(half)
}

// transfer requests a transfer to another account.
func (w *Wallet) transfer(c *v2.Call, asset *bourse.Asset) error {
	asked := &bourse.Withdraw{Asset: asset.ID}
	asked.Amount = teller.Moved(c.Call, func(s string) (bourse.Amount, error) {
		return bourse.ParseAmount(s, asset.Scale)
	})
	message := c.Text("memo")
	if !account.ValidMessage(message) {
		c.Fail(api.Invalid("memo", "want at most 255 bytes without control characters"))
	}
	to := c.Text("address")
	if err := c.Err(); err != nil {
		return err
	}

	var err error
	if asked.Internal, err = w.recipient(c, to); err != nil {
		return err
	}
	r := teller.Route{Asset: asset}
	what := fmt.Sprintf("Transfer %s %s to %s", asked.Amount.Format(asset.Scale), asset.Symbol, account.Plain(to))
	check := func() error { return w.check(c, &r, asked) }
	send := func() (bourse.Outcome, error) {
		return w.Accounts.Transfer(c.Context, command(c, bourse.CommandTransfer, asked), message)
	}
	return w.pay(c, &r, what, &teller.Payment{Asked: asked, Check: check, Send: send})
}

// unknownWeighs is the number of orders that a transfer to an unknown address costs,
// which slows down probing for addresses that have accounts.
const unknownWeighs = 500

// recipient returns the account of the e-mail address to which a transfer goes.
func (w *Wallet) recipient(c *v2.Call, email string) (bourse.AccountID, error) {
	to, known, err := w.Accounts.ByEmail(c.Context, email)
	var malformed *bourse.Error
	switch {
	case errors.As(err, &malformed) && malformed.Code == bourse.CodeInvalid:
		return 0, api.Errorf(codes.InvalidAddress, "address: not an e-mail address")
	case err != nil:
		return 0, err
	case !known:
		c.Limits.Charge(api.Orders, c.Payer(), unknownWeighs)
		return 0, api.Errorf(codes.InvalidAddress, "address: no account has this e-mail address")
	case to.ID == c.Who.Account:
		return 0, api.Errorf(codes.InvalidAddress, "address: it is your own")
	}
	return to.ID, nil
}

// pay sends a request and answers with the transaction. what describes the request in
// plain words for the letter of a second factor.
func (w *Wallet) pay(c *v2.Call, r *teller.Route, what string, p *teller.Payment) error {
	key := c.IdempotencyKey()
	p.Act = c.Act(account.CaseWithdrawal)
	if err := c.Err(); err != nil {
		return err
	}

	p.Who, p.Act.What = c.Who, what
	if !key.IsZero() {
		p.Asked.Once = teller.Once(key, p.Act.Digest)
	}

	o, err := w.Pay(c.Context, p)
	switch {
	case err != nil:
		return err
	case o.Reason != 0:
		return r.Refused(o.Reason, p.Asked)
	}
	return w.show(c, bourse.WalletID(o.ID))
}
