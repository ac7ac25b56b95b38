package live

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Publisher turns commands into messages. It observes each command after the view. What comes
// at once it stages in the feed, which encodes it on another goroutine; what comes at
// intervals it leaves to Pulse.
type Publisher struct {
	feed *feed.Feed
	view *view.View

	// catalogue and names, the names of its markets by ID, are those of the current command.
	catalogue *view.Catalogue
	names     []string
	seq       uint64
	now       bourse.Time
	// tops are the last best levels that were staged, by market.
	tops []view.Top
	// broken is set in a frame that restores a snapshot.
	broken bool
	// asleep is set while nobody listens to anything: what users has is old.
	asleep bool
	users  users
	// stale is set if commands were not observed since markets was last written.
	stale atomic.Bool

	// mu guards the rest, which the publisher leaves to Pulse and to subscribers.
	mu      sync.Mutex
	markets []*market
	// touched are the markets that changed since Pulse looked.
	touched []bourse.MarketID
	// wanted are the topics whose state is due though nothing changed: they have a new
	// subscriber.
	wanted map[feed.Topic]struct{}
}

// market is what changed of a market since Pulse looked.
type market struct {
	touched bool
	// levels are the changes of its book, oldest first, without gaps. frame is that of the
	// last one.
	levels []bourse.Level
	frame  uint64
	// book is set if its book changed, and traded if its rolling day did.
	book, traded bool
	// current are the current candles that have a subscriber, by resolution; Start is zero for
	// others. candles are those that changed, and those that ended, oldest first.
	current [bourse.LastResolution + 1]view.Bucket
	candles []candle
}

// candle is a candle that changed.
type candle struct {
	resolution bourse.Resolution
	bucket     view.Bucket
	// closed is set if it ended.
	closed bool
}

// NewPublisher returns a publisher that reads a view and stages in a feed of its own. The
// messages that need the history are encoded by the feed's Encode.
func NewPublisher(f *feed.Feed, v *view.View, h *history.Reader) *Publisher {
	return &Publisher{
		feed: f, view: v, wanted: map[feed.Topic]struct{}{},
		users: users{
			history: h, values: map[bourse.OrderID]bourse.Amount{}, balances: map[bourse.AccountID][]bourse.Balance{},
		},
	}
}

// Reset cuts off the subscribers at the end of the frame: the commands that a snapshot covers
// are not observed.
func (p *Publisher) Reset(func(string) ([]byte, bool)) error {
	p.broken = true
	return nil
}

// Begin begins a frame.
func (p *Publisher) Begin() { p.feed.Begin() }

// End ends a frame and releases its messages.
func (p *Publisher) End() {
	p.feed.End()
	if p.broken {
		p.broken = false
		p.feed.Break()
	}
}

// Observe stages the messages of a command.
func (p *Publisher) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Kind == 0 || p.feed.Idle() {
		p.sleep()
		return // a restore is no command, and in a replay there is no subscriber
	}
	if p.asleep {
		p.asleep = false
		clear(p.users.values)
		clear(p.tops)
	}
	p.forget()
	p.seq, p.now = uint64(cmd.Seq), cmd.Time
	if latest := p.view.Latest(); latest != p.catalogue {
		p.catalogue, p.names = latest, p.names[:0]
	}

	p.trades(ev)
	p.aggregates(ev)
	p.changes(ev)
	p.bestLevels(ev)
	p.user(cmd, ev)
}

// sleep notes that a command was not observed.
func (p *Publisher) sleep() {
	p.asleep = true
	if !p.stale.Load() {
		p.stale.Store(true)
	}
}

// forget forgets what is known of markets if commands were not observed since. Pulse calls it
// before it notes the candle of a new subscriber, so that the next command forgets it not.
func (p *Publisher) forget() {
	if !p.stale.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stale.Swap(false) {
		return
	}
	for _, m := range p.markets {
		m.levels, m.current = nil, [bourse.LastResolution + 1]view.Bucket{}
	}
}

// symbol returns the name of a market.
func (p *Publisher) symbol(id bourse.MarketID) string {
	for len(p.names) <= int(id) {
		p.names = append(p.names, "")
	}
	if p.names[id] == "" {
		p.names[id] = binance.SymbolOf(p.catalogue, p.catalogue.Markets[id])
	}
	return p.names[id]
}

// trades stages each trade.
func (p *Publisher) trades(ev *bourse.Events) {
	for i := range ev.Trades {
		topic := feed.Topic{Kind: feed.PairTrades, Market: ev.Trades[i].Market}
		if !p.feed.Wanted(topic) {
			continue
		}
		m, symbol, now, t := p.catalogue.Markets[topic.Market], p.symbol(topic.Market), p.now, ev.Trades[i]
		p.feed.StageLater(topic, p.seq, func() []byte { return tradeMessage(m, symbol, now, &t) })
	}
}

