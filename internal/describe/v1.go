package describe

import "slices"

// inV1 are the endpoints, operations and messages of V1's documents.
var inV1 = []string{
	"/spot/markets", "/spot/markets_ex", "/spot/orderbook", "/spot/trades", "/spot/candlestick",
	"/spot/open_orders", "/spot/orders_history", "/spot/trades_history", "/spot/open_orders/new", "/spot/open_orders/cancel",
	"/wallet/assets", "/wallet/networks", "/wallet/balances", "/wallet/balances_ex", "/wallet/transactions",
	"/wallet/deposit", "/wallet/withdraw/info", "/wallet/withdraw/validate", "/wallet/withdraw", "/wallet/withdraw/cancel",
	"/wallet/addressbook", "/wallet/addressbook/rename", "/wallet/addressbook/delete",
	"ping", "auth", "sub", "unsub",
	"marketTrade", "candleStick", "ticker", "tickerEx", "orderBook", "myOrders", "myTrades",
}

// marked returns a summary, with a mark if V1's documents do not have the name.
func marked(name, summary string) string {
	if slices.Contains(inV1, name) {
		return summary
	}
	return summary + " (new since V1)"
}
