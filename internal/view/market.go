package view

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Ticker returns a market's ticker; the market must exist.
func (v *View) Ticker(id bourse.MarketID) Ticker {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.tape.markets[id].ticker()
}

// LastTrade returns the number of a market's last trade; zero if there is no trade or no
// market.
func (v *View) LastTrade(id bourse.MarketID) uint64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if int(id) >= len(v.tape.markets) || id == 0 {
		return 0
	}
	return v.tape.markets[id].trades
}

// Candle returns a market's current candle; false before the first trade.
func (v *View) Candle(id bourse.MarketID, res bourse.Resolution) (Bucket, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.tape.markets[id]
	return m.candle(res, &m.candles[res.Kept()]), m.trades > 0
}

// Widen returns a market's current candle of a resolution. narrow is the current candle of its
// kept resolution, as an Update had it. Owned by the goroutine that observes.
func (v *View) Widen(id bourse.MarketID, res bourse.Resolution, narrow *Bucket) Bucket {
	return v.tape.markets[id].candle(res, narrow)
}

// Tickers returns the tickers of some markets, all at one moment.
func (v *View) Tickers(markets []*bourse.Market) []Ticker {
	list := make([]Ticker, len(markets))
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i, m := range markets {
		list[i] = v.tape.markets[m.ID].ticker()
	}
	return list
}

// Day is a market's rolling day. Without trades Bucket's prices are the last price.
type Day struct {
	Bucket
	// Before is the price at the start of the day, Lots the quantity of the last trade.
	Before bourse.Price
	Lots   bourse.Lots
}

// Moment is the last command that was visible to a reader, and the engine's time.
type Moment struct {
	Seq  bourse.Seq
	Time bourse.Time
}

// Days returns the rolling days of some markets, all at one moment, and that moment.
func (v *View) Days(markets []*bourse.Market) ([]Day, Moment) {
	list := make([]Day, len(markets))
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i, m := range markets {
		list[i] = v.tape.markets[m.ID].rolling()
	}
	return list, Moment{v.seq, v.now}
}

// Closes returns a market's prices at the last whole hours of the engine's time, oldest first,
// and at last its present price: n in all, of which n-1 hours must be in memory.
func (v *View) Closes(id bourse.MarketID, n int) []bourse.Price {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.tape.markets[id]
	hour := v.now.Floor(bourse.Hour)

	list := make([]bourse.Price, n)
	list[n-1] = m.last
	rest := m.minutes
	for back := range n - 1 {
		end := hour - bourse.Time(back)*bourse.Hour
		at, _ := slices.BinarySearchFunc(rest, end, func(b Bucket, end bourse.Time) int { return cmp.Compare(b.Start, end) })
		rest = rest[:at]
		list[n-2-back] = m.before
		if at > 0 {
			list[n-2-back] = rest[at-1].Close
		}
	}
	return list
}

// Minutes is the part of a market's past in memory.
type Minutes struct {
	// Since is the start of the first complete minute in memory; older ones are in
	// history.
	Since bourse.Time
	// First is the start of the minute of the market's first trade; zero if there was
	// none.
	First bourse.Time
	// Now is the engine's time.
	Now bourse.Time
	// Buckets are the minutes with trades, ascending.
	Buckets []Bucket
}

// Minutes returns a market's minutes in memory that start at or after a time.
func (v *View) Minutes(id bourse.MarketID, from bourse.Time) Minutes {
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.tape.markets[id]
	since := max(m.first, v.now.Floor(bourse.Minute)-tapeKept)
	list := m.minutes
	for len(list) > 0 && list[0].Start < max(from, since) {
		list = list[1:]
	}
	return Minutes{Since: since, First: m.first, Now: v.now, Buckets: slices.Clone(list)}
}