// aggregates stages the runs of trades of one taker at one price.
func (p *Publisher) aggregates(ev *bourse.Events) {
	for rest := ev.Trades; len(rest) > 0; {
		n, run := 1, rest[0]
		for n < len(rest) && rest[n].Market == run.Market && rest[n].Price == run.Price &&
			rest[n].TakerSide == run.TakerSide {
			run.Lots += rest[n].Lots
			n++
		}
		rest = rest[n:]

		topic := feed.Topic{Kind: feed.PairAggTrades, Market: run.Market}
		if !p.feed.Wanted(topic) {
			continue
		}
		m, symbol, now, last := p.catalogue.Markets[run.Market], p.symbol(run.Market), p.now, run.Number+uint64(n)-1
		p.feed.StageLater(topic, p.seq, func() []byte { return aggregateMessage(m, symbol, now, &run, last) })
	}
}

// bestLevels stages the best levels of the books that changed, if they are others than before.
func (p *Publisher) bestLevels(ev *bourse.Events) {
	all := feed.Topic{Kind: feed.AllBookTickers}
	for i := range ev.Levels {
		id := ev.Levels[i].Market
		if i > 0 && ev.Levels[i-1].Market == id {
			continue // the view has all changes of the command
		}
		one := feed.Topic{Kind: feed.PairBookTicker, Market: id}
		forOne, forAll := p.feed.Wanted(one), p.feed.Wanted(all)
		if !forOne && !forAll {
			if int(id) < len(p.tops) {
				p.tops[id] = view.Top{} // a later subscriber begins with another one
			}
			continue
		}

		for len(p.tops) <= int(id) {
			p.tops = append(p.tops, view.Top{})
		}
		top := p.view.TopNow(id)
		if top.Best == p.tops[id].Best {
			continue
		}
		p.tops[id] = top
		m, symbol := p.catalogue.Markets[id], p.symbol(id)
		encode := func() []byte { return bookTickerMessage(m, symbol, &top) }
		if forOne {
			p.feed.StageLater(one, p.seq, encode)
		}
		if forAll {
			p.feed.StageLater(all, p.seq, encode)
		}
	}
}

// changes notes what changed of markets for Pulse.
func (p *Publisher) changes(ev *bourse.Events) {
	updates := p.view.Updates()
	if len(ev.Levels) == 0 && len(updates) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range ev.Levels {
		p.level(&ev.Levels[i])
	}
	for i := range updates {
		switch u := &updates[i]; u.Kind {
		case view.TickerChanged, view.VolumeChanged:
			p.market(u.Market).traded = true
		case view.CandleChanged:
			p.candleSticks(u)
		}
	}
}

// market returns what changed of a market. The caller holds mu.
func (p *Publisher) market(id bourse.MarketID) *market {
	for len(p.markets) <= int(id) {
		p.markets = append(p.markets, new(market))
	}
	m := p.markets[id]
	if !m.touched {
		m.touched = true
		p.touched = append(p.touched, id)
	}
	return m
}

// maxPending bounds the changes of a book that wait for Pulse. Beyond it they are dropped, and
// clients read the book again: their algorithm sees the missing numbers. Only a process that
// stands still reaches it.
const maxPending = 1 << 20

// level notes a change of a level, unless nobody wants it: those noted before are no part of
// the next update then, which would have a gap.
func (p *Publisher) level(l *bourse.Level) {
	m := p.market(l.Market)
	m.book = true
	if !p.feed.Wanted(feed.Topic{Kind: feed.PairDepth, Market: l.Market}) &&
		!p.feed.Wanted(feed.Topic{Kind: feed.PairDepth, Market: l.Market, Fast: true}) {
		m.levels = nil
		return
	}
	if len(m.levels) == maxPending {
		m.levels = nil
	}
	m.levels, m.frame = append(m.levels, *l), p.feed.Frame()
}

// candleSticks notes a candle that changed, and, if a trade changed it, the candles of the
// wider resolutions for which it is kept.
func (p *Publisher) candleSticks(u *view.Update) {
	p.candleStick(u.Market, u.Resolution, &u.Candle)
	if u.After < 0 {
		return
	}
	for res := u.Resolution + 1; res <= bourse.LastResolution && res.Kept() == u.Resolution; res++ {
		p.candleStick(u.Market, res, &u.Candle)
	}
}

// candleStick notes a candle while the one of its kept resolution is narrow.
func (p *Publisher) candleStick(id bourse.MarketID, res bourse.Resolution, narrow *view.Bucket) {
	m := p.market(id)
	before := &m.current[res]
	if !p.feed.Wanted(feed.Topic{Kind: feed.PairCandles, Market: id, Resolution: res}) {
		*before = view.Bucket{}
		return
	}

	now := p.view.Widen(id, res, narrow)
	switch n := len(m.candles); {
	case before.Start != 0 && before.Start != now.Start:
		m.candles = append(m.candles, candle{res, *before, true}, candle{res, now, false})
	case n > 0 && m.candles[n-1].resolution == res && !m.candles[n-1].closed:
		m.candles[n-1].bucket = now
	default:
		m.candles = append(m.candles, candle{res, now, false})
	}
	*before = now
}

// due makes Pulse post the present state of topics that have a new subscriber, unless their
// messages come with changes alone.
func (p *Publisher) due(topics []feed.Topic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range topics {
		switch t.Kind {
		case feed.PairMiniTicker, feed.PairTicker, feed.PairBookTicker, feed.PairAverage, feed.PairLevels, feed.PairCandles:
			p.wanted[t] = struct{}{}
		default:
		}
	}
}
