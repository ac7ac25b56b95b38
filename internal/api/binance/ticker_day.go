package binance

import "github.com/bourse-exchange/bourse"

// noTrades is the note of the numbers of trades in tickers.
const noTrades = "They are -1 without trades, and start at 1 in each market."

func dayTickerEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/ticker/24hr", WS: "ticker.24hr",
		Weight: weighed("2 up to 20 symbols, 40 up to 100, 80 beyond and for all of them", func(p *Params) int {
			switch n := namedMarkets(p); {
			case n < 0 || n > 100:
				return 80
			case n > 20:
				return 40
			}
			return 2
		}),
		Params: append(may("symbol symbols type"), statusParam),
		Fields: []Field{
			{Names: "symbol priceChange priceChangePercent weightedAvgPrice lastPrice lastQty " +
				"bidPrice bidQty askPrice askQty openPrice highPrice lowPrice volume quoteVolume closeTime count"},
			{Names: "prevClosePrice", State: Differs, Note: "It is the last price before the window."},
			{Names: "openTime", State: Differs,
				Note: "It is a whole minute: the window is a day of whole minutes, and the current one."},
			{Names: "firstId lastId", State: Differs, Note: noTrades},
		},
		Answer: (*Facade).dayTicker,
	}
}

// dayTicker writes the statistics of the rolling day.
func (f *Facade) dayTicker(r *Request) error {
	markets, full := r.symbolOrSymbols(mostSymbols), r.full()
	if err := r.Err(); err != nil {
		return err
	}
	days, seen := f.View.Days(markets)
	bests, now := f.View.Bests(markets), seen.Time
	at := 0
	return r.eachMarket(markets, func(m *bourse.Market) error {
		day, best := &days[at], &bests[at]
		at++
		s := statistics{Bucket: day.Bucket, openTime: now.Floor(bourse.Minute) - bourse.Day + bourse.Minute, closeTime: now}
		if !full {
			r.writeStatistics(m, &s, false)
			return nil
		}

		r.Out.Object()
		r.symbol(m)
		r.writeChange(m, &s)
		r.price("prevClosePrice", day.Before, m)
		r.price("lastPrice", s.Close, m)
		r.lots("lastQty", day.Lots, m)
		r.writeBest(m, best)
		r.writePrices(m, &s)
		r.writeSums(m, &s)
		r.Out.EndObject()
		return nil
	})
}
