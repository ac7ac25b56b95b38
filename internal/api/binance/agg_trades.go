package binance

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func aggTradesEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/aggTrades", WS: "trades.aggregate", Weight: fixed(4),
		Params: append(need("symbol"), may("fromId startTime endTime limit")...),
		Fields: []Field{
			{Names: "a", State: Differs, Note: "It is the number of the first trade, f: it rises, never changes, and skips " +
				"the numbers of the other trades."},
			{Names: "p q f l T m"},
			{Names: "M", State: Differs, Note: "It is always true."},
		},
		Answer: (*Facade).aggTrades,
	}
}

// mostPages bounds the pages of trades that a request reads: an order that took as many trades
// at one price makes an answer short.
const mostPages = 20

// aggregate is a run of trades of one taker at one price.
type aggregate struct {
	history.Trade
	last uint64
}

// aggTrades lists a market's trades, those of one taker at one price as one, oldest first. The
// trades of one command and price have one taker: a stop that it triggers trades at another
// price, or goes on with the same aggregate.
func (f *Facade) aggTrades(r *Request) error {
	m, limit := r.market(), r.Limit(usualLimit, mostLimit)
	from := r.Long("fromId", 0)
	since, bySince := r.Time("startTime")
	until, byUntil := r.Until("endTime")
	switch byID := r.Has("fromId"); {
	case r.Err() != nil:
		return r.Err()
	case byID && (bySince || byUntil):
		return Errorf(codeCombination, "Combination of optional parameters invalid.")
	case byID:
		return f.writeAggregates(r, m, uint64(from), math.MaxInt64, limit)
	}

	if !byUntil {
		until = math.MaxInt64
	}
	if bySince {
		first, err := f.tradeAt(r, m, since)
		if err != nil {
			return err
		}
		return f.writeAggregates(r, m, first, until, limit)
	}
	return f.writeLastAggregates(r, m, until, limit)
}

// tradeAt returns the number of a market's first trade at or after a time; the number after
// its last trade if there is none.
func (f *Facade) tradeAt(r *Request, m *bourse.Market, t bourse.Time) (uint64, error) {
	low, high := uint64(1), f.View.LastTrade(m.ID)+1
	for low < high {
		middle := low + (high-low)/2
		list, err := f.span(r, m, history.Span{First: middle, Last: middle})
		if err != nil {
			return 0, err
		}
		if len(list) == 1 && list[0].Time < t {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// writeAggregates writes the aggregates from the one on that begins at a trade or after it, up
// to a time.
func (f *Facade) writeAggregates(r *Request, m *bourse.Market, from uint64, until bourse.Time, limit int) error {
	last := f.View.LastTrade(m.ID)
	from = max(from, 1)
	var list []aggregate
	// The trade before tells whether the first one begins an aggregate.
	next, skipping := from, from > 1
	if skipping {
		next--
	}
	var before history.Trade

	for pages := 0; next <= last && len(list) <= limit && pages < mostPages; pages++ {
		trades, err := f.span(r, m, spanFrom(next, last, mostLimit))
		if err != nil {
			return err
		}
		if len(trades) == 0 {
			break
		}
		for i := range trades {
			t := &trades[i]
			joins := before.Number != 0 && joined(&before, t)
			before = *t
			switch {
			case t.Number < from, skipping && joins:
				continue
			case joins:
				list[len(list)-1].add(t)
			default:
				list = append(list, aggregate{*t, t.Number})
			}
			skipping = false
		}
		next = trades[len(trades)-1].Number + 1
		r.charge(1)
	}
	list = whole(list, limit, next <= last)
	for len(list) > 0 && list[len(list)-1].Time > until {
		list = list[:len(list)-1]
	}
	r.writeAggregateList(m, list)
	return nil
}

// writeLastAggregates writes the last aggregates up to a time.
func (f *Facade) writeLastAggregates(r *Request, m *bourse.Market, until bourse.Time, limit int) error {
	end := f.View.LastTrade(m.ID) + 1
	if until != math.MaxInt64 {
		var err error
		if end, err = f.tradeAt(r, m, until+1); err != nil {
			return err
		}
	}

	var list []aggregate // newest first, each from its last trade on
	for pages := 0; end > 1 && len(list) <= limit && pages < mostPages; pages++ {
		span := newestSpan(end-1, mostLimit)
		trades, err := f.span(r, m, span)
		if err != nil {
			return err
		}
		for i := len(trades) - 1; i >= 0; i-- {
			t := &trades[i]
			if n := len(list); n > 0 && joined(t, &list[n-1].Trade) {
				list[n-1].addBefore(t)
			} else {
				list = append(list, aggregate{*t, t.Number})
			}
		}
		end = span.First
		r.charge(1)
	}

	list = whole(list, limit, end > 1)
	ordered := make([]aggregate, len(list))
	for i := range list {
		ordered[len(list)-1-i] = list[i]
	}
	r.writeAggregateList(m, ordered)
	return nil
}

// whole returns the aggregates of an answer. With more trades unread the last one read may lack
// some, and is left out unless it is alone.
func whole(list []aggregate, limit int, more bool) []aggregate {
	if more && len(list) > 1 {
		list = list[:len(list)-1]
	}
	return list[:min(len(list), limit)]
}

// joined reports whether a trade goes on with the aggregate of the one before.
func joined(before, t *history.Trade) bool {
	return before.Seq == t.Seq && before.Price == t.Price && before.TakerSide == t.TakerSide
}

func (a *aggregate) add(t *history.Trade) {
	a.Lots += t.Lots
	a.last = t.Number
}

func (a *aggregate) addBefore(t *history.Trade) {
	lots := a.Lots + t.Lots
	a.Trade = *t
	a.Lots = lots
}

func (r *Request) writeAggregateList(m *bourse.Market, list []aggregate) {
	r.Out.Array()
	for i := range list {
		a := &list[i]
		r.Out.Object()
		r.Out.Uint("a", a.Number)
		r.price("p", a.Price, m)
		r.lots("q", a.Lots, m)
		r.Out.Uint("f", a.Number)
		r.Out.Uint("l", a.last)
		r.time("T", a.Time)
		r.Out.Bool("m", a.TakerSide == bourse.Sell)
		r.Out.Bool("M", true)
		r.Out.EndObject()
	}
	r.Out.EndArray()
}
