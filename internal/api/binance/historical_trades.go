package binance

func historicalTradesEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/historicalTrades", WS: "trades.historical", Weight: fixed(25),
		Params: append(need("symbol"), may("limit fromId")...), Fields: tradeFields,
		Answer: (*Facade).historicalTrades,
	}
}

// historicalTrades lists a market's trades from a number on, oldest first; the last ones
// without a number.
func (f *Facade) historicalTrades(r *Request) error {
	m, limit, from := r.market(), r.Limit(usualLimit, mostLimit), r.Long("fromId", 0)
	if err := r.Err(); err != nil {
		return err
	}
	last := f.View.LastTrade(m.ID)
	if !r.Has("fromId") {
		return f.writeTrades(r, m, newestSpan(last, limit))
	}
	return f.writeTrades(r, m, spanFrom(uint64(from), last, limit))
}
