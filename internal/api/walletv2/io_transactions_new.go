package walletv2

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// newFields are all texts.
var newFields = api.Fields{"type", "asset", "network", "address", "memo", "amount", "fee", "adbkSaveName"}

// newTransaction asks for a withdrawal or a transfer. What is wrong with the form
// of the request is refused here; the engine decides about the rest, so that a
// request that comes again under its key gets the first answer.
func (w *Wallet) newTransaction(c *v2.Call) error {
	if err := c.Require("type", "asset", "address", "amount"); err != nil {
		return err
	}
	kind, err := c.Text("type")
	if err != nil {
		return err
	}
	switch kind {
	case "WITHDRAWAL":
		return w.withdraw(c)
	case "TRANSFER_OUT":
		return w.transfer(c)
	default:
		return api.Invalid("type", "must be WITHDRAWAL or TRANSFER_OUT")
	}
}

// named returns the asset that the request names.
func (w *Wallet) named(c *v2.Call) (*bourse.Asset, error) {
	symbol, err := c.Text("asset")
	if err != nil {
		return nil, err
	}
	return w.assetOf("asset", symbol)
}

// withdraw asks for a withdrawal.
func (w *Wallet) withdraw(c *v2.Call) error {
	asset, err := w.named(c)
	if err != nil {
		return err
	}
	if err := c.Require("network"); err != nil {
		return err
	}
	symbol, err := c.Text("network")
	if err != nil {
		return err
	}
	network, err := w.networkOf("network", symbol)
	if err != nil {
		return err
	}
	r, err := w.routeOf(asset, network)
	if err != nil {
		return err
	}
	asked := &bourse.Withdraw{Network: network.ID, Asset: asset.ID}
	name, err := readWithdrawal(c, &r, asked)
	if err != nil {
		return err
	}
	check := func() error {
		if name != "" {
			if err := w.Accounts.CheckAddressName(c.Context, c.Who.Account, asked, name); err != nil {
				return err
			}
		}
		return told(&r, w.Precheck(c.Who.Account, &r, asked), asked)
	}
	refused, err := w.confirm(c, r.Says(asked), asked, check)
	if err != nil {
		return err
	}
	o, err := w.Accounts.Withdraw(c.Context, command(c, bourse.CommandWithdraw, asked), name)
	if o.Reason == bourse.NotAskedBefore {
		return refused
	}
	return w.end(c, &r, asked, o, err)
}

func command(c *v2.Call, kind bourse.CommandKind, asked *bourse.Withdraw) *bourse.Command {
	return &bourse.Command{Kind: kind, Account: c.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked}}
}

// readWithdrawal reads where a withdrawal goes, how much of it, and under which
// name to save the address.
func readWithdrawal(c *v2.Call, r *teller.Route, asked *bourse.Withdraw) (name string, err error) {
	address, memo, err := teller.Destination(c.Call)
	if err != nil {
		return "", err
	}
	if err := r.Direct(asked, address, memo); err != nil {
		return "", v2.Errorf(v2.InvalidAddress, "%s", err)
	}
	if asked.Amount, err = teller.Moved(c.Call, r.Amount); err != nil {
		return "", err
	}
	asked.Fee = middle(r)
	if c.Has("fee") {
		if asked.Fee, err = teller.Amount(c.Call, "fee", r.Amount); err != nil {
			return "", err
		}
	}
	return teller.AddressName(c.Call, "adbkSaveName")
}

// middle returns the middle of a fee's range, rounded down to what the network can
// move.
func middle(r *teller.Route) bourse.Amount {
	step := bourse.Pow10(r.Asset.Scale - r.Terms.Precision)
	steps, _ := r.Terms.FeeMax.Minus(r.Terms.FeeMin).Div64(2 * step)
	half, _ := steps.Mul(step) // it is less than the highest fee
	return r.Terms.FeeMin.Plus(half)
}

