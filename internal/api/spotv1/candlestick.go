package spotv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

// candlePageSize is the number of candles in a page.
const candlePageSize = 500

var candlestickFields = api.Fields{"pair", "res", "from", "to"}

// parseResolution parses the width of a candle.
func parseResolution(text string) (history.Width, bool) {
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
	c.Require("pair", "res", "from", "to")
	m := c.Pair("pair", s.market)
	res, known := parseResolution(c.Text("res"))
	if !known {
		c.Fail(api.Invalid("res", "must be one of 1, 60, 1D"))
	}
	from, to := c.Second("from"), c.Second("to")
	if err := c.Err(); err != nil {
		return err
	}

	of := history.Series{Market: m.ID, Width: res}
	candles, err := s.History.Candles(c.Context, of, from, to, candlePageSize)
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
