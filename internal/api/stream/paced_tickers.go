package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// writeTickers writes the prices and rolling days of some markets.
func writeTickers(w *wire.Writer, c *view.Catalogue, markets []*bourse.Market, days []view.Day) {
	w.Name("tickers")
	w.Array()
	for i, m := range markets {
		w.Object()
		w.Word("pair", string(m.Pair))
		WriteDay(w, c, m, &days[i])
		w.EndObject()
	}
	w.EndArray()
}

// WriteDay writes the price and the rolling day of a market, for people.
func WriteDay(w *wire.Writer, c *view.Catalogue, m *bourse.Market, d *view.Day) {
	w.Price("price", d.Close, m.QuotePrecision)
	w.Price("price_24h", d.Before, m.QuotePrecision)
	w.Price("high", d.High, m.QuotePrecision)
	w.Price("low", d.Low, m.QuotePrecision)
	w.Amount("vol_base", d.Volume, m.BasePrecision)
	w.Amount("vol_quote", d.Value, c.Assets[m.Quote].Scale)
}
