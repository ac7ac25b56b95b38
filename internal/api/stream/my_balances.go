package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// myBalance stages a balance after a posting.
func (p *Publisher) myBalance(b *bourse.Balance) {
	topic := feed.Topic{Kind: feed.OwnBalances, Account: b.Account}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	asset := p.catalogue.Assets[b.Asset]
	writeTime(w, p.now)
	w.Word("asset", string(asset.Symbol))
	w.Amount("total", b.Available.Plus(b.Held), asset.Scale)
	w.Amount("locked", b.Held, asset.Scale)
	w.Amount("avbl", b.Available, asset.Scale)
	p.stage(topic, b.StreamSeq)
}
