package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// ticker stages a price change.
func (p *Publisher) ticker(m *bourse.Market, t *view.Ticker) {
	topic := feed.Topic{Kind: feed.Ticker, Market: m.ID}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	writeTicker(w, m, t)
	p.stage(topic, uint64(p.seq))
}

func writeTicker(w *wire.Writer, m *bourse.Market, t *view.Ticker) {
	w.Word("pair", string(m.Pair))
	w.Price("price", t.Price, m.QuotePrecision)
	w.Int("change", t.Change)
	w.Price("previous", t.Previous, m.QuotePrecision)
}
