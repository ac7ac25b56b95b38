package v2

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// TestCodesOfRefusals checks the code and the status of refusals: V2's own word where it has
// one, else the reason.
func TestCodesOfRefusals(t *testing.T) {
	type answer struct {
		code   codes.Code
		status int
	}
	for reason, want := range map[bourse.Reason]answer{
		bourse.InsufficientFunds:  {"INSUF_BALANCE", 406},
		bourse.BelowMinWithdrawal: {"AMOUNT_OUT_OF_RANGE", 406},
		bourse.Overflow:           {"AMOUNT_OUT_OF_RANGE", 406},
		bourse.FeeOutOfRange:      {"FEE_OUT_OF_RANGE", 406},
		bourse.NotOnNetwork:       {"INVALID_NETWORK", 406},
		bourse.MemoNotAllowed:     {"INVALID_ADDRESS", 406},
		bourse.UnknownAccount:     {"INVALID_ADDRESS", 406},
		bourse.AccountFrozen:      {"ACCOUNT_INACTIVE", 403},
		bourse.WithdrawalsClosed:  {"FORBIDDEN", 403},
		bourse.DuplicateRequest:   {"CONFLICT", 409},
		bourse.AddressTaken:       {"CONFLICT", 409},
		bourse.WithdrawalSigned:   {"ALREADY_SENT", 406},
		bourse.WithdrawalNotFound: {"NOT_FOUND", 404},
		bourse.TooManyWithdrawals: {"TOO_MANY_WITHDRAWALS", 406},
		bourse.WithdrawalLimit:    {"WITHDRAWAL_LIMIT", 406},
	} {
		e := public(api.RefusedWithdrawal(reason))
		if got := (answer{e.Code, statusOf(e.Code)}); got != want {
			t.Errorf("%s is %v, want %v", reason, got, want)
		}
	}
	for kind, want := range map[bourse.Code]answer{
		bourse.CodeUnavailable: {"INTERNAL_SERVER_ERROR", 500}, bourse.CodeFull: {"INTERNAL_SERVER_ERROR", 500},
		bourse.CodeBehind: {"RATE_LIMIT", 429}, bourse.CodeUnknown: {"TIMEOUT", 504},
	} {
		e := public(bourse.Errorf(kind, "x"))
		if got := (answer{e.Code, statusOf(e.Code)}); got != want {
			t.Errorf("kind %d is %v, want %v", kind, got, want)
		}
	}
	for code := range statuses {
		if !codes.Listed(code) {
			t.Errorf("%s has a status and is no code", code)
		}
	}
}
