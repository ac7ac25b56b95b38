package history

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// widths are the stored candle widths.
var widths = [...]history.Width{history.Minute, history.Hour, history.Day}

// candleID names the current candle of a market and width.
type candleID struct {
	market bourse.MarketID
	width  history.Width
}

// drawing is a candle in memory. changed is true until it is written.
type drawing struct {
	history.Candle
	changed bool
}

// draw adds trades to their candles, and writes the changed candles.
func (s *Store) draw(ctx context.Context, tx *sql.Tx, trades []history.Trade) error {
	for i := range trades {
		for _, width := range widths {
			d, err := s.candle(ctx, tx, candleID{trades[i].Market, width}, trades[i].Time)
			if err != nil {
				return err
			}
			d.Add(&trades[i])
			d.changed = true
		}
	}

	for id, d := range s.drawing {
		if err := s.putCandle(ctx, id, d); err != nil {
			return err
		}
	}
	return s.inserts.candles.Flush(ctx)
}

// candle returns the candle that contains at. It writes the previous one first.
func (s *Store) candle(ctx context.Context, tx *sql.Tx, id candleID, at bourse.Time) (*drawing, error) {
	start := at.Floor(bourse.Time(id.width))
	d := s.drawing[id]
	if d != nil && d.Start == start {
		return d, nil
	}
	if d == nil {
		d = new(drawing)
		s.drawing[id] = d
	} else if err := s.putCandle(ctx, id, d); err != nil {
		return nil, err
	}

	*d = drawing{Candle: history.Candle{Start: start}}
	row := tx.QueryRowContext(ctx, selectCandles+`AND start = $3`, int64(id.market), int64(id.width), int64(start))
	if err := scanCandle(row, &d.Candle); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	return d, nil
}

// putCandle writes a candle if it changed.
func (s *Store) putCandle(ctx context.Context, id candleID, d *drawing) error {
	if !d.changed {
		return nil
	}
	d.changed = false
	return s.inserts.candles.Add(ctx, int64(id.market), int64(id.width), int64(d.Start), integer(d.Open),
		integer(d.High), integer(d.Low), integer(d.Close), high(d.Volume), low(d.Volume),
		high(d.Value), low(d.Value), high(d.Bought), low(d.Bought), high(d.Spent), low(d.Spent),
		integer(d.First), integer(d.Last))
}

const (
	selectCandles = `SELECT start, open, high, low, close, volume_hi, volume_lo, value_hi, value_lo,
			bought_hi, bought_lo, spent_hi, spent_lo, first, last
		FROM candles WHERE market = $1 AND width = $2 `
	selectCandlesIn    = selectCandles + `AND start BETWEEN $3 AND $4 ORDER BY start LIMIT $5`
	selectCandleBefore = selectCandles + `AND start < $3 ORDER BY start DESC LIMIT 1`
	selectFirstCandle  = selectCandles + `ORDER BY start LIMIT 1`
)

func scanCandle(r scanner, c *history.Candle) error {
	var volume, value, bought, spent amount
	err := r.Scan(&c.Start, &c.Open, &c.High, &c.Low, &c.Close, &volume.hi, &volume.lo, &value.hi, &value.lo,
		&bought.hi, &bought.lo, &spent.hi, &spent.lo, &c.First, &c.Last)
	c.Volume, c.Value, c.Bought, c.Spent = volume.get(), value.get(), bought.get(), spent.get()
	return err
}

// Candles returns a market's candles, oldest first.
func (s *Store) Candles(
	ctx context.Context, series history.Series, from, to bourse.Time, limit int,
) ([]history.Candle, error) {
	return list(ctx, s, selectCandlesIn, scanCandle, int64(series.Market), int64(series.Width), int64(from),
		int64(to), limit)
}

// CandleBefore returns the last candle that starts before a time.
func (s *Store) CandleBefore(
	ctx context.Context, series history.Series, before bourse.Time,
) (history.Candle, bool, error) {
	return one(ctx, s, selectCandleBefore, scanCandle, int64(series.Market), int64(series.Width), int64(before))
}

// FirstCandle returns the first candle of a market.
func (s *Store) FirstCandle(
	ctx context.Context, series history.Series,
) (history.Candle, bool, error) {
	return one(ctx, s, selectFirstCandle, scanCandle, int64(series.Market), int64(series.Width))
}
