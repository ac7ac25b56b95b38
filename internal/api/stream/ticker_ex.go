package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// tickerEx stages a change of the price or the rolling day.
func (p *Publisher) tickerEx(m *bourse.Market, t *view.Ticker) {
	topic := feed.Topic{Kind: kindTickerEx, Market: m.ID}
	w, ok := p.begin(topic, m.Pair, nameTickerEx)
	if !ok {
		return
	}
	writeTicker(w, m, t)
	w.Price("high", t.High, m.QuotePrecision)
	w.Price("low", t.Low, m.QuotePrecision)
	w.Amount("vol_base", t.Volume, m.BasePrecision)
	w.Amount("vol_quote", t.Value, p.catalogue.Assets[m.Quote].Scale)
	p.stage(topic, uint64(p.seq))
}
