package live

import (
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Publisher turns commands into messages. It observes each command after the view, and stages
// messages in the feed, which encodes them on another goroutine. Messages at intervals are Pulse's.
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
	// asleep is set while there is no subscriber: the contents of users are old.
	asleep bool
	users  users
	// changes is what Pulse takes.
	changes *pace.Changes

	// mu guards wanted.
	mu sync.Mutex
	// wanted are the topics whose state is due though nothing changed: they have a new
	// subscriber.
	wanted map[feed.Topic]struct{}
}

// NewPublisher returns a publisher that reads a view and stages in a feed of its own. The
// messages that need the history are encoded by the feed's Encode.
func NewPublisher(f *feed.Feed, v *view.View, h *history.Reader) *Publisher {
	return &Publisher{
		feed: f, view: v, changes: pace.NewChanges(f, v, wants{f}), wanted: map[feed.Topic]struct{}{},
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
	p.seq, p.now = uint64(cmd.Seq), cmd.Time
	if latest := p.view.Latest(); latest != p.catalogue {
		p.catalogue, p.names = latest, p.names[:0]
	}

	p.trades(ev)
	p.aggregates(ev)
	p.changes.Observe(cmd.Time, ev)
	p.bestLevels(ev)
	p.user(ev)
}

// sleep notes that a command was not observed.
func (p *Publisher) sleep() {
	p.asleep = true
	p.changes.Miss()
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

// wants are the changes that Pulse tells of.
type wants struct{ feed *feed.Feed }

// Levels reports whether updates of a book have a subscriber.
func (w wants) Levels(m bourse.MarketID) bool {
	return w.feed.Wanted(feed.Topic{Kind: feed.PairDepth, Market: m}) ||
		w.feed.Wanted(feed.Topic{Kind: feed.PairDepth, Market: m, Fast: true})
}

// Trades reports false: trades are told at once.
func (wants) Trades(bourse.MarketID) bool { return false }

// Candles reports whether candles of a resolution have a subscriber.
func (w wants) Candles(m bourse.MarketID, res bourse.Resolution) bool {
	return w.feed.Wanted(feed.Topic{Kind: feed.PairCandles, Market: m, Resolution: res})
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
