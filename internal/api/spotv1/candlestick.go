package spotv1

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

// candlePageSize is the number of candles in a page.
const candlePageSize = 500

var candlestickFields = api.Fields{"pair", "res", "from", "to", "limit", "before"}

// candlestick lists a market's candles, oldest first.
func (s *Spot) candlestick(c *api.Call) error {
	m, q := s.candleQuery(c)
	if err := c.Err(); err != nil {
		return err
	}

	candles, read, err := s.History.Candles(c.Context, q)
	if err != nil {
		return err
	}
	// A request pays for as many stored candles as a page of their own resolution has.
	if more := (read - 1) / candlePageSize; more > 0 {
		c.Charge(more)
	}

	c.Out.Name("candlestick")
	c.Out.Array()
	for i := range candles {
		writeCandle(c, m, &candles[i])
	}
	c.Out.EndArray()
	return nil
}

// candleQuery reads a request for candles. One without from, or with before, is for the
// newest ones.
func (s *Spot) candleQuery(c *api.Call) (*bourse.Market, *history.CandleQuery) {
	c.Require("pair", "res")
	if !c.Has("limit") && !c.Has("before") {
		c.Require("from", "to")
	}

	m := c.Pair("pair", s.market)
	q := &history.CandleQuery{Resolution: c.Resolution("res"), To: math.MaxInt64, Limit: candlePageSize}
	if m != nil {
		q.Market = m.ID
	}

	q.Newest = c.Has("before") || !c.Has("from")
	q.From = c.Second("from")
	if c.Has("to") {
		q.To = c.Second("to")
	}
	if c.Has("limit") {
		q.Limit = int(c.Int("limit", 1, candlePageSize))
	}
	if c.Has("before") {
		q.To = min(q.To, c.Second("before")-1)
	}
	return m, q
}

func writeCandle(c *api.Call, m *bourse.Market, k *history.Candle) {
	c.Out.Object()
	c.Out.Time("time", k.Start)
	c.Out.Price("open", k.Open, m.QuotePrecision)
	c.Out.Price("high", k.High, m.QuotePrecision)
	c.Out.Price("low", k.Low, m.QuotePrecision)
	c.Out.Price("close", k.Close, m.QuotePrecision)
	c.Out.Amount("volume", k.Volume, m.BasePrecision)
	c.Out.EndObject()
}
