package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// BeatEvery is the interval of fast messages; slow ones come every slowBeats beats.
	BeatEvery = 100 * time.Millisecond
	slowBeats = 10
	// maxUpdate bounds the changes of an update of a book: more changes make more updates.
	maxUpdate = 5000
)

// Pulse posts the messages that come at intervals. Its methods belong to one goroutine.
type Pulse struct {
	*Publisher
	beats int
	// slow is what changed of markets since the last slow beat.
	slow map[bourse.MarketID]*pace.Market
}

// NewPulse returns the pulse of a publisher.
func NewPulse(p *Publisher) *Pulse {
	return &Pulse{Publisher: p, slow: map[bourse.MarketID]*pace.Market{}}
}

// Beat posts the messages that are due. Call it at every [BeatEvery].
func (p *Pulse) Beat() {
	touched, due := p.changes.Take(), p.takeDue()
	p.beats++
	pace.Beat(p.feed, p.view, func(collected *pace.Round) {
		r := round{Round: collected, pulse: p, catalogue: p.view.Catalogue()}
		for id, m := range touched {
			r.quick(id, m)
		}
		if p.beats%slowBeats == 0 {
			r.rare()
		}
		for t := range due {
			r.state(t)
		}
	})
}

// takeDue takes the topics whose state is due.
func (p *Pulse) takeDue() map[feed.Topic]struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.wanted) == 0 {
		return nil
	}
	due := p.wanted
	p.wanted = map[feed.Topic]struct{}{}
	return due
}

// round collects the messages of a beat.
type round struct {
	*pace.Round
	pulse     *Pulse
	catalogue *view.Catalogue
}

// add adds a message, which is not counted.
func (r *round) add(t feed.Topic, frame uint64, encode func() []byte) {
	r.Add(t, frame, func(bourse.Seq) (uint64, []byte) { return frame, encode() })
}

// subject is a market of messages.
type subject struct {
	catalogue *view.Catalogue
	*bourse.Market
	symbol string
}

// subject returns a market.
func (r *round) subject(id bourse.MarketID) *subject {
	m := r.catalogue.Markets[id]
	return &subject{r.catalogue, m, binance.SymbolOf(r.catalogue, m)}
}

// quick collects the fast messages of a market that changed, and keeps the changes for the slow
// ones.
func (r *round) quick(id bourse.MarketID, m *pace.Market) {
	if int(id) >= len(r.catalogue.Markets) {
		return // defined in a frame that is not visible yet
	}
	r.updates(feed.Topic{Kind: feed.PairDepth, Market: id, Fast: true}, m)
	if m.Book {
		for _, n := range levels {
			r.state(feed.Topic{Kind: feed.PairLevels, Market: id, Levels: n, Fast: true})
		}
	}

	kept := r.pulse.slow[id]
	if kept == nil {
		kept = new(pace.Market)
		r.pulse.slow[id] = kept
	}
	kept.Book, kept.Traded = kept.Book || m.Book, kept.Traded || m.Traded
	r.keepLevels(id, kept, m)
	r.keepCandles(id, kept, m.Candles)
}

// updates collects updates of a book.
func (r *round) updates(t feed.Topic, m *pace.Market) {
	if len(m.Levels) == 0 || !r.Wanted(t) {
		return
	}
	s := r.subject(t.Market)
	for rest := m.Levels; len(rest) > 0; {
		part := rest[:min(len(rest), maxUpdate)]
		rest = rest[len(part):]
		r.add(t, m.Frame, func() []byte { return depthMessage(s, r.pulse.view.Now(), part) })
	}
}

// keepLevels keeps changes of a book for a slow update, if they follow those kept.
func (r *round) keepLevels(id bourse.MarketID, kept, m *pace.Market) {
	switch n := len(kept.Levels); {
	case !r.Wanted(feed.Topic{Kind: feed.PairDepth, Market: id}):
		kept.Levels = nil
	case n > 0 && len(m.Levels) > 0 && kept.Levels[n-1].Seq+1 == m.Levels[0].Seq:
		kept.Levels, kept.Frame = append(kept.Levels, m.Levels...), m.Frame
	case len(m.Levels) > 0:
		kept.Levels, kept.Frame = m.Levels[:len(m.Levels):len(m.Levels)], m.Frame
	}
}

