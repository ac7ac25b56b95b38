package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Candles returns a series' candles with starts in [from, to], oldest first, the oldest
// limit of them. Buckets without trades carry the last close, with a Volume and a Last of
// zero; none is before the first trade and none after the current bucket.
func (r *Reader) Candles(ctx context.Context, series Series, from, to bourse.Time, limit int) ([]Candle, error) {
	width := bourse.Time(series.Width)
	to = min(to, r.live.Now())
	if from > to || to < 0 || limit <= 0 || r.live.LastTrade(series.Market) == 0 {
		return nil, nil
	}

	c := chart{r.store, r.tail.glimpse(), series}
	if err := r.reach(ctx, c.glimpse.begin); err != nil {
		return nil, err
	}

	begin, found, err := c.first(ctx)
	if err != nil || !found {
		return nil, r.told(err)
	}

	if from > begin {
		begin = (from + width - 1).Floor(width)
	}
	end := to.Floor(width)

	if begin > end {
		return nil, nil
	}

	if most := bourse.Time(limit); (end-begin)/width >= most {
		end = begin + (most-1)*width
	}
	list, err := c.list(ctx, begin, end)
	return list, r.told(err)
}

// list returns the candles with starts in [begin, end].
func (c *chart) list(ctx context.Context, begin, end bourse.Time) ([]Candle, error) {
	drawn, err := c.drawn(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	return c.fill(ctx, drawn, begin, end)
}

// chart is one read of candles.
type chart struct {
	store   Store
	glimpse *glimpse
	series  Series
}

// first returns the start of the market's first candle.
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

// drawn returns the candles that have trades, with starts in [begin, end]: the store's,
// with the tail's trades added.
func (c *chart) drawn(ctx context.Context, begin, end bourse.Time) ([]Candle, error) {
	width := bourse.Time(c.series.Width)
	list, err := c.store.Candles(ctx, c.series, begin, end, int((end-begin)/width)+1)
	if err != nil {
		return nil, err
	}
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
	width := bourse.Time(c.series.Width)
	var price bourse.Price
	if len(drawn) == 0 || drawn[0].Start > begin {
		var err error
		if price, err = c.closeBefore(ctx, begin); err != nil {
			return nil, err
		}
	}
	list := make([]Candle, 0, int((end-begin)/width)+1)
	for start := begin; start <= end; start += width {
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
