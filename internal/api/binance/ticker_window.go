package binance

import (
	"math"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// mostComputed bounds the symbols of a request whose answer is computed for it.
const mostComputed = 100

var statisticsFields = []Field{
	{Names: "symbol priceChange priceChangePercent weightedAvgPrice openPrice highPrice lowPrice lastPrice volume " +
		"quoteVolume openTime closeTime count"},
	{Names: "firstId lastId", State: Differs, Note: noTrades},
}

func windowTickerEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/ticker", WS: "ticker", Weight: weightPerSymbol(),
		Params: append(may("symbol symbols windowSize type"), statusParam), Fields: statisticsFields,
		Answer: (*Facade).windowTicker,
	}
}

// windowTicker writes the statistics of a window of time that ends now.
func (f *Facade) windowTicker(r *Request) error {
	if !r.Has("symbol") && !r.Has("symbols") {
		r.Fail(neither("symbol", "symbols"))
	}
	markets, full, window := r.symbolOrSymbols(mostComputed), r.full(), r.window()
	if err := r.Err(); err != nil {
		return err
	}
	return r.eachMarket(markets, func(m *bourse.Market) error {
		s, err := f.statistics(r, m, window)
		if err == nil {
			r.writeStatistics(m, s, full)
		}
		return err
	})
}

// statistics returns those of a market's window, which begins with a minute.
func (f *Facade) statistics(r *Request, m *bourse.Market, window bourse.Time) (*statistics, error) {
	now := r.now()
	open := max(now-window, 0).Floor(bourse.Minute)
	s := f.begin(m, open, now)
	minutes := f.View.Minutes(m.ID, open)
	if open >= minutes.Since || minutes.First == 0 {
		for i := range minutes.Buckets {
			s.add(&minutes.Buckets[i])
		}
		return s, nil
	}

	hour := (open + bourse.Hour - 1).Floor(bourse.Hour)
	for _, q := range [...]history.CandleQuery{
		{Market: m.ID, Resolution: bourse.Resolution1, From: open, To: hour - 1, Limit: mostLimit},
		{Market: m.ID, Resolution: bourse.Resolution60, From: hour, To: math.MaxInt64, Limit: mostLimit},
	} {
		list, read, err := f.History.Candles(r.Context, &q)
		if err != nil {
			return nil, err
		}
		r.chargeRows(read)
		s.addCandles(list)
	}
	return s, nil
}

// window reads the parameter windowSize: 1m to 59m, 1h to 23h, 1d to 7d.
func (r *Request) window() bourse.Time {
	text := r.Text("windowSize")
	if text == "" {
		return bourse.Day
	}
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 8)
	unit, most := bourse.Time(0), uint64(0)
	switch text[len(text)-1] {
	case 'm':
		unit, most = bourse.Minute, 59
	case 'h':
		unit, most = bourse.Hour, 23
	case 'd':
		unit, most = bourse.Day, 7
	}
	if err != nil || n < 1 || n > most || text[0] == '0' {
		r.Fail(invalid("windowSize"))
		return bourse.Day
	}
	return bourse.Time(n) * unit
}
