package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// tickerEx stages a change of the price or the rolling day.
func (p *Publisher) tickerEx(m *bourse.Market, t *view.Ticker) {
	topic := feed.Topic{Kind: feed.TickerEx, Market: m.ID}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	writeTickerEx(w, p.catalogue, m, t)
	p.stage(topic, uint64(p.seq))
}

func writeTickerEx(w *wire.Writer, c *view.Catalogue, m *bourse.Market, t *view.Ticker) {
	writeTicker(w, m, t)
	w.Price("high", t.High, m.QuotePrecision)
	w.Price("low", t.Low, m.QuotePrecision)
	w.Amount("vol_base", t.Volume, m.BasePrecision)
	w.Amount("vol_quote", t.Value, c.Assets[m.Quote].Scale)
}
