package terms

import "github.com/bourse-exchange/bourse"

// MaxOpen bounds the open withdrawals of an account.
const MaxOpen = 1_000

// Case is a request for a withdrawal or a transfer, with all state that decides about it.
type Case struct {
	Asked *bourse.Withdraw
	// Asset is nil if it does not exist.
	Asset *bourse.Asset
	// Network is nil if it does not exist, Terms if the network does not carry the asset.
	// A transfer has neither.
	Network *bourse.Network
	Terms   *bourse.NetworkAsset
	// Frozen reports whether the requesting account is frozen.
	Frozen bool
	// Recipient reports whether the account Asked.Internal exists.
	Recipient bool
	// Book is the reason why the address cannot be saved; zero if it can be, or need not.
	Book bourse.Reason
	// Open is the number of the account's open withdrawals.
	Open int
	// Available is the account's available balance of the asset.
	Available bourse.Amount
	// Limit is the limit of the account's tier, Moved the sums of its withdrawals of the asset.
	Limit bourse.FlowLimit
	Moved bourse.Sums
}

// Refusal returns the first reason to refuse the request; zero if there is none.
func (c *Case) Refusal() bourse.Reason {
	if c.Frozen {
		return bourse.AccountFrozen
	}
	if reason := c.refusedByTerms(); reason != 0 {
		return reason
	}

	total, fits := c.total()
	switch {
	case c.Book != 0:
		return c.Book
	case c.Open >= MaxOpen:
		return bourse.TooManyWithdrawals
	case !fits:
		return bourse.Overflow
	case c.Available.Less(total):
		return bourse.InsufficientFunds
	case !c.Limit.Allows(c.Moved.Plus(c.Asked.Amount)):
		return bourse.WithdrawalLimit
	}
	return 0
}

// refusedByTerms checks the request against the catalogue.
func (c *Case) refusedByTerms() bourse.Reason {
	transfer := c.Asked.Transfer()
	switch {
	case c.Asset == nil:
		return bourse.UnknownAsset
	case c.Network == nil && !transfer:
		return bourse.UnknownNetwork
	case (c.Asked.Internal != 0 || transfer) && !c.Recipient:
		return bourse.UnknownAccount
	case c.Terms == nil && !transfer:
		return bourse.NotOnNetwork
	case !c.Asset.Enabled:
		return bourse.WithdrawalsClosed
	case transfer:
		return 0
	}
	return c.refusedByNetwork()
}

// refusedByNetwork checks a withdrawal against the terms of its network.
func (c *Case) refusedByNetwork() bourse.Reason {
	step := bourse.Pow10(c.Asset.Scale - c.Terms.Precision)
	_, amountRest := c.Asked.Amount.Div64(step)
	_, feeRest := c.Asked.Fee.Div64(step)
	switch {
	case !c.Network.Enabled || !c.Terms.Enabled:
		return bourse.WithdrawalsClosed
	case c.Asked.Memo != "" && c.Network.MemoName == "":
		return bourse.MemoNotAllowed
	case amountRest != 0 || feeRest != 0:
		return bourse.BadPrecision
	case c.Asked.Amount.Less(c.Terms.MinWithdrawal):
		return bourse.BelowMinWithdrawal
	case c.Terms.FeeMax.Less(c.Asked.Fee), c.Asked.Fee.Less(LeastFee(c.Asked, c.Terms)):
		return bourse.FeeOutOfRange
	}
	return 0
}

// LeastFee returns the least fee of a withdrawal: none if it goes to an account of this
// exchange.
func LeastFee(asked *bourse.Withdraw, t *bourse.NetworkAsset) bourse.Amount {
	if asked.Internal != 0 {
		return bourse.Amount{}
	}
	return t.FeeMin
}

// total returns the amount to hold: with the fee, unless the money stays inside the
// exchange; false if it does not fit.
func (c *Case) total() (bourse.Amount, bool) {
	if c.Asked.Internal != 0 {
		return c.Asked.Amount, true
	}
	return c.Asked.Amount.Add(c.Asked.Fee)
}
