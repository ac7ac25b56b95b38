package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// candleStick stages a candle.
func (p *Publisher) candleStick(m *bourse.Market, u *view.Update) {
	topic := feed.Topic{Kind: feed.Candles, Market: m.ID, Resolution: u.Resolution}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	writeCandle(w, m, &u.Candle)
	p.stage(topic, uint64(p.seq))
}

func writeCandle(w *wire.Writer, m *bourse.Market, c *view.Bucket) {
	writeTime(w, c.Start)
	w.Word("pair", string(m.Pair))
	w.Price("open", c.Open, m.QuotePrecision)
	w.Price("high", c.High, m.QuotePrecision)
	w.Price("low", c.Low, m.QuotePrecision)
	w.Price("close", c.Close, m.QuotePrecision)
	w.Amount("volume", c.Volume, m.BasePrecision)
}
