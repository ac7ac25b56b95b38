package stream

import (
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// tapeMessage returns a message with the last trades of a market, oldest first, and the number
// of the last one.
func tapeMessage(c *view.Catalogue, t feed.Topic, changed *pace.Market) (uint64, []byte) {
	trades, m := changed.Trades, c.Markets[t.Market]
	if more := len(trades) - pace.MaxTrades; more > 0 {
		trades = trades[more:]
	}
	last := trades[len(trades)-1].Number

	return pacedMessage(c, t, last, func(w *wire.Writer) {
		w.Uint("prev", changed.Earlier)
		w.Uint("skipped", last-changed.Earlier-uint64(len(trades)))
		w.Name("trades")
		w.Array()
		for i := range trades {
			trade := &trades[i]
			w.Object()
			writeTime(w, trade.Time)
			w.Price("price", trade.Price, m.QuotePrecision)
			w.Lots("amount", trade.Lots, m.BasePrecision)
			w.Word("side", trade.TakerSide.String())
			w.Uint("trade_id", trade.Number)
			w.EndObject()
		}
		w.EndArray()
	})
}
