package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// CandleQuery selects candles of a market.
type CandleQuery struct {
	Market     bourse.MarketID
	Resolution bourse.Resolution
	// From and To bound the starts of candles, both included.
	From, To bourse.Time
	// Newest selects the newest Limit candles between them, in place of the oldest.
	Newest bool
	Limit  int
}

// bounds returns the starts of the first and the last candle of a page. first and last are
// times in the first and the last candle that there are.
func (q *CandleQuery) bounds(first, last bourse.Time) (begin, end bourse.Time) {
	begin, end = q.Resolution.Floor(first), q.Resolution.Floor(last)
	if q.From > begin {
		if begin = q.Resolution.Floor(q.From); begin < q.From {
			begin = q.Resolution.Add(begin, 1)
		}
	}

	if q.Newest {
		return max(begin, q.Resolution.Add(end, 1-q.Limit)), end
	}
	return begin, min(end, q.Resolution.Add(begin, q.Limit-1))
}

// Candles returns the candles that a query selects, oldest first, and the number of stored
// candles that were read for them: up to 31 for each. Buckets without trades carry the last
// close, with a Volume and a Last of zero; none is before the first trade and none after
// the current bucket.
func (r *Reader) Candles(ctx context.Context, q *CandleQuery) (list []Candle, read int, err error) {
	to := min(q.To, r.live.Now())
	if q.From > to || to < 0 || q.Limit <= 0 || r.live.LastTrade(q.Market) == 0 {
		return nil, 0, nil
	}

	series := Series{q.Market, Width(q.Resolution.Kept().Width())}
	c := chart{store: r.store, glimpse: r.tail.glimpse(), series: series, resolution: q.Resolution}
	if err := r.reach(ctx, c.glimpse.begin); err != nil {
		return nil, 0, err
	}

	first, found, err := c.first(ctx)
	if err != nil || !found {
		return nil, 0, r.told(err)
	}

	begin, end := q.bounds(first, to)
	if begin > end {
		return nil, 0, nil
	}
	list, err = c.list(ctx, begin, end)
	return list, c.read, r.told(err)
}

// chart is one read of candles.
type chart struct {
	store   Store
	glimpse *glimpse
	// series names the kept candles that the resolution's candles are joined of.
	series     Series
	resolution bourse.Resolution
	// read counts the stored candles that were read.
	read int
}

// list returns the candles with starts in [begin, end], which are starts of candles.
func (c *chart) list(ctx context.Context, begin, end bourse.Time) ([]Candle, error) {
	drawn, err := c.drawn(ctx, begin, c.resolution.Add(end, 1)-1)
	if err != nil {
		return nil, err
	}
	return c.fill(ctx, c.widen(drawn), begin, end)
}

// first returns the start of the market's first kept candle.
func (c *chart) first(ctx context.Context) (bourse.Time, bool, error) {
	stored, found, err := c.store.FirstCandle(ctx, c.series)
	if err != nil || found {
		return stored.Start, found, err
	}
	for t := range c.young(0, 0) {
		return t.Time.Floor(bourse.Time(c.series.Width)), true, nil
	}
	return 0, false, nil
}

// drawn returns the kept candles that have trades, with starts in [begin, end]: the store's,
// with the tail's trades added.
func (c *chart) drawn(ctx context.Context, begin, end bourse.Time) ([]Candle, error) {
	width := bourse.Time(c.series.Width)
	list, err := c.store.Candles(ctx, c.series, begin, end, int((end-begin)/width)+1)
	if err != nil {
		return nil, err
	}

	c.read += len(list)
	var last uint64
	if n := len(list); n > 0 {
		last = list[n-1].Last
	}

	for t := range c.young(last, begin) {
		start := t.Time.Floor(width)
		if start > end {
			break
		}
		if n := len(list); n == 0 || list[n-1].Start != start {
			list = append(list, Candle{Start: start})
		}
		list[len(list)-1].Add(t)
	}
	return list, nil
}

// widen joins kept candles to candles of the resolution, in their memory.
func (c *chart) widen(kept []Candle) []Candle {
	list := kept[:0]
	var next bourse.Time
	for _, k := range kept {
		if n := len(list); n > 0 && k.Start < next {
			list[n-1].Join(&k)
			continue
		}
		k.Start = c.resolution.Floor(k.Start)
		next = c.resolution.Add(k.Start, 1)
		list = append(list, k)
	}
	return list
}

// young yields the tail's trades after a number and not before a time, oldest first.
// Numbers and times rise together.
func (c *chart) young(number uint64, from bourse.Time) func(func(*Trade) bool) {
	return func(yield func(*Trade) bool) {
		for _, k := range c.glimpse.chunks {
			list := k.find(tradesByMarket, uint64(c.series.Market), Span{number + 1, ^uint64(0)})
			at, _ := slices.BinarySearchFunc(list, from, func(e entry, from bourse.Time) int {
				return cmp.Compare(k.Trades[e.at].Time, from)
			})
			for _, e := range list[at:] {
				if !yield(&k.Trades[e.at]) {
					return
				}
			}
		}
	}
}

// fill adds the empty candles between the drawn ones.
func (c *chart) fill(ctx context.Context, drawn []Candle, begin, end bourse.Time) ([]Candle, error) {
	var price bourse.Price
	if len(drawn) == 0 || drawn[0].Start > begin {
		var err error
		if price, err = c.closeBefore(ctx, begin); err != nil {
			return nil, err
		}
	}

	list := make([]Candle, 0, len(drawn))
	for start := begin; start <= end; start = c.resolution.Add(start, 1) {
		if len(drawn) > 0 && drawn[0].Start == start {
			list = append(list, drawn[0])
			price, drawn = drawn[0].Close, drawn[1:]
			continue
		}
		list = append(list, Candle{Start: start, Open: price, High: price, Low: price, Close: price})
	}
	return list, nil
}

// closeBefore returns the price of the last trade before a time, which must exist.
func (c *chart) closeBefore(ctx context.Context, before bourse.Time) (bourse.Price, error) {
	stored, _, err := c.store.CandleBefore(ctx, c.series, before)
	if err != nil {
		return 0, err
	}
	price := stored.Close
	for _, k := range slices.Backward(c.glimpse.chunks) {
		list := k.find(tradesByMarket, uint64(c.series.Market), Span{stored.Last + 1, ^uint64(0)})
		at, _ := slices.BinarySearchFunc(list, before, func(e entry, before bourse.Time) int {
			return cmp.Compare(k.Trades[e.at].Time, before)
		})
		if at > 0 {
			return k.Trades[list[at-1].at].Price, nil
		}
	}
	return price, nil
}
