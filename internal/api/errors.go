package api

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// ErrTooMany says that a limit was reached; nothing was taken.
var ErrTooMany = bourse.Errorf(bourse.CodeBusy, "Too many requests")

// ErrUnauthorized says that no usable key was given. It does not say why.
var ErrUnauthorized = bourse.Errorf(bourse.CodeUnauthorized, "Unauthorized")

// Forbidden says that a key lacks a scope.
func Forbidden(scope account.Scopes) error {
	return bourse.Errorf(bourse.CodeForbidden, "Forbidden: the key has no scope %s", scope)
}

// Public returns what a caller may read of an error: an *bourse.Error speaks for
// itself, anything else is ours.
func Public(err error) string {
	var e *bourse.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "Internal error"
}

// sentences explain the reasons for which the exchange says no.
var sentences = map[bourse.Reason]string{
	bourse.InsufficientFunds: "less is available than the order must hold",
	bourse.BelowMinOrder:     "the order is worth less than the market's least",
	bourse.MarketClosed:      "the market takes no orders now",
	bourse.TooManyOrders:     "the account has the most open orders allowed in this market",
	bourse.DuplicateClientID: "the client_id stands for another order",
	bourse.WouldTake:         "a post-only order would trade at once",
	bourse.PriceOutOfRange:   "the price is beyond what the market takes",
	bourse.AccountFrozen:     "the account may not place orders",
	bourse.Overflow:          "the order's value cannot be counted",
}

// plain are the reasons that are told without their word.
var plain = map[bourse.Reason]*bourse.Error{
	bourse.OrderNotFound:   bourse.Errorf(bourse.CodeNotFound, "Order not found"),
	bourse.MarketHaltedNow: bourse.Errorf(bourse.CodeRefused, "Market halted"),
	bourse.Voided:          bourse.Errorf(bourse.CodeRefused, "Refused by the operator"),
}

// Refusal returns the error for a reason of the exchange.
func Refusal(reason bourse.Reason) error {
	if err, ok := plain[reason]; ok {
		return err
	}
	if s, ok := sentences[reason]; ok {
		return bourse.Errorf(bourse.CodeRefused, "%s: %s", reason, s)
	}
	return bourse.Errorf(bourse.CodeRefused, "%s", reason)
}
