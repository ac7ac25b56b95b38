package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

// reasons are those for which the exchange refuses an order or a cancel.
var reasons = api.Reasons{
	Explained: map[bourse.Reason]string{
		bourse.InsufficientFunds: "less is available than the order must hold",
		bourse.BelowMinOrder:     "the order is worth less than the market's least",
		bourse.MarketClosed:      "the market takes no orders now",
		bourse.TooManyOrders:     "the account has the most open orders allowed in this market",
		bourse.DuplicateClientID: "the client_id stands for another order",
		bourse.WouldTake:         "a post-only order would trade at once",
		bourse.PriceOutOfRange:   "the price is beyond what the market takes",
		bourse.AccountFrozen:     "the account may not place orders",
		bourse.Overflow:          "the order's value cannot be counted",
	},
	Plain: map[bourse.Reason]*bourse.Error{
		bourse.OrderNotFound:   bourse.Errorf(bourse.CodeNotFound, "Order not found"),
		bourse.MarketHaltedNow: bourse.Errorf(bourse.CodeRefused, "Market halted"),
	},
}
