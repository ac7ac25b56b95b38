package stream

import (
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// myTransfer stages a deposit, withdrawal or transfer. The message is made behind trading.
// The row of a transfer needs the database, for the other account's address and the
// message, so that no other stream may wait for it.
func (p *Publisher) myTransfer(seq uint64, m history.Movement) {
	topic := feed.Topic{Kind: feed.OwnTransfers, Account: m.Account}
	if !p.feed.Wanted(topic) {
		return
	}

	catalogue := p.catalogue
	encode := func() []byte {
		w := wire.NewWriter(make([]byte, HeaderRoom, 1024))
		beginData(w, catalogue, topic)
		if err := p.row(w, &m); err != nil {
			return nil
		}
		w.Uint("seq", seq)
		w.EndObject()
		return Frame(w.Bytes())
	}
	if m.Kind == history.MovementTransferIn || m.Kind == history.MovementTransferOut {
		p.feed.StageSlow(topic, seq, encode)
		return
	}
	p.feed.StageLater(topic, seq, encode)
}
