package teller

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// reasons are those for which the exchange refuses a withdrawal or its cancel.
var reasons = api.Reasons{
	Explained: map[bourse.Reason]string{
		bourse.InsufficientFunds:  "less is available than the withdrawal must hold",
		bourse.DuplicateClientID:  "the client_id stands for another withdrawal",
		bourse.DuplicateRequest:   "the Idempotency-Key stands for another request",
		bourse.AccountFrozen:      "the account may not withdraw",
		bourse.Overflow:           "amount and fee cannot be counted",
		bourse.WithdrawalsClosed:  "the asset or the network takes no withdrawals",
		bourse.TooManyWithdrawals: "the account has the most open withdrawals allowed",
		bourse.TooMany:            "the address book is full",
		bourse.NotOnNetwork:       "network: does not carry the asset",
		bourse.BadPrecision:       "amount or fee: more decimals than the network moves",
		bourse.MemoNotAllowed:     "memo: the network has no memos",
		bourse.UnknownAccount:     "the account does not exist",
	},
	Plain: map[bourse.Reason]*bourse.Error{
		bourse.WithdrawalNotFound: bourse.Errorf(bourse.CodeNotFound, "Withdrawal not found"),
		bourse.WithdrawalSent:     bourse.Errorf(bourse.CodeRefused, "Withdrawal already sent"),
		bourse.AddressTaken:       bourse.Errorf(bourse.CodeConflict, "adbk_name: the address is saved under another name"),
	},
}

// Refusal returns the error for a reason.
func Refusal(reason bourse.Reason) error { return reasons.Refusal(reason) }

// Refusal returns the error for a reason, with the terms that it is about.
func (r *Route) Refusal(reason bourse.Reason, asked *bourse.Withdraw) error {
	switch reason {
	case bourse.FeeOutOfRange:
		return bourse.Errorf(bourse.CodeRefused, "%s: fee: must be from %s to %s", reason,
			r.LeastFee(asked).Format(r.Asset.Scale), r.Terms.FeeMax.Format(r.Asset.Scale))
	case bourse.BelowMinWithdrawal:
		return bourse.Errorf(bourse.CodeRefused, "%s: amount: must be at least %s", reason,
			r.Terms.MinWithdrawal.Format(r.Asset.Scale))
	default:
		return Refusal(reason)
	}
}