// keepCandles collects the candles that ended, and keeps the others for a slow message.
func (r *round) keepCandles(id bourse.MarketID, kept *pace.Market, list []pace.Candle) {
	for i := range list {
		c := &list[i]
		if !c.Closed {
			kept.Current[c.Resolution] = c.Bucket
			continue
		}
		kept.Current[c.Resolution] = view.Bucket{}
		r.candle(id, c)
	}
}

// candle collects a message with a candle.
func (r *round) candle(id bourse.MarketID, c *pace.Candle) {
	t := feed.Topic{Kind: feed.PairCandles, Market: id, Resolution: c.Resolution}
	if r.Wanted(t) {
		s := r.subject(id)
		r.add(t, r.Frame, func() []byte { return candleMessage(s, r.pulse.view.Now(), c) })
	}
}

// rare collects the slow messages of the markets that changed.
func (r *round) rare() {
	var traded []*subject
	for id, m := range r.pulse.slow {
		r.updates(feed.Topic{Kind: feed.PairDepth, Market: id}, m)
		if m.Book {
			for _, n := range levels {
				r.state(feed.Topic{Kind: feed.PairLevels, Market: id, Levels: n})
			}
		}
		if m.Traded {
			r.state(feed.Topic{Kind: feed.PairMiniTicker, Market: id})
			r.state(feed.Topic{Kind: feed.PairTicker, Market: id})
			r.state(feed.Topic{Kind: feed.PairAverage, Market: id})
			traded = append(traded, r.subject(id))
		}
		for res := range m.Current {
			if m.Current[res].Start != 0 {
				r.candle(id, &pace.Candle{Resolution: bourse.Resolution(res), Bucket: m.Current[res]})
			}
		}
	}
	clear(r.pulse.slow)

	slices.SortFunc(traded, func(a, b *subject) int { return cmp.Compare(a.symbol, b.symbol) })
	r.all(feed.AllMiniTickers, traded, miniTickersMessage)
	r.all(feed.AllTickers, traded, tickersMessage)
}

// all collects the message about all markets that traded.
func (r *round) all(kind feed.Kind, traded []*subject, encode func(*view.View, []*subject) []byte) {
	if t := (feed.Topic{Kind: kind}); len(traded) > 0 && r.Wanted(t) {
		r.add(t, r.Frame, func() []byte { return encode(r.pulse.view, traded) })
	}
}

// state collects the present state of a topic.
func (r *round) state(t feed.Topic) {
	if !r.Wanted(t) {
		return
	}
	s, v := r.subject(t.Market), r.pulse.view
	var encode func() []byte
	switch t.Kind {
	case feed.PairLevels:
		encode = func() []byte { return levelsMessage(s, v, int(t.Levels)) }
	case feed.PairMiniTicker:
		encode = func() []byte { return miniTickerMessage(s, v) }
	case feed.PairTicker:
		encode = func() []byte { return tickerMessage(s, v) }
	case feed.PairAverage:
		encode = func() []byte { return averageMessage(s, v) }
	case feed.PairBookTicker:
		encode = func() []byte { top := v.Top(t.Market); return bookTickerMessage(s.Market, s.symbol, &top) }
	case feed.PairCandles:
		encode = func() []byte { return r.pulse.present(s, t.Resolution) }
	default:
		bourse.Impossible("topic of kind %d has no state", t.Kind)
	}
	r.add(t, r.Frame, encode)
}

// present returns a message with the current candle, nil before the first trade. The publisher
// learns of it, to tell its end.
func (p *Pulse) present(s *subject, res bourse.Resolution) []byte {
	bucket, traded := p.view.Candle(s.ID, res)
	if !traded {
		return nil
	}

	p.changes.Show(s.ID, res, &bucket)
	return candleMessage(s, p.view.Now(), &pace.Candle{Resolution: res, Bucket: bucket})
}
