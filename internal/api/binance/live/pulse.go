package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
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
	slow map[bourse.MarketID]*market
}

// NewPulse returns the pulse of a publisher.
func NewPulse(p *Publisher) *Pulse {
	return &Pulse{Publisher: p, slow: map[bourse.MarketID]*market{}}
}

// Beat posts what is due. Call it at every [BeatEvery].
func (p *Pulse) Beat() {
	touched, due := p.take()
	p.beats++
	r := round{pulse: p, slow: p.beats%slowBeats == 0, catalogue: p.view.Catalogue()}
	p.feed.Look(func(frame uint64, wanted func(feed.Topic) bool) {
		r.wanted, r.frame = wanted, frame+1
		for id, m := range touched {
			r.quick(id, m)
		}
		if r.slow {
			r.rare()
		}
		for t := range due {
			r.state(t)
		}
	})

	for i := range r.posts {
		post := &r.posts[i]
		if bytes := post.encode(); bytes != nil {
			p.feed.Post(post.topic, post.frame, bytes)
		}
	}
}

// take takes what changed since the last beat.
func (p *Pulse) take() (touched map[bourse.MarketID]*market, due map[feed.Topic]struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.wanted) > 0 {
		due = p.wanted
		p.wanted = map[feed.Topic]struct{}{}
	}
	if len(p.touched) == 0 {
		return nil, due
	}

	touched = make(map[bourse.MarketID]*market, len(p.touched))
	for _, id := range p.touched {
		m := p.markets[id]
		touched[id] = &market{levels: m.levels, frame: m.frame, book: m.book, traded: m.traded, candles: m.candles}
		m.levels, m.candles = nil, nil
		m.touched, m.book, m.traded = false, false, false
	}
	p.touched = p.touched[:0]
	return touched, due
}

// round collects the messages of a beat. The closures encode them later, without the lock of
// the feed: whoever has that lock must not wait for the view, whose writer waits for it.
type round struct {
	pulse     *Pulse
	catalogue *view.Catalogue
	slow      bool
	// wanted reports whether a topic has a line. frame is the next frame's number: lines that
	// exist get the messages of states.
	wanted func(feed.Topic) bool
	frame  uint64
	posts  []post
}

// post is a message to encode and post, unless encode returns nil.
type post struct {
	topic  feed.Topic
	frame  uint64
	encode func() []byte
}

func (r *round) add(t feed.Topic, frame uint64, encode func() []byte) {
	r.posts = append(r.posts, post{t, frame, encode})
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
func (r *round) quick(id bourse.MarketID, m *market) {
	if int(id) >= len(r.catalogue.Markets) {
		return // defined in a frame that is not visible yet
	}
	r.updates(feed.Topic{Kind: feed.PairDepth, Market: id, Fast: true}, m)
	if m.book {
		for _, n := range levels {
			r.state(feed.Topic{Kind: feed.PairLevels, Market: id, Levels: n, Fast: true})
		}
	}

	kept := r.pulse.slow[id]
	if kept == nil {
		kept = new(market)
		r.pulse.slow[id] = kept
	}
	kept.book, kept.traded = kept.book || m.book, kept.traded || m.traded
	r.keepLevels(id, kept, m)
	r.keepCandles(id, kept, m.candles)
}

// updates collects updates of a book.
func (r *round) updates(t feed.Topic, m *market) {
	if len(m.levels) == 0 || !r.wanted(t) {
		return
	}
	s := r.subject(t.Market)
	for rest := m.levels; len(rest) > 0; {
		part := rest[:min(len(rest), maxUpdate)]
		rest = rest[len(part):]
		r.add(t, m.frame, func() []byte { return depthMessage(s, r.pulse.view.Now(), part) })
	}
}

// keepLevels keeps changes of a book for a slow update, if they follow those kept.
func (r *round) keepLevels(id bourse.MarketID, kept, m *market) {
	switch n := len(kept.levels); {
	case !r.wanted(feed.Topic{Kind: feed.PairDepth, Market: id}):
		kept.levels = nil
	case n > 0 && len(m.levels) > 0 && kept.levels[n-1].Seq+1 == m.levels[0].Seq:
		kept.levels, kept.frame = append(kept.levels, m.levels...), m.frame
	case len(m.levels) > 0:
		kept.levels, kept.frame = m.levels[:len(m.levels):len(m.levels)], m.frame
	}
}

// keepCandles collects the candles that ended, and keeps the others for a slow message.
func (r *round) keepCandles(id bourse.MarketID, kept *market, list []candle) {
	for i := range list {
		c := &list[i]
		if !c.closed {
			kept.current[c.resolution] = c.bucket
			continue
		}
		kept.current[c.resolution] = view.Bucket{}
		r.candle(id, c)
	}
}

// candle collects a message with a candle.
func (r *round) candle(id bourse.MarketID, c *candle) {
	t := feed.Topic{Kind: feed.PairCandles, Market: id, Resolution: c.resolution}
	if r.wanted(t) {
		s := r.subject(id)
		r.add(t, r.frame, func() []byte { return candleMessage(s, r.pulse.view.Now(), c) })
	}
}

// rare collects the slow messages of the markets that changed.
func (r *round) rare() {
	var traded []*subject
	for id, m := range r.pulse.slow {
		r.updates(feed.Topic{Kind: feed.PairDepth, Market: id}, m)
		if m.book {
			for _, n := range levels {
				r.state(feed.Topic{Kind: feed.PairLevels, Market: id, Levels: n})
			}
		}
		if m.traded {
			r.state(feed.Topic{Kind: feed.PairMiniTicker, Market: id})
			r.state(feed.Topic{Kind: feed.PairTicker, Market: id})
			r.state(feed.Topic{Kind: feed.PairAverage, Market: id})
			traded = append(traded, r.subject(id))
		}
		for res := range m.current {
			if m.current[res].Start != 0 {
				r.candle(id, &candle{bourse.Resolution(res), m.current[res], false})
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
	if t := (feed.Topic{Kind: kind}); len(traded) > 0 && r.wanted(t) {
		r.add(t, r.frame, func() []byte { return encode(r.pulse.view, traded) })
	}
}

// state collects the present state of a topic.
func (r *round) state(t feed.Topic) {
	if !r.wanted(t) {
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
	r.add(t, r.frame, encode)
}

// present returns a message with the current candle, nil before the first trade. The publisher
// learns of it, to tell its end.
func (p *Pulse) present(s *subject, res bourse.Resolution) []byte {
	bucket, traded := p.view.Candle(s.ID, res)
	if !traded {
		return nil
	}

	p.forget()
	p.mu.Lock()
	if known := &p.market(s.ID).current[res]; known.Start == 0 {
		*known = bucket
	}
	p.mu.Unlock()
	return candleMessage(s, p.view.Now(), &candle{res, bucket, false})
}
