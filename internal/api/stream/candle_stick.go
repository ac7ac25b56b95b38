package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// candleStick stages a candle that changed, and, after the command's last trade, the candles of
// the wider resolutions for which it is kept.
func (p *Publisher) candleStick(m *bourse.Market, u *view.Update) {
	p.candle(m, u.Resolution, &u.Candle)
	if u.After < 0 || u.After != p.lastTrade[u.Market] {
		return
	}
	for res := u.Resolution + 1; res <= bourse.LastResolution && res.Kept() == u.Resolution; res++ {
		p.candle(m, res, &u.Candle)
	}
}

// candle stages the candle of a resolution. narrow is the current candle of its kept
// resolution.
func (p *Publisher) candle(m *bourse.Market, res bourse.Resolution, narrow *view.Bucket) {
	topic := feed.Topic{Kind: feed.Candles, Market: m.ID, Resolution: res}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	c := p.view.Widen(m.ID, res, narrow)
	writeCandle(w, m, &c)
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
