package binance

// accountEndpoints returns the endpoints that read an account.
func accountEndpoints() []Endpoint {
	unserved := func(path, ws, note string) Endpoint {
		return Endpoint{Method: "GET", Path: path, WS: ws, Security: UserData, Weight: fixed(4), State: NotServed, Note: note}
	}
	return []Endpoint{
		accountEndpoint(),
		getOrderEndpoint(),
		openOrdersEndpoint(),
		allOrdersEndpoint(),
		getListEndpoint(),
		unserved("/api/v3/allOrderList", "allOrderLists", "Lists that are done are found by their orders: allOrders tells orderListId."),
		openListsEndpoint(),
		myTradesEndpoint(),
		orderLimitsEndpoint(),
		unserved("/api/v3/myPreventedMatches", "myPreventedMatches", "Matches that were prevented are not kept: orders tell preventedQuantity."),
		unserved("/api/v3/myAllocations", "myAllocations", "Orders are not routed."),
		commissionEndpoint(),
		amendmentsEndpoint(),
		unserved("/api/v3/myFilters", "myFilters",
			"No account has filters of its own: exchangeInfo has those of the markets."),
	}
}
