package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// marketTrade stages a trade for the public.
func (p *Publisher) marketTrade(m *bourse.Market, t *bourse.Trade) {
	topic := feed.Topic{Kind: feed.Trades, Market: m.ID}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	writeTrade(w, p.catalogue, &history.Trade{
		Market: t.Market, Number: t.Number, Time: p.now, TakerSide: t.TakerSide,
		Price: t.Price, Lots: t.Lots, Total: t.Total,
	})
	p.stage(topic, t.Number)
}

func writeTrade(w *wire.Writer, c *view.Catalogue, t *history.Trade) {
	m := c.Markets[t.Market]
	writeTime(w, t.Time)
	w.Price("price", t.Price, m.QuotePrecision)
	w.Lots("amount", t.Lots, m.BasePrecision)
	w.Amount("total", t.Total, c.Assets[m.Quote].Scale)
	w.Word("side", t.TakerSide.String())
	w.Word("pair", string(m.Pair))
	w.Uint("trade_id", t.Number)
}
