package binance

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

func withdrawEndpoint() Endpoint {
	return Endpoint{
		Method: "POST", Path: "/sapi/v1/capital/withdraw/apply", Security: Withdraw, Weight: fixed(10), Class: api.Orders,
		Repeatable: "withdrawOrderId",
		Params: append(append(append(need("coin address amount"), may("network addressTag")...),
			Param{Name: "withdrawOrderId", State: Differs,
				Note: "1 to 36 characters of A-Z a-z 0-9 . _ : -; a repeat gets the first answer."},
			Param{Name: "transactionFeeFlag", State: Differs, Note: "It is ignored: the fee is part of the amount always."},
			Param{Name: "walletType", State: Differs, Note: "It is ignored: there is one wallet."},
		), unserved("Addresses are saved in the account's pages.", "name")...),
		Fields: []Field{{Names: "id"}},
		State:  Differs, Note: "It weighs 10 and not 600: there is one limit of weights. The amount includes the fee, " +
			"which is the withdrawFee of config/getall; one to another account of the exchange is free.",
		Answer: (*Facade).withdraw,
	}
}

// withdraw requests a withdrawal. A key needs no second factor.
func (f *Facade) withdraw(r *Request) error {
	route, err := f.route(r)
	if err != nil {
		return err
	}
	asked := &bourse.Withdraw{
		Network: route.Listed.ID, Asset: route.Asset.ID, Fee: teller.UsualFee(route.Asset, route.Terms),
	}
	if err := r.readPayment(&route, asked); err != nil {
		return err
	}

	o, err := f.Teller.Pay(r.Context, &teller.Payment{
		Who: r.Who, Act: account.Act{Case: account.CaseWithdrawal, What: route.Says(asked)}, Asked: asked,
		Check: func() error {
			return refusedPayment(f.Teller.Precheck(r.Who.Account, &route, asked))
		},
		Send: func() (bourse.Outcome, error) {
			return f.Teller.Accounts.Withdraw(r.Context, &bourse.Command{
				Kind: bourse.CommandWithdraw, Account: r.Who.Account, Wallet: &bourse.WalletCommand{Withdraw: asked},
			}, "")
		},
	})
	switch {
	case err != nil:
		return err
	case o.Reason != 0:
		return refusedPayment(o.Reason)
	}
	r.Out.Object()
	r.Out.Word("id", bourse.Units(o.ID).Format(0))
	r.Out.EndObject()
	return nil
}

// readPayment reads the destination, the amount and the name of a withdrawal.
func (r *Request) readPayment(route *teller.Route, asked *bourse.Withdraw) error {
	text := r.decimal("amount", route.Asset.Scale, route.Asset.Scale, "")
	address, memo, name := r.Text("address"), r.Text("addressTag"), r.Text("withdrawOrderId")
	if err := r.Err(); err != nil {
		return err
	}

	amount, err := route.Amount(text)
	if err != nil {
		return Errorf(codeMultiple, "Asset withdrawal must be a multiple of withdrawIntegerMultiple.")
	}
	if !asked.Fee.Less(amount) {
		return Errorf(codeCommission, "The amount of withdrawal must be greater than the Commission.")
	}
	asked.Amount = amount.Minus(asked.Fee)

	var misplaced *teller.MisplacedError
	if err := route.Direct(asked, address, memo); errors.As(err, &misplaced) {
		if misplaced.Field == "memo" {
			return Errorf(codeMemo, "Address tag validation is not passed.")
		}
		return Errorf(codeAddress, "Illegal address.")
	}
	if asked.Internal != 0 { // free
		asked.Amount, asked.Fee = amount, bourse.Amount{}
	}
	if name == "" {
		return nil
	}
	if asked.ClientID, err = bourse.ParseClientID(name); err != nil {
		return illegalIn("withdrawOrderId", "^[A-Za-z0-9._:-]{1,36}$")
	}
	return nil
}

// payments are the errors for the reasons to refuse a withdrawal.
var payments = map[bourse.Reason]*Error{
	bourse.InsufficientFunds:  Errorf(codeBalance, "You have insufficient balance."),
	bourse.BelowMinWithdrawal: Errorf(codeMinimum, "Not less than the minimum pick-up quantity."),
	bourse.FeeOutOfRange:      Errorf(codeCommission, "The amount of withdrawal must be greater than the Commission."),
	bourse.WithdrawalsClosed:  Errorf(codeClosed, "Current asset is not open for withdrawal."),
	bourse.WithdrawalsPaused:  Errorf(codeClosed, "Current asset is not open for withdrawal."),
	bourse.NotOnNetwork:       Errorf(codeClosed, "Current asset is not open for withdrawal."),
	bourse.BadPrecision:       Errorf(codeMultiple, "Asset withdrawal must be a multiple of withdrawIntegerMultiple."),
	bourse.MemoNotAllowed:     Errorf(codeMemo, "Address tag validation is not passed."),
	bourse.UnknownAccount:     Errorf(codeAddress, "Illegal address."),
	bourse.UnknownAsset:       errCoin,
	bourse.UnknownNetwork:     invalid("network"),
	bourse.AccountFrozen:      Errorf(codeLimited, "Withdraw is limited."),
	bourse.TooManyWithdrawals: Errorf(codeLimited, "Withdraw is limited."),
	bourse.WithdrawalLimit:    Errorf(codeLimited, "Withdraw is limited."),
	bourse.DuplicateClientID:  Errorf(codeInvalid, "The withdrawOrderId stands for another withdrawal."),
	bourse.Overflow:           Errorf(codeBalance, "You have insufficient balance."),
}

// refusedPayment returns the error for a refused withdrawal; nil for reason zero.
func refusedPayment(reason bourse.Reason) error {
	if reason == 0 {
		return nil
	}
	if e := payments[reason]; e != nil {
		return e
	}
	return Refusal(reason)
}
