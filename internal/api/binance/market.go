package binance

// marketEndpoints returns the endpoints with the markets' data.
func marketEndpoints() []Endpoint {
	const noBlocks, noReference = "There are no block trades.", "No market has a reference price."
	return []Endpoint{
		depthEndpoint(),
		tradesEndpoint(),
		oldTradesEndpoint(),
		historicalTradesEndpoint(),
		{
			Method: "GET", Path: "/api/v3/historicalBlockTrades", WS: "blockTrades.historical", Weight: fixed(25),
			State: NotServed, Note: noBlocks,
		},
		aggTradesEndpoint(),
		klinesEndpoint("/api/v3/klines", "klines"),
		klinesEndpoint("/api/v3/uiKlines", "uiKlines"),
		avgPriceEndpoint(),
		dayTickerEndpoint(),
		tradingDayEndpoint(),
		priceTickerEndpoint(),
		bookTickerEndpoint(),
		windowTickerEndpoint(),
		{
			Method: "GET", Path: "/api/v3/referencePrice", WS: "referencePrice", Weight: fixed(2),
			State: NotServed, Note: noReference,
		},
		{
			Method: "GET", Path: "/api/v3/referencePrice/calculation", WS: "referencePrice.calculation", Weight: fixed(2),
			State: NotServed, Note: noReference,
		},
	}
}

// statusParam is the parameter symbolStatus.
var statusParam = Param{Name: "symbolStatus", State: Differs, Note: "CANCEL_ONLY is taken as well."}
