package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse/internal/api"
)

// tradeEndpoints returns the endpoints that place and cancel orders.
func tradeEndpoints() []Endpoint {
	const (
		notYet     = "It comes with a later version."
		noSOR      = "Orders are not routed."
		deprecated = "It is deprecated; orderList/oco takes its place."
	)
	unserved := func(path, ws, note string) Endpoint {
		return Endpoint{
			Method: "POST", Path: path, WS: ws, Security: Trade, Weight: fixed(1), Class: api.Orders,
			State: NotServed, Note: note,
		}
	}
	return []Endpoint{
		newOrderEndpoint(),
		testOrderEndpoint(),
		cancelOrderEndpoint(),
		cancelOpenOrdersEndpoint(),
		cancelReplaceEndpoint(),
		amendEndpoint(),
		unserved("/api/v3/order/oco", "orderList.place", deprecated),
		newListEndpoint(),
		unserved("/api/v3/orderList/oto", "orderList.place.oto", notYet),
		unserved("/api/v3/orderList/otoco", "orderList.place.otoco", notYet),
		unserved("/api/v3/orderList/opo", "orderList.place.opo", notYet),
		unserved("/api/v3/orderList/opoco", "orderList.place.opoco", notYet),
		cancelListEndpoint(),
		unserved("/api/v3/sor/order", "sor.order.place", noSOR),
		unserved("/api/v3/sor/order/test", "sor.order.test", noSOR),
	}
}

// orderParams are the parameters of a new order.
func orderParams() []Param {
	return slices.Concat(need("symbol side"), []Param{
		{Name: "type", Required: true, State: Differs, Note: "All of them. A stop that the last price has passed already " +
			"fires at the next trade and is not refused; STOP_LOSS and TAKE_PROFIT that buy need a market with a collar."},
	}, may("timeInForce quantity quoteOrderQty price stopPrice newOrderRespType"), []Param{
		{Name: "newClientOrderId", State: Differs, Note: "No slash. A repeat with the same content gets the first answer; " +
			"other content is refused until 24 hours after the order's end. Without it the answer has a name that is made of the order's id."},
		{Name: "selfTradePreventionMode", State: Differs, Note: "NONE, EXPIRE_TAKER, EXPIRE_MAKER, EXPIRE_BOTH and DECREMENT."},
	}, unserved("Labels are not kept.", "strategyId strategyType"),
		unserved("Trailing stops are not served.", "trailingDelta"),
		unserved("Icebergs are not served.", "icebergQty"),
		unserved("Pegged prices are not served.", "pegPriceType pegOffsetValue pegOffsetType"))
}
