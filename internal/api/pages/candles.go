package pages

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/history"
)

const (
	// usualCandles is the number of candles in a page by default, mostCandles the greatest.
	usualCandles = 500
	mostCandles  = 1000
	// weighedCandles is the number of stored candles that a request pays for, as in V1.
	weighedCandles = 500
)

var candlesFields = api.Fields{"pair", "res", "before", "limit"}

// candles lists the newest candles of a market, or those before a time, oldest first, as rows.
func (p *Pages) candles(c *v2.Call) error {
	c.Require("pair", "res")
	m := c.Pair("pair", p.market)
	q := &history.CandleQuery{Resolution: c.Resolution("res"), To: math.MaxInt64, Newest: true, Limit: usualCandles}
	if c.Has("limit") {
		q.Limit = int(c.Int("limit", 1, mostCandles))
	}
	if c.Has("before") {
		q.To = c.Second("before") - 1
	}
	if err := c.Err(); err != nil {
		return err
	}

	q.Market = m.ID
	list, read, err := p.History.Candles(c.Context, q)
	if err != nil {
		return err
	}
	if more := (read - 1) / weighedCandles; more > 0 {
		c.Charge(more)
	}

	c.Out.Word("pair", string(m.Pair))
	c.Out.Word("res", q.Resolution.String())
	c.Out.Name("candles")
	c.Out.Array()
	for i := range list {
		writeCandle(c, m, &list[i])
	}
	c.Out.EndArray()
	return nil
}

// writeCandle writes a row of time, open, high, low, close and volume.
func writeCandle(c *v2.Call, m *bourse.Market, k *history.Candle) {
	c.Out.Array()
	c.Out.Integer(uint64(k.Start.Seconds()))
	for _, price := range [...]bourse.Price{k.Open, k.High, k.Low, k.Close} {
		c.Out.Decimal(bourse.Units(uint64(price)), m.QuotePrecision)
	}
	c.Out.Decimal(k.Volume, m.BasePrecision)
	c.Out.EndArray()
}
