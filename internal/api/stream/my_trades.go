package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// myTrade stages an account's side of a trade.
func (p *Publisher) myTrade(m *bourse.Market, t *bourse.Trade, f *bourse.Fill, role bourse.Role, side bourse.Side) {
	topic := feed.Topic{Kind: kindMyTrades, Account: f.Account}
	w, ok := p.begin(topic, "", nameMyTrades)
	if !ok {
		return
	}
	received := m.Quote
	if side == bourse.Buy {
		received = m.Base
	}
	writeTime(w, p.now)
	w.Price("price", t.Price, m.QuotePrecision)
	w.Lots("amount", t.Lots, m.BasePrecision)
	w.Amount("total", t.Total, p.catalogue.Assets[m.Quote].Scale)
	w.Word("side", side.String())
	w.Word("pair", string(m.Pair))
	w.Uint("obid", uint64(f.Order))
	w.Word("role", role.String())
	w.Amount("fee", f.Fee, p.catalogue.Assets[received].Scale)
	w.Uint("trade_id", t.Number)
	p.stage(topic, f.Ordinal)
}
