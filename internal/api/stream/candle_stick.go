package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

// candleStick stages a candle.
func (p *Publisher) candleStick(m *bourse.Market, u *view.Update) {
	topic := feed.Topic{Kind: kindCandleStick, Market: m.ID, Resolution: u.Resolution}
	name := nameCandleStick + "1"
	switch u.Resolution {
	case bourse.Hour:
		name = nameCandleStick + "60"
	case bourse.Day:
		name = nameCandleStick + "1D"
	default: // a minute
	}

	w, ok := p.begin(topic, m.Pair, name)
	if !ok {
		return
	}

	c := &u.Candle
	writeTime(w, c.Start)
	w.Word("pair", string(m.Pair))
	w.Price("open", c.Open, m.QuotePrecision)
	w.Price("high", c.High, m.QuotePrecision)
	w.Price("low", c.Low, m.QuotePrecision)
	w.Price("close", c.Close, m.QuotePrecision)
	w.Amount("volume", c.Volume, m.BasePrecision)
	p.stage(topic, uint64(p.seq))
}
