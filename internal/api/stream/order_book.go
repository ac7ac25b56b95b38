package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// orderBook tells what a level of the book holds now. Prices and amounts have
// all their decimals, so that a client can match levels by their text.
func (p *Publisher) orderBook(l *bourse.Level) {
	m := p.catalogue.Markets[l.Market]
	topic := feed.Topic{Kind: feed.Book, Market: m.ID}
	w, ok := p.begin(topic, m.Pair, nameOrderBook)
	if !ok {
		return
	}
	w.Word("pair", string(m.Pair))
	w.Fixed("price", uint64(l.Price), m.QuotePrecision)
	if l.Lots == 0 {
		w.Word("amount", "0")
	} else {
		w.Fixed("amount", uint64(l.Lots), m.BasePrecision)
	}
	w.Word("side", l.Side.String())
	w.Uint("seq", l.Seq)
	p.stage(topic)
}
