package binance

import (
	"math/bits"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

// statistics are those of a market's trades in a span of time.
type statistics struct {
	view.Bucket
	// openTime and closeTime bound the span.
	openTime, closeTime bourse.Time
}

// begin returns statistics of a span without trades, whose prices are the last one.
func (f *Facade) begin(m *bourse.Market, openTime, closeTime bourse.Time) *statistics {
	last := f.View.Ticker(m.ID).Price
	return &statistics{view.Bucket{Open: last, High: last, Low: last, Close: last}, openTime, closeTime}
}

// add adds the trades of a later part of the span.
func (s *statistics) add(b *view.Bucket) {
	if b.Last == 0 {
		return
	}
	if s.Last == 0 {
		s.Bucket = *b
		return
	}
	s.High, s.Low, s.Close, s.Last = max(s.High, b.High), min(s.Low, b.Low), b.Close, b.Last
	s.Volume, s.Value = saturated(s.Volume, b.Volume), saturated(s.Value, b.Value)
}

// addCandles adds later candles.
func (s *statistics) addCandles(list []history.Candle) {
	for i := range list {
		k := &list[i]
		s.add(&view.Bucket{
			Open: k.Open, High: k.High, Low: k.Low, Close: k.Close,
			Volume: k.Volume, Value: k.Value, First: k.First, Last: k.Last,
		})
	}
}

// perThousand is the share of a percent in which changes are told.
const perThousand = 1000

// percentChange returns the change from before to price in percent, with three decimals
// rounded towards zero.
func percentChange(price, before bourse.Price) string {
	diff, sign := price-before, ""
	if price < before {
		diff, sign = before-price, "-"
	}
	if before == 0 {
		return "0.000"
	}
	hi, lo := bits.Mul64(uint64(diff), 100*perThousand)
	n, _ := bourse.Amount{Hi: hi, Lo: lo}.Div64(uint64(before))
	if n.IsZero() {
		sign = ""
	}
	return sign + string(n.AppendFixed(nil, 3))
}

// signedPrice returns the difference of two prices.
func signedPrice(price, before bourse.Price, m *bourse.Market) string {
	if price < before {
		return "-" + priceText(before-price, m)
	}
	return priceText(price-before, m)
}

// writeChange writes the fields of a full ticker from priceChange on.
func (r *Request) writeChange(m *bourse.Market, s *statistics) {
	r.Out.Word("priceChange", signedPrice(s.Close, s.Open, m))
	r.Out.Word("priceChangePercent", percentChange(s.Close, s.Open))
	r.price("weightedAvgPrice", averageOf(m, s.Value, s.Volume), m)
}

// writePrices writes the fields openPrice to lowPrice.
func (r *Request) writePrices(m *bourse.Market, s *statistics) {
	r.price("openPrice", s.Open, m)
	r.price("highPrice", s.High, m)
	r.price("lowPrice", s.Low, m)
}

// writeSums writes the fields from volume on.
func (r *Request) writeSums(m *bourse.Market, s *statistics) {
	r.Out.Word("volume", string(s.Volume.AppendFixed(nil, m.BasePrecision)))
	r.quote("quoteVolume", s.Value, m)
	r.time("openTime", s.openTime)
	r.time("closeTime", s.closeTime)
	first, last, count := int64(-1), int64(-1), int64(0)
	if s.Last != 0 {
		first, last = int64(s.First), int64(s.Last)
		count = last - first + 1
	}
	r.Out.Int("firstId", first)
	r.Out.Int("lastId", last)
	r.Out.Int("count", count)
}

// writeStatistics writes a ticker, the full one or the short one.
func (r *Request) writeStatistics(m *bourse.Market, s *statistics, full bool) {
	r.Out.Object()
	r.symbol(m)
	if full {
		r.writeChange(m, s)
	}
	r.writePrices(m, s)
	r.price("lastPrice", s.Close, m)
	r.writeSums(m, s)
	r.Out.EndObject()
}

// full reads the parameter type, and reports whether it is FULL.
func (r *Request) full() bool {
	return r.One("type", "FULL", errTicker, "FULL", "MINI") == 0
}

// eachMarket writes the answer for each market that symbol or symbols select: an object for
// symbol, else a list.
func (r *Request) eachMarket(list []*bourse.Market, write func(*bourse.Market) error) error {
	if r.Has("symbol") {
		return write(list[0])
	}
	r.Out.Array()
	for _, m := range list {
		if err := write(m); err != nil {
			return err
		}
	}
	r.Out.EndArray()
	return nil
}

// symbolOrSymbols returns the markets that symbol or symbols select with symbolStatus; all of
// them without either.
func (r *Request) symbolOrSymbols(most int) []*bourse.Market {
	if r.Has("symbol") && r.Has("symbols") {
		r.Fail(Errorf(codeCombination, "Combination of optional parameters invalid."))
		return nil
	}
	return r.withStatus(r.selected(most))
}

// namedMarkets counts the symbols that a request names; -1 if it names none.
func namedMarkets(p *Params) int {
	switch {
	case p.Has("symbol"):
		return 1
	case p.Has("symbols"):
		return len(p.List("symbols", mostSymbols))
	}
	return -1
}

// weightPerSymbol is the weight of tickers that are computed for a request.
func weightPerSymbol() Weight {
	const each, most = 4, 200
	return weighed("4 for each symbol, 200 at most", func(p *Params) int {
		return min(max(namedMarkets(p), 1)*each, most)
	})
}

// weightOne is the weight of tickers that are read: 2 for symbol, 4 otherwise.
func weightOne() Weight {
	return weighed("2 with symbol, 4 without", func(p *Params) int {
		if p.Has("symbol") {
			return 2
		}
		return 4
	})
}
