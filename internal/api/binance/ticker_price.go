package binance

import "github.com/bourse-exchange/bourse"

func priceTickerEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/ticker/price", WS: "ticker.price", Weight: weightOne(),
		Params: append(may("symbol symbols"), statusParam),
		Fields: []Field{
			{Names: "symbol"},
			{Names: "price", State: Differs, Note: "It is the market's initial price until its first trade."},
		},
		Answer: (*Facade).priceTicker,
	}
}

// priceTicker writes last prices.
func (f *Facade) priceTicker(r *Request) error {
	markets := r.symbolOrSymbols(mostSymbols)
	if err := r.Err(); err != nil {
		return err
	}
	tickers := f.View.Tickers(markets)
	at := 0
	return r.eachMarket(markets, func(m *bourse.Market) error {
		r.Out.Object()
		r.symbol(m)
		r.price("price", tickers[at].Price, m)
		r.Out.EndObject()
		at++
		return nil
	})
}
