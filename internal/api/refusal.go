package api

import "github.com/bourse-exchange/bourse"

// refusal describes a reason to clients.
type refusal struct {
	// code is the error's code; zero means CodeRefused.
	code bourse.Code
	// plain replaces the reason's word.
	plain string
	// order and withdrawal are appended to the reason's word, depending on the request.
	// Without a sentence the word stands alone.
	order, withdrawal string
}

// refusals describe reasons to the clients of all interfaces. A reason without an entry
// is reported by its word.
var refusals = map[bourse.Reason]refusal{
	bourse.InsufficientFunds: {
		order:      "less is available than the order must hold",
		withdrawal: "less is available than the withdrawal must hold",
	},
	bourse.BelowMinOrder: {order: "the order is worth less than the market's least"},
	bourse.MarketClosed:  {order: "the market takes no orders now"},
	bourse.TooManyOrders: {order: "the account has the most open orders allowed in this market"},
	bourse.DuplicateClientID: {
		order: "the client_id stands for another order", withdrawal: "the client_id stands for another withdrawal",
	},
	bourse.WouldTake:       {order: "a post-only order would trade at once"},
	bourse.PriceOutOfRange: {order: "the price is beyond what the market takes"},
	bourse.AccountFrozen:   {order: "the account may not place orders", withdrawal: "the account may not withdraw"},
	bourse.NothingLeft:     {order: "the order has traded or lost that amount already"},
	bourse.NotAmendable:    {order: "an order without a price is not amended"},
	bourse.Overflow: {
		order: "the order's value cannot be counted", withdrawal: "amount and fee cannot be counted",
	},
	bourse.TradeLimit: {order: "the account's tier lets it give less of the asset in 24 hours or 30 days"},
	bourse.NoCollar:   {order: "the market has no collar to bound the cost; give total in place of amount"},

	bourse.DuplicateRequest:   {withdrawal: "the Idempotency-Key stands for another request"},
	bourse.WithdrawalsClosed:  {withdrawal: "the asset or the network takes no withdrawals"},
	bourse.TooManyWithdrawals: {withdrawal: "the account has the most open withdrawals allowed"},
	bourse.WithdrawalLimit: {
		withdrawal: "the account's tier lets it withdraw less of the asset in 24 hours or 30 days",
	},
	bourse.TooMany:        {withdrawal: "the address book is full"},
	bourse.NotOnNetwork:   {withdrawal: "network: does not carry the asset"},
	bourse.BadPrecision:   {withdrawal: "amount or fee: more decimals than the network moves"},
	bourse.MemoNotAllowed: {withdrawal: "memo: the network has no memos"},
	bourse.UnknownAccount: {withdrawal: "the account does not exist"},

	bourse.OrderNotFound:      {code: bourse.CodeNotFound, plain: "Order not found"},
	bourse.ListNotFound:       {code: bourse.CodeNotFound, plain: "List not found"},
	bourse.MarketHaltedNow:    {plain: "Market halted"},
	bourse.WithdrawalNotFound: {code: bourse.CodeNotFound, plain: "Withdrawal not found"},
	bourse.WithdrawalSigned:   {plain: "Withdrawal already sent"},
	bourse.AddressTaken: {
		code: bourse.CodeConflict, plain: "adbk_name: the address is saved under another name",
	},
	bourse.Voided: {plain: "Refused by the operator"},
}

// RefusedOrder returns the error for a refused order or cancel of one; nil for reason
// zero.
func RefusedOrder(reason bourse.Reason) error { return Refused(reason, refusals[reason].order) }

// RefusedWithdrawal returns the error for a refused withdrawal, transfer or cancel of
// one; nil for reason zero.
func RefusedWithdrawal(reason bourse.Reason) error {
	return Refused(reason, refusals[reason].withdrawal)
}

// Refused returns the error for a reason, explained by a sentence; nil for reason zero.
func Refused(reason bourse.Reason, sentence string) error {
	if reason == 0 {
		return nil
	}

	about := refusals[reason]
	e := &bourse.Error{Code: bourse.CodeRefused, Message: reason.String(), Reason: reason}
	if about.code != 0 {
		e.Code = about.code
	}
	switch {
	case about.plain != "":
		e.Message = about.plain
	case sentence != "":
		e.Message += ": " + sentence
	}
	return e
}
