package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// bookMessage returns a message with the last amounts of the levels that changed, and the number
// of the last change.
func bookMessage(c *view.Catalogue, t feed.Topic, changes []bourse.Level) (uint64, []byte) {
	bids, asks := lastChanges(changes)
	m := c.Markets[t.Market]
	return pacedMessage(c, t, changes[len(changes)-1].Seq, func(w *wire.Writer) {
		w.Uint("prev", changes[0].Seq-1)
		w.Name("bids")
		writeLevels(w, m, bids)
		w.Name("asks")
		writeLevels(w, m, asks)
	})
}

// lastChanges returns the last change of each level, by side, the latest first.
func lastChanges(changes []bourse.Level) (bids, asks []*bourse.Level) {
	type level struct {
		side  bourse.Side
		price bourse.Price
	}
	seen := make(map[level]struct{}, len(changes))
	for i := len(changes) - 1; i >= 0; i-- {
		l := &changes[i]
		if _, later := seen[level{l.Side, l.Price}]; later {
			continue
		}
		seen[level{l.Side, l.Price}] = struct{}{}
		if l.Side == bourse.Buy {
			bids = append(bids, l)
		} else {
			asks = append(asks, l)
		}
	}
	return bids, asks
}

// writeLevels writes rows of price and amount. Prices and amounts keep all their decimals, as in
// orderBook; that of an empty level is 0.
func writeLevels(w *wire.Writer, m *bourse.Market, levels []*bourse.Level) {
	w.Array()
	for _, l := range levels {
		w.Array()
		w.FixedDecimal(uint64(l.Price), m.QuotePrecision)
		if l.Lots == 0 {
			w.String("0")
		} else {
			w.FixedDecimal(uint64(l.Lots), m.BasePrecision)
		}
		w.EndArray()
	}
	w.EndArray()
}