// transfer asks for a transfer to another account.
func (w *Wallet) transfer(c *v2.Call) error {
	asset, err := w.named(c)
	if err != nil {
		return err
	}
	asked := &bourse.Withdraw{Asset: asset.ID}
	if asked.Amount, err = teller.Moved(c.Call, func(s string) (bourse.Amount, error) {
		return bourse.ParseAmount(s, asset.Scale)
	}); err != nil {
		return err
	}
	message, err := c.Text("memo")
	if err != nil {
		return err
	}
	if !account.ValidMessage(message) {
		return api.Invalid("memo", "want at most 255 bytes without control characters")
	}
	if asked.Internal, err = w.recipient(c); err != nil {
		return err
	}
	r := teller.Route{Asset: asset}
	to, err := c.Text("address")
	if err != nil {
		return err
	}
	what := fmt.Sprintf("Transfer %s %s to %s", asked.Amount.Format(asset.Scale), asset.Symbol, account.Plain(to))
	refused, err := w.confirm(c, what, asked, func() error { return told(&r, w.Precheck(c.Who.Account, &r, asked), asked) })
	if err != nil {
		return err
	}
	o, err := w.Accounts.Transfer(c.Context, command(c, bourse.CommandTransfer, asked), message)
	if o.Reason == bourse.NotAskedBefore {
		return refused
	}
	return w.end(c, &r, asked, o, err)
}

// end answers with what became of a request that was sent.
func (w *Wallet) end(c *v2.Call, r *teller.Route, asked *bourse.Withdraw, o bourse.Outcome, err error) error {
	switch {
	case err != nil:
		return err
	case o.Reason != 0:
		return told(r, o.Reason, asked)
	}
	return w.show(c, bourse.WalletID(o.ID))
}

// unknownWeighs is how many orders the transfer to an address without an account weighs
// as: strangers do not find out at the pace of orders which addresses have accounts.
const unknownWeighs = 500

// recipient returns the account of the e-mail address that a transfer goes to.
func (w *Wallet) recipient(c *v2.Call) (bourse.AccountID, error) {
	email, err := c.Text("address")
	if err != nil {
		return 0, err
	}
	to, known, err := w.Accounts.ByEmail(c.Context, email)
	var malformed *bourse.Error
	switch {
	case errors.As(err, &malformed):
		return 0, v2.Errorf(v2.InvalidAddress, "address: not an e-mail address")
	case err != nil:
		return 0, err
	case !known:
		c.Limits.Charge(api.Orders, c.Payer(), unknownWeighs)
		return 0, v2.Errorf(v2.InvalidAddress, "address: no account has this e-mail address")
	case to.ID == c.Who.Account:
		return 0, v2.Errorf(v2.InvalidAddress, "address: it is your own")
	}
	return to.ID, nil
}

// confirm makes a request, which what says in plain words, ready to be sent: with its key, the time before which the
// account's money does not leave, and the second factor that a session may need.
// Its check and answers are those of [teller.Teller.Clear].
func (w *Wallet) confirm(c *v2.Call, what string, asked *bourse.Withdraw, check func() error) (refused, err error) {
	key, err := c.IdempotencyKey()
	if err != nil {
		return nil, err
	}
	act, err := c.Act(account.CaseWithdrawal)
	if err != nil {
		return nil, err
	}
	act.What = what
	if key.Given() {
		asked.Once = teller.Once(key, act.Digest)
	}
	return w.Clear(c.Context, c.Who, act, asked, check)
}

// codes are those of the reasons for which the exchange refuses a request; others
// are NOT_ACCEPTABLE.
var codes = map[bourse.Reason]v2.Code{
	bourse.InsufficientFunds:  v2.InsufBalance,
	bourse.BelowMinWithdrawal: v2.AmountOutOfRange,
	bourse.Overflow:           v2.AmountOutOfRange,
	bourse.FeeOutOfRange:      v2.FeeOutOfRange,
	bourse.NotOnNetwork:       v2.InvalidNetwork,
	bourse.MemoNotAllowed:     v2.InvalidAddress,
	bourse.UnknownAccount:     v2.InvalidAddress,
	bourse.AccountFrozen:      v2.AccountInactive,
	bourse.WithdrawalsClosed:  v2.Forbidden,
	bourse.DuplicateRequest:   v2.Conflict,
	bourse.AddressTaken:       v2.Conflict,
}

// told returns the error for a reason; nil for none.
func told(r *teller.Route, reason bourse.Reason, asked *bourse.Withdraw) error {
	if reason == 0 {
		return nil
	}
	code, ok := codes[reason]
	if !ok {
		code = v2.NotAcceptable
	}
	return v2.Errorf(code, "%s", r.Refusal(reason, asked))
}
