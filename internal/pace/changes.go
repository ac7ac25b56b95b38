package pace

import (
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// maxLevels bounds the changes of a book that wait for a beat. Beyond it they are dropped,
	// and clients see the missing numbers. Only a process that stands still reaches it.
	maxLevels = 1 << 20
	// MaxTrades bounds the trades of a market that a beat takes: the newest. Twice as many may
	// wait for it.
	MaxTrades = 50
)

// Wants reports which changes have a subscriber. Changes calls it between the feed's Begin and
// End.
type Wants interface {
	// Levels reports whether each change of a market's book is wanted.
	Levels(bourse.MarketID) bool
	// Trades reports whether the trades of a market are wanted.
	Trades(bourse.MarketID) bool
	// Candles reports whether the candles of a resolution are wanted.
	Candles(bourse.MarketID, bourse.Resolution) bool
}

// Changes collects the changes of markets since the last Take. Observe and Miss belong to
// the publisher's goroutine; the others are safe for concurrent use.
type Changes struct {
	feed  *feed.Feed
	view  *view.View
	wants Wants
	// stale is set if commands were not observed since markets was last written.
	stale atomic.Bool

	// mu guards the rest.
	mu      sync.Mutex
	markets []*Market
	// touched are the markets that changed since the last Take.
	touched []bourse.MarketID
}

// Market has the changes of a market.
type Market struct {
	touched bool
	// Levels are the changes of its book, oldest first, without gaps. Frame is that of the
	// last one.
	Levels []bourse.Level
	Frame  uint64
	// Book is set if its book changed, and Traded if its rolling day did.
	Book, Traded bool
	// Trades are its last trades, oldest first, without gaps; Earlier is the number of the last
	// trade before all that came since the last Take.
	Trades  []Trade
	Earlier uint64
	// Current are the current candles that have a subscriber, by resolution; Start is zero for
	// others. Candles are the changed and ended candles, each once, oldest first within a resolution.
	Current [bourse.LastResolution + 1]view.Bucket
	Candles []Candle
}

// Trade is a trade and its time.
type Trade struct {
	bourse.Trade
	Time bourse.Time
}

// Candle is a candle that changed.
type Candle struct {
	Resolution bourse.Resolution
	Bucket     view.Bucket
	// Closed is set if it ended.
	Closed bool
}

// NewChanges returns the changes for the subscribers of a feed.
func NewChanges(f *feed.Feed, v *view.View, wants Wants) *Changes {
	return &Changes{feed: f, view: v, wants: wants}
}

// Miss notes that a command was not observed.
func (c *Changes) Miss() {
	if !c.stale.Load() {
		c.stale.Store(true)
	}
}

// forget drops levels, trades and current candles if commands were not observed. Show calls it
// first, so that the next command does not drop the candle of the new subscriber.
func (c *Changes) forget() {
	if !c.stale.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stale.Swap(false) {
		return
	}
	for _, m := range c.markets {
		m.Levels, m.Trades, m.Current = nil, nil, [bourse.LastResolution + 1]view.Bucket{}
	}
}

// Observe notes a command's changes. Call it after the view has observed the command, between the
// feed's Begin and End.
func (c *Changes) Observe(now bourse.Time, ev *bourse.Events) {
	c.forget()
	updates := c.view.Updates()
	if len(ev.Levels) == 0 && len(updates) == 0 {
		return
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range ev.Levels {
		c.level(&ev.Levels[i])
	}
	for i := range ev.Trades {
		c.trade(&ev.Trades[i], now)
	}
	for i := range updates {
		switch u := &updates[i]; u.Kind {
		case view.TickerChanged, view.VolumeChanged:
			c.market(u.Market).Traded = true
		case view.CandleChanged:
			c.candles(u)
		}
	}
}

// market returns the changes of a market. The caller holds mu.
func (c *Changes) market(id bourse.MarketID) *Market {
	for len(c.markets) <= int(id) {
		c.markets = append(c.markets, new(Market))
	}
	m := c.markets[id]
	if !m.touched {
		m.touched = true
		c.touched = append(c.touched, id)
	}
	return m
}

// level notes a change of a level. If no subscriber wants it, level drops the earlier ones as
// well: the next update must have no gap.
func (c *Changes) level(l *bourse.Level) {
	m := c.market(l.Market)
	m.Book = true
	if !c.wants.Levels(l.Market) {
		m.Levels = nil
		return
	}
	if len(m.Levels) == maxLevels {
		m.Levels = nil
	}
	m.Levels, m.Frame = append(m.Levels, *l), c.feed.Frame()
}

// trade notes a trade that a subscriber wants.
func (c *Changes) trade(t *bourse.Trade, now bourse.Time) {
	if !c.wants.Trades(t.Market) {
		return
	}
	m := c.market(t.Market)
	n := len(m.Trades)
	if n > 0 && m.Trades[n-1].Number+1 != t.Number {
		n, m.Trades = 0, nil
	}
	if n == 0 {
		m.Earlier = t.Number - 1
	}
	if n == 2*MaxTrades {
		m.Trades = append(m.Trades[:0], m.Trades[n-MaxTrades:]...)
	}
	m.Trades = append(m.Trades, Trade{*t, now})
}

// candles notes a candle that changed, and, if a trade changed it, the candles of the wider
// resolutions for which it is kept.
func (c *Changes) candles(u *view.Update) {
	c.candle(u.Market, u.Resolution, &u.Candle)
	if u.After < 0 {
		return
	}
	for res := u.Resolution + 1; res <= bourse.LastResolution && res.Kept() == u.Resolution; res++ {
		c.candle(u.Market, res, &u.Candle)
	}
}

// candle notes a candle while the one of its kept resolution is narrow.
func (c *Changes) candle(id bourse.MarketID, res bourse.Resolution, narrow *view.Bucket) {
	m := c.market(id)
	before := &m.Current[res]
	if !c.wants.Candles(id, res) {
		*before = view.Bucket{}
		return
	}

	now := c.view.Widen(id, res, narrow)
	if before.Start != 0 && before.Start != now.Start {
		m.note(&Candle{res, *before, true})
	}
	m.note(&Candle{res, now, false})
	*before = now
}

// note notes a candle in place of its earlier state.
func (m *Market) note(k *Candle) {
	for i := len(m.Candles) - 1; i >= 0; i-- {
		if noted := &m.Candles[i]; noted.Resolution == k.Resolution {
			if noted.Bucket.Start == k.Bucket.Start {
				*noted = *k
				return
			}
			break
		}
	}
	m.Candles = append(m.Candles, *k)
}

// Show notes the current candle that a new subscriber got, so that its end is told.
func (c *Changes) Show(id bourse.MarketID, res bourse.Resolution, bucket *view.Bucket) {
	c.forget()
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := &c.market(id).Current[res]; known.Start == 0 {
		*known = *bucket
	}
}

// Take returns the changes since the last Take, without Current, and forgets them. Nil is none.
func (c *Changes) Take() map[bourse.MarketID]*Market {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.touched) == 0 {
		return nil
	}

	taken := make(map[bourse.MarketID]*Market, len(c.touched))
	for _, id := range c.touched {
		m := c.markets[id]
		taken[id] = &Market{
			Levels: m.Levels, Frame: m.Frame, Book: m.Book, Traded: m.Traded, Trades: m.Trades, Earlier: m.Earlier,
			Candles: m.Candles,
		}
		*m = Market{Current: m.Current}
	}
	c.touched = c.touched[:0]
	return taken
}
