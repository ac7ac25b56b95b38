package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// orderBook stages a level of the book. Prices and amounts keep all their decimals, so
// that clients can match levels as strings.
func (p *Publisher) orderBook(l *bourse.Level) {
	m := p.catalogue.Markets[l.Market]
	topic := feed.Topic{Kind: feed.Book, Market: m.ID}
	w, ok := p.begin(topic)
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
	p.stage(topic, l.Seq)
}
