package binance

import "github.com/bourse-exchange/bourse"

func tradingDayEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/ticker/tradingDay", WS: "ticker.tradingDay", Weight: weightPerSymbol(),
		Params: append(may("symbol symbols type"), statusParam, Param{
			Name: "timeZone", State: Differs, Note: "Whole hours alone.",
		}),
		Fields: statisticsFields, Answer: (*Facade).tradingDay,
	}
}

// tradingDay writes the statistics of the day since midnight in a time zone.
func (f *Facade) tradingDay(r *Request) error {
	if !r.Has("symbol") && !r.Has("symbols") {
		r.Fail(neither("symbol", "symbols"))
	}
	markets, full, east := r.symbolOrSymbols(mostComputed), r.full(), r.zone()
	if err := r.Err(); err != nil {
		return err
	}

	midnight := (r.now() + east).Floor(bourse.Day) - east
	return r.eachMarket(markets, func(m *bourse.Market) error {
		s := f.begin(m, midnight, midnight+bourse.Day-millisecond)
		minutes := f.View.Minutes(m.ID, midnight)
		for i := range minutes.Buckets {
			s.add(&minutes.Buckets[i])
		}
		r.writeStatistics(m, s, full)
		return nil
	})
}
