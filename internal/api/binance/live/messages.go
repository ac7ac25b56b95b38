package live

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// event begins a message about a market.
func event(kind string, at bourse.Time, symbol string) *wire.Writer {
	const usual = 256 // bytes
	w := message(usual)
	w.Object()
	w.Word("e", kind)
	w.Int("E", millis(at))
	w.Word("s", symbol)
	return w
}

// done ends a message and returns its frame.
func done(w *wire.Writer) []byte {
	w.EndObject()
	return framed(w)
}

func writePrice(w *wire.Writer, name string, p bourse.Price, m *bourse.Market) {
	w.Fixed(name, uint64(p), m.QuotePrecision)
}

func writeLots(w *wire.Writer, name string, n bourse.Lots, m *bourse.Market) {
	w.Fixed(name, uint64(n), m.BasePrecision)
}

// writeVolume writes an amount of lots.
func writeVolume(w *wire.Writer, name string, a bourse.Amount, m *bourse.Market) {
	w.Word(name, string(a.AppendFixed(nil, m.BasePrecision)))
}

// quote writes an amount of the market's quote asset.
func (s *subject) quote(w *wire.Writer, name string, a bourse.Amount) {
	w.Word(name, binance.AmountText(a, s.catalogue.Assets[s.Quote].Scale))
}

// tradeMessage returns a trade.
func tradeMessage(m *bourse.Market, symbol string, at bourse.Time, t *bourse.Trade) []byte {
	w := event(nameTrade, at, symbol)
	w.Uint("t", t.Number)
	writePrice(w, "p", t.Price, m)
	writeLots(w, "q", t.Lots, m)
	return tradeEnd(w, at, t)
}

// aggregateMessage returns a run of trades from first to one with a number.
func aggregateMessage(m *bourse.Market, symbol string, at bourse.Time, first *bourse.Trade, last uint64) []byte {
	w := event(nameAggTrade, at, symbol)
	w.Uint("a", first.Number)
	writePrice(w, "p", first.Price, m)
	writeLots(w, "q", first.Lots, m)
	w.Uint("f", first.Number)
	w.Uint("l", last)
	return tradeEnd(w, at, first)
}

func tradeEnd(w *wire.Writer, at bourse.Time, t *bourse.Trade) []byte {
	w.Int("T", millis(at))
	w.Bool("m", t.TakerSide == bourse.Sell)
	w.Bool("M", true)
	return done(w)
}

// bookTickerMessage returns the best levels of a book.
func bookTickerMessage(m *bourse.Market, symbol string, top *view.Top) []byte {
	const usual = 160 // bytes
	w := message(usual)
	w.Object()
	w.Uint("u", top.Seq)
	w.Word("s", symbol)
	writePrice(w, "b", top.Bid, m)
	writeLots(w, "B", top.BidLots, m)
	writePrice(w, "a", top.Ask, m)
	writeLots(w, "A", top.AskLots, m)
	return done(w)
}

// depthMessage returns an update of a book: the last state of each level that changed, best
// prices first.
func depthMessage(s *subject, at bourse.Time, changes []bourse.Level) []byte {
	last := make([]bourse.Level, len(changes))
	copy(last, changes)
	slices.SortStableFunc(last, func(a, b bourse.Level) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Price, b.Price))
	})
	kept := last[:0]
	for i := range last {
		if i+1 < len(last) && last[i+1].Side == last[i].Side && last[i+1].Price == last[i].Price {
			continue // a later change of the level follows
		}
		kept = append(kept, last[i])
	}

	asks := slices.IndexFunc(kept, func(l bourse.Level) bool { return l.Side == bourse.Sell })
	if asks < 0 {
		asks = len(kept)
	}
	bids := kept[:asks]
	slices.Reverse(bids)
	w := event("depthUpdate", at, s.symbol)
	w.Uint("U", changes[0].Seq)
	w.Uint("u", changes[len(changes)-1].Seq)
	writeChanges(w, "b", s.Market, bids)
	writeChanges(w, "a", s.Market, kept[asks:])
	return done(w)
}

func writeChanges(w *wire.Writer, name string, m *bourse.Market, list []bourse.Level) {
	binance.WriteLevels(w, name, m, func(yield func(bourse.Price, bourse.Lots) bool) {
		for i := range list {
			if !yield(list[i].Price, list[i].Lots) {
				return
			}
		}
	}, len(list))
}

// levelsMessage returns the best levels of a book.
func levelsMessage(s *subject, v *view.View, n int) []byte {
	const perLevel = 64 // bytes
	book := v.Depth(s.ID)
	w := message(n * perLevel)
	w.Object()
	w.Uint("lastUpdateId", book.Seq)
	binance.WriteLevels(w, "bids", s.Market, book.Bids, n)
	binance.WriteLevels(w, "asks", s.Market, book.Asks, n)
	return done(w)
}

