package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// myTrade stages an account's side of a trade.
func (p *Publisher) myTrade(t *bourse.Trade, f *bourse.Fill, role bourse.Role, side bourse.Side) {
	topic := feed.Topic{Kind: feed.OwnTrades, Account: f.Account}
	w, ok := p.begin(topic)
	if !ok {
		return
	}
	writeFill(w, p.catalogue, &history.Fill{
		Order: f.Order, Market: t.Market, Trade: t.Number, Time: p.now, Side: side, Role: role,
		Price: t.Price, Lots: t.Lots, Total: t.Total, Fee: f.Fee,
	})
	p.stage(topic, f.Ordinal)
}

func writeFill(w *wire.Writer, c *view.Catalogue, f *history.Fill) {
	m := c.Markets[f.Market]
	writeTime(w, f.Time)
	w.Price("price", f.Price, m.QuotePrecision)
	w.Lots("amount", f.Lots, m.BasePrecision)
	w.Amount("total", f.Total, c.Assets[m.Quote].Scale)
	w.Word("side", f.Side.String())
	w.Word("pair", string(m.Pair))
	w.Uint("obid", uint64(f.Order))
	w.Word("role", f.Role.String())
	w.Amount("fee", f.Fee, c.Assets[m.Received(f.Side)].Scale)
	w.Uint("trade_id", f.Trade)
}
