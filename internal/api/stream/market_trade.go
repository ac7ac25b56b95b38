package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// marketTrade stages a trade for the public.
func (p *Publisher) marketTrade(m *bourse.Market, t *bourse.Trade) {
	topic := feed.Topic{Kind: kindMarketTrade, Market: m.ID}
	w, ok := p.begin(topic, m.Pair, nameMarketTrade)
	if !ok {
		return
	}
	writeTime(w, p.now)
	w.Price("price", t.Price, m.QuotePrecision)
	w.Lots("amount", t.Lots, m.BasePrecision)
	w.Amount("total", t.Total, p.catalogue.Assets[m.Quote].Scale)
	w.Word("side", t.TakerSide.String())
	w.Word("pair", string(m.Pair))
	w.Uint("trade_id", t.Number)
	p.stage(topic, t.Number)
}