// candleMessage returns a candle.
func candleMessage(s *subject, at bourse.Time, c *pace.Candle) []byte {
	b := &c.Bucket
	end := c.Resolution.Add(b.Start, 1)
	w := event("kline", at, s.symbol)
	w.Name("k")
	w.Object()
	w.Int("t", millis(b.Start))
	w.Int("T", millis(end)-1)
	w.Word("s", s.symbol)
	w.Word("i", intervals[c.Resolution])
	writeSpan(w, b)
	writePrice(w, "o", b.Open, s.Market)
	writePrice(w, "c", b.Close, s.Market)
	writePrice(w, "h", b.High, s.Market)
	writePrice(w, "l", b.Low, s.Market)
	writeVolume(w, "v", b.Volume, s.Market)
	w.Uint("n", trades(b))
	w.Bool("x", c.Closed)
	s.quote(w, "q", b.Value)
	writeVolume(w, "V", b.Bought, s.Market)
	s.quote(w, "Q", b.Spent)
	w.Word("B", "0")
	w.EndObject()
	return done(w)
}

// writeSpan writes the numbers of a bucket's first and last trade, -1 without trades.
func writeSpan(w *wire.Writer, b *view.Bucket) {
	if b.Last == 0 {
		w.Int("f", -1)
		w.Int("L", -1)
		return
	}
	w.Uint("f", b.First)
	w.Uint("L", b.Last)
}

// trades returns the number of a bucket's trades.
func trades(b *view.Bucket) uint64 {
	if b.Last == 0 {
		return 0
	}
	return b.Last - b.First + 1
}

// averageMessage returns the average price.
func averageMessage(s *subject, v *view.View) []byte {
	w := event("avgPrice", v.Now(), s.symbol)
	w.Word("i", "5m")
	writePrice(w, "w", binance.AveragePrice(v, s.Market), s.Market)
	w.Int("T", millis(v.Now()))
	return done(w)
}

// miniTickerMessage returns the rolling day in brief.
func miniTickerMessage(s *subject, v *view.View) []byte {
	const usual = 256 // bytes
	w := message(usual)
	days, seen := v.Days([]*bourse.Market{s.Market})
	s.miniTicker(w, seen.Time, &days[0])
	return framed(w)
}

// miniTickersMessage returns the rolling days of some markets in brief.
func miniTickersMessage(v *view.View, list []*subject) []byte {
	const usual = 256 // bytes
	w := message(usual * len(list))
	days, seen := v.Days(marketsOf(list))
	w.Array()
	for i, s := range list {
		s.miniTicker(w, seen.Time, &days[i])
	}
	w.EndArray()
	return framed(w)
}

// tickerMessage returns the rolling day.
func tickerMessage(s *subject, v *view.View) []byte {
	const usual = 512 // bytes
	w := message(usual)
	days, seen := v.Days([]*bourse.Market{s.Market})
	top := v.Top(s.ID)
	s.ticker(w, seen.Time, &days[0], &top)
	return framed(w)
}

// tickersMessage returns the rolling days of some markets.
func tickersMessage(v *view.View, list []*subject) []byte {
	const usual = 512 // bytes
	w := message(usual * len(list))
	days, seen := v.Days(marketsOf(list))
	w.Array()
	for i, s := range list {
		top := v.Top(s.ID)
		s.ticker(w, seen.Time, &days[i], &top)
	}
	w.EndArray()
	return framed(w)
}

func marketsOf(list []*subject) []*bourse.Market {
	markets := make([]*bourse.Market, len(list))
	for i, s := range list {
		markets[i] = s.Market
	}
	return markets
}

func (s *subject) miniTicker(w *wire.Writer, at bourse.Time, d *view.Day) {
	w.Object()
	w.Word("e", "24hrMiniTicker")
	w.Int("E", millis(at))
	w.Word("s", s.symbol)
	writePrice(w, "c", d.Close, s.Market)
	s.day(w, d)
	w.EndObject()
}

// day writes what both tickers have of a day.
func (s *subject) day(w *wire.Writer, d *view.Day) {
	writePrice(w, "o", d.Open, s.Market)
	writePrice(w, "h", d.High, s.Market)
	writePrice(w, "l", d.Low, s.Market)
	writeVolume(w, "v", d.Volume, s.Market)
	s.quote(w, "q", d.Value)
}

func (s *subject) ticker(w *wire.Writer, at bourse.Time, d *view.Day, top *view.Top) {
	change, percent := binance.ChangeTexts(s.Market, d.Open, d.Close)
	w.Object()
	w.Word("e", "24hrTicker")
	w.Int("E", millis(at))
	w.Word("s", s.symbol)
	w.Word("p", change)
	w.Word("P", percent)
	writePrice(w, "w", binance.WeightedPrice(s.Market, d), s.Market)
	writePrice(w, "x", d.Before, s.Market)
	writePrice(w, "c", d.Close, s.Market)
	writeLots(w, "Q", d.Lots, s.Market)
	writePrice(w, "b", top.Bid, s.Market)
	writeLots(w, "B", top.BidLots, s.Market)
	writePrice(w, "a", top.Ask, s.Market)
	writeLots(w, "A", top.AskLots, s.Market)
	s.day(w, d)
	w.Int("O", millis(at.Floor(bourse.Minute)-bourse.Day+bourse.Minute))
	w.Int("C", millis(at))
	s.span(w, d)
	w.EndObject()
}

// span writes the numbers of a day's first and last trade, -1 without trades, and how many
// there are.
func (s *subject) span(w *wire.Writer, d *view.Day) {
	first, last := int64(-1), int64(-1)
	if d.Last != 0 {
		first, last = int64(d.First), int64(d.Last)
	}
	w.Int("F", first)
	w.Int("L", last)
	w.Uint("n", trades(&d.Bucket))
}
