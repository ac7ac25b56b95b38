package stream

import (
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

const (
	// BeatEvery is the interval of messages of books and tapes. Those of candles come every
	// candleBeats beats, that of all tickers every tickerBeats.
	BeatEvery   = 50 * time.Millisecond
	candleBeats = 5
	tickerBeats = 20
)

// Pulse posts the messages of paced streams. Its methods belong to one goroutine.
type Pulse struct {
	feed    *feed.Feed
	view    *view.View
	changes *pace.Changes
	beats   int
	// candles holds, oldest first, the candles that changed since the last beat of candles.
	candles map[feed.Topic][]pace.Candle
	// traded are the markets whose rolling day changed since the last beat of tickers.
	traded map[bourse.MarketID]struct{}
}

// Pulse returns the pulse of a publisher. Only one may be used.
func (p *Publisher) Pulse() *Pulse {
	return &Pulse{
		feed: p.feed, view: p.view, changes: p.changes,
		candles: map[feed.Topic][]pace.Candle{}, traded: map[bourse.MarketID]struct{}{},
	}
}

// pacedWants reports which changes have a subscriber of a paced stream.
type pacedWants struct{ feed *feed.Feed }

// Levels reports whether the paced book of a market has a subscriber.
func (w pacedWants) Levels(m bourse.MarketID) bool {
	return w.feed.Wanted(feed.Topic{Kind: feed.PacedBook, Market: m})
}

// Trades reports whether the tape of a market has a subscriber.
func (w pacedWants) Trades(m bourse.MarketID) bool {
	return w.feed.Wanted(feed.Topic{Kind: feed.PacedTape, Market: m})
}

// Candles reports whether the paced candles of a resolution have a subscriber.
func (w pacedWants) Candles(m bourse.MarketID, res bourse.Resolution) bool {
	return w.feed.Wanted(feed.Topic{Kind: feed.PacedCandles, Market: m, Resolution: res})
}

// Beat posts the messages that are due. Call it at every [BeatEvery].
func (p *Pulse) Beat() {
	taken := p.changes.Take()
	p.beats++
	pace.Beat(p.feed, p.view, func(collected *pace.Round) {
		r := pacedRound{collected, p, p.view.Catalogue()}
		for id, m := range taken {
			if int(id) < len(r.catalogue.Markets) { // else defined in a frame that is not visible yet
				r.market(id, m)
			}
		}
		if p.beats%candleBeats == 0 {
			r.candles()
		}
		if p.beats%tickerBeats == 0 {
			r.tickers()
		}
	})
}

// pacedRound collects the messages of a beat.
type pacedRound struct {
	*pace.Round
	pulse     *Pulse
	catalogue *view.Catalogue
}

// market collects the messages of a market that changed, and keeps the changes for later beats.
func (r *pacedRound) market(id bourse.MarketID, m *pace.Market) {
	if t := (feed.Topic{Kind: feed.PacedBook, Market: id}); len(m.Levels) > 0 && r.Wanted(t) {
		r.Add(t, m.Frame, func(bourse.Seq) (uint64, []byte) { return bookMessage(r.catalogue, t, m.Levels) })
	}
	if t := (feed.Topic{Kind: feed.PacedTape, Market: id}); len(m.Trades) > 0 && r.Wanted(t) {
		r.Add(t, r.Frame, func(bourse.Seq) (uint64, []byte) { return tapeMessage(r.catalogue, t, m) })
	}
	if m.Traded {
		r.pulse.traded[id] = struct{}{}
	}
	for i := range m.Candles {
		r.keep(feed.Topic{Kind: feed.PacedCandles, Market: id, Resolution: m.Candles[i].Resolution}, &m.Candles[i])
	}
}

// keep keeps a candle for the next beat of candles, in place of its earlier state.
func (r *pacedRound) keep(t feed.Topic, c *pace.Candle) {
	list := r.pulse.candles[t]
	if n := len(list); n > 0 && list[n-1].Bucket.Start == c.Bucket.Start {
		list[n-1] = *c
		return
	}
	r.pulse.candles[t] = append(list, *c)
}

// candles collects the changed candles, ended ones before new ones.
func (r *pacedRound) candles() {
	for t, list := range r.pulse.candles {
		if !r.Wanted(t) {
			continue
		}
		for i := range list {
			bucket := &list[i].Bucket
			r.Add(t, r.Frame, func(seen bourse.Seq) (uint64, []byte) {
				return pacedMessage(r.catalogue, t, uint64(seen), func(w *wire.Writer) {
					writeCandle(w, r.catalogue.Markets[t.Market], bucket)
				})
			})
		}
	}
	clear(r.pulse.candles)
}

// tickers collects the message about all markets that traded.
func (r *pacedRound) tickers() {
	var markets []*bourse.Market
	for _, m := range r.catalogue.Listed() {
		if _, traded := r.pulse.traded[m.ID]; traded {
			markets = append(markets, m)
		}
	}
	clear(r.pulse.traded)

	t := feed.Topic{Kind: feed.PacedTickers}
	if len(markets) == 0 || !r.Wanted(t) {
		return
	}
	r.Add(t, r.Frame, func(bourse.Seq) (uint64, []byte) {
		days, at := r.pulse.view.Days(markets)
		return pacedMessage(r.catalogue, t, uint64(at.Seq), func(w *wire.Writer) { writeTickers(w, r.catalogue, markets, days) })
	})
}

// pacedMessage returns a message and its number.
func pacedMessage(c *view.Catalogue, t feed.Topic, seq uint64, body func(*wire.Writer)) (uint64, []byte) {
	w := wire.NewWriter(make([]byte, HeaderRoom, 512))
	beginData(w, c, t)
	body(w)
	w.Uint("seq", seq)
	w.EndObject()
	return seq, Frame(w.Bytes())
}
