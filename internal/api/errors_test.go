package api

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// TestCodesOfErrors checks the codes of errors: an error's own, its reason's, or its kind's.
func TestCodesOfErrors(t *testing.T) {
	for want, err := range map[codes.Code]error{
		"MISSING_DATA":         Missing("pair"),
		"VALIDATION_ERROR":     ErrNotObject,
		"INVALID_KEY":          account.ErrUnauthorized,
		"FORBIDDEN":            Forbidden(account.ScopeTrade),
		"NOT_FOUND":            Unknown("asset", "asset", "XYZ"),
		"CONFLICT":             bourse.Errorf(bourse.CodeConflict, "x"),
		"NOT_ACCEPTABLE":       RefusedOrder(bourse.UnknownMarket), // no code of its own
		"RATE_LIMIT":           fmt.Errorf("wrapped: %w", bourse.ErrBusy),
		"UNAVAILABLE":          bourse.Errorf(bourse.CodeUnavailable, "x"),
		"DISK_FULL":            bourse.Errorf(bourse.CodeFull, "x"),
		"TIMEOUT":              errUnknown,
		"HISTORY_BEHIND":       bourse.Errorf(bourse.CodeBehind, "x"),
		"REQUIRE_2FA":          &account.FactorError{Place: "x"},
		"INVALID_2FA":          account.ErrWrongFactor,
		"LOGIN_FAILED":         account.ErrLogIn,
		"UNAUTHORIZED":         ErrNoSecret,
		"INVALID_ENDPOINT":     ErrNoEndpoint,
		"ALREADY_DONE":         fmt.Errorf("wrapped: %w", Errorf(codes.AlreadyDone, "x")),
		"INSUF_FUNDS":          RefusedWithdrawal(bourse.InsufficientFunds),
		"ORDER_NOT_FOUND":      RefusedOrder(bourse.OrderNotFound),
		"WITHDRAWAL_SIGNED":    RefusedWithdrawal(bourse.WithdrawalSigned),
		"ADDRESS_TAKEN":        RefusedWithdrawal(bourse.AddressTaken),
		"BELOW_MIN_WITHDRAWAL": Refused(bourse.BelowMinWithdrawal, "x"),
	} {
		if got := Known(err); got == nil || got.Code != want || !codes.Listed(want) {
			t.Errorf("%v has %+v, want %s", err, got, want)
		}
	}

	for kind := bourse.CodeMissing; kind <= bourse.CodeBehind; kind++ {
		if !codes.Listed(general[kind]) {
			t.Errorf("kind %d has no code", kind)
		}
	}
	for reason := range refusals {
		if !codes.Listed(Known(RefusedOrder(reason)).Code) || !codes.Listed(codes.Code(reason.String())) {
			t.Errorf("reason %s has no code of its own", reason)
		}
	}
	if Known(errors.New("disk on fire")) != nil || Public(errors.New("disk on fire")) != ErrInternal.Message {
		t.Error("an internal error is told")
	}
}
