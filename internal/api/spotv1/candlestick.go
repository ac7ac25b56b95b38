package spotv1

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

// candlePageSize is how many candles a page holds.
const candlePageSize = 500

var candlestickFields = api.Fields{"pair", "res", "from", "to"}

// maxSeconds is the latest Unix second that engine time can count.
const maxSeconds = math.MaxInt64 / int64(bourse.Second)

// parseResolution reads the width of a candle.
func parseResolution(text string) (history.Resolution, bool) {
	switch text {
	case "1":
		return history.Minute, true
	case "60":
		return history.Hour, true
	case "1D":
		return history.Day, true
	}
	return 0, false
}

// candlestick lists a market's candles, oldest first.
func (s *Spot) candlestick(c *api.Call) error {
	if err := c.Require("pair", "res", "from", "to"); err != nil {
		return err
	}
	m, err := c.Pair("pair", s.market)
	if err != nil {
		return err
	}
	text, err := c.Text("res")
	if err != nil {
		return err
	}
	res, known := parseResolution(text)
	if !known {
		return api.Invalid("res", "must be one of 1, 60, 1D")
	}
	from, err := second(c, "from")
	if err != nil {
		return err
	}
	to, err := second(c, "to")
	if err != nil {
		return err
	}
	candles, err := s.History.Candles(c.Context, m.ID, res, from, to, candlePageSize)
	if err != nil {
		return err
	}
	c.Out.Name("candlestick")
	c.Out.Array()
	for i := range candles {
		writeCandle(c, m, &candles[i])
	}
	c.Out.EndArray()
	return nil
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

// second reads a Unix time in seconds.
func second(c *api.Call, name string) (bourse.Time, error) {
	n, err := c.Int(name, 0, maxSeconds)
	return bourse.Time(n) * bourse.Second, err
}
