package binance

import "github.com/bourse-exchange/bourse"

// selfTradeWords are the modes of self-trade prevention, by mode.
var selfTradeWords = [...]string{
	bourse.SelfTradeNone: "NONE", bourse.CancelNewest: "EXPIRE_TAKER", bourse.CancelOldest: "EXPIRE_MAKER",
	bourse.CancelBoth: "EXPIRE_BOTH", bourse.Decrement: "DECREMENT",
}

func selfTradeWord(m bourse.SelfTradeMode) string { return selfTradeWords[m] }

// kind is a type of orders in this interface.
type kind struct {
	word string
	of   bourse.OrderType
	// maker is set for the type that is a post-only limit.
	maker bool
}

// orderKinds are the types of orders that are served.
var orderKinds = [...]kind{
	{"LIMIT", bourse.Limit, false},
	{"LIMIT_MAKER", bourse.Limit, true},
	{"MARKET", bourse.MarketOrder, false},
	{"STOP_LOSS", bourse.StopMarket, false},
	{"STOP_LOSS_LIMIT", bourse.StopLimit, false},
	{"TAKE_PROFIT", bourse.TakeProfitMarket, false},
	{"TAKE_PROFIT_LIMIT", bourse.TakeProfitLimit, false},
}

// orderTypeWords returns the words of the types that are served.
func orderTypeWords() (words []string) {
	for i := range orderKinds {
		words = append(words, orderKinds[i].word)
	}
	return words
}

// KindWord returns the word of an order's type.
func KindWord(o *bourse.NewOrder) string {
	for i := range orderKinds {
		if k := &orderKinds[i]; k.of == o.Type && k.maker == o.PostOnly {
			return k.word
		}
	}
	return o.Type.String()
}

// StatusWord returns the word of an order's status.
func StatusWord(o *bourse.Order) string {
	switch o.Status {
	case bourse.Filled:
		return "FILLED"
	case bourse.Canceled:
		return "CANCELED"
	case bourse.Killed:
		if o.EndedByPrevention() {
			return "EXPIRED_IN_MATCH"
		}
		return "EXPIRED"
	case bourse.Open:
	}
	if o.Filled > 0 {
		return "PARTIALLY_FILLED"
	}
	return "NEW"
}

// TIFWord returns the word of an order's time in force; GTC for an order at the market, as
// bots expect.
func TIFWord(o *bourse.NewOrder) string {
	if !o.Type.HasPrice() {
		return bourse.GTC.String()
	}
	return o.TIF.String()
}
