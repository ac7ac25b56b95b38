package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Publisher turns commands into stream messages. It observes each command after the view.
type Publisher struct {
	feed *feed.Feed
	view *view.View
	// row writes the fields of a transaction's row in the wallet's list.
	row func(w *wire.Writer, m *history.Movement) error

	catalogue *view.Catalogue
	now       bourse.Time
	// w writes into a block that messages share. A full block lives until subscribers
	// have sent its messages.
	w     *wire.Writer
	begun int
	// broken is set in a frame that restores a snapshot.
	broken bool

	// seq is the sequence of the current command.
	seq bourse.Seq
	// lastTrade has, by market, the index of the event of the command's last trade; for a
	// market without a trade in this command it may be old.
	lastTrade []int
	// changes is what Pulse takes.
	changes *pace.Changes
}

// blockSize is the size of a block of messages.
const blockSize = 64 << 10

// NewPublisher returns a publisher that reads a view and stages in a feed. row writes the
// fields of a transaction's row; it is called by Deliver and, for transfers, by Encode, on
// their goroutines.
func NewPublisher(f *feed.Feed, v *view.View, row func(*wire.Writer, *history.Movement) error) *Publisher {
	return &Publisher{
		feed: f, view: v, row: row, w: wire.NewWriter(make([]byte, 0, blockSize)),
		changes: pace.NewChanges(f, v, pacedWants{f}),
	}
}

// Reset cuts off the subscribers at the end of the frame: the commands that a snapshot
// covers are not observed, so that the next messages do not follow the last ones.
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

// Observe stages the messages of a command in the order of its events. Updates of orders
// follow, in the engine's order: of triggered and ended orders first, then of orders that
// traded and stay open. Balances come last. The end of an order that another one replaces
// comes before the other one.
func (p *Publisher) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Kind == 0 || p.feed.Idle() {
		p.changes.Miss()
		return // a restore is no command, and in a replay there is no subscriber
	}

	p.seq, p.now, p.catalogue = cmd.Seq, cmd.Time, p.view.Latest()
	p.findLastTrades(p.view.Updates())
	updates, staged := p.marketData(p.view.Updates(), -1), 0
	for i, e := range ev.List {
		if e.Kind == bourse.EventOrderAccepted || e.Kind == bourse.EventOrderRejected {
			p.orderUpdates(ev.List[staged:i], ev)
			staged = i
		}
		p.event(e, ev)
		updates = p.marketData(updates, i)
	}

	p.orderUpdates(ev.List[staged:], ev)
	for i := range ev.Trades {
		p.filled(&ev.Trades[i].Maker)
		p.filled(&ev.Trades[i].Taker)
	}

	for i := range ev.Balances {
		p.myBalance(&ev.Balances[i])
	}
	p.changes.Observe(cmd.Time, ev)
}

// orderUpdates stages the updates of orders that some events are about.
func (p *Publisher) orderUpdates(list []bourse.Event, ev *bourse.Events) {
	for _, e := range list {
		switch e.Kind {
		case bourse.EventOrderTriggered:
			p.orderUpdate(e.StreamSeq, &ev.Orders[e.At], orderTriggered)
		case bourse.EventOrderAmended:
			p.orderUpdate(e.StreamSeq, &ev.Orders[e.At], orderAmended)
		case bourse.EventOrderPrevented:
			p.orderUpdate(e.StreamSeq, &ev.Orders[e.At], orderMoved)
		case bourse.EventOrderClosed:
			p.orderUpdate(e.StreamSeq, &ev.Orders[e.At], orderMoved)
		default:
		}
	}
}

func (p *Publisher) event(e bourse.Event, ev *bourse.Events) {
	switch e.Kind {
	case bourse.EventOrderAccepted:
		p.orderAccepted(e, &ev.Orders[e.At])
	case bourse.EventOrderRejected:
		p.orderRejected(e, &ev.Orders[e.At])
	case bourse.EventTraded:
		p.trade(&ev.Trades[e.At])
	case bourse.EventLevel:
		p.orderBook(&ev.Levels[e.At])
	case bourse.EventDeposit:
		if d := &ev.Wallet.Deposits[e.At]; d.Account != 0 {
			p.myTransfer(e.StreamSeq, history.OfDeposit(0, d))
		}
	case bourse.EventWithdrawal:
		p.myTransfer(e.StreamSeq, history.OfWithdrawal(0, &ev.Wallet.Withdrawals[e.At]))
	default: // not in a stream
	}
}

func (p *Publisher) trade(t *bourse.Trade) {
	m := p.catalogue.Markets[t.Market]
	p.marketTrade(m, t)
	p.myTrade(t, &t.Maker, bourse.Maker, t.TakerSide.Opposite())
	p.myTrade(t, &t.Taker, bourse.Taker, t.TakerSide)
}

// filled stages the update of an open order whose last fill this is.
func (p *Publisher) filled(f *bourse.Fill) {
	if f.UpdateSeq != 0 && p.feed.Wanted(ownOrders(f.Account)) {
		p.orderUpdate(f.UpdateSeq, p.view.Open(f.Account, f.Order), orderMoved)
	}
}

// marketData stages the updates caused by the event at index after, and returns the rest.
func (p *Publisher) marketData(updates []view.Update, after int) []view.Update {
	for len(updates) > 0 && updates[0].After == after {
		u := &updates[0]
		m := p.catalogue.Markets[u.Market]
		switch u.Kind {
		case view.TickerChanged:
			p.ticker(m, &u.Ticker)
			p.tickerEx(m, &u.Ticker)
		case view.VolumeChanged:
			p.tickerEx(m, &u.Ticker)
		case view.CandleChanged:
			p.candleStick(m, u)
		}
		updates = updates[1:]
	}
	return updates
}

// findLastTrades sets lastTrade. The wider candles of a command's earlier trades are not staged:
// an order that walks a book would fill the queues of their subscribers.
func (p *Publisher) findLastTrades(updates []view.Update) {
	if more := len(p.catalogue.Markets) - len(p.lastTrade); more > 0 {
		p.lastTrade = append(p.lastTrade, make([]int, more)...)
	}
	for i := range updates {
		p.lastTrade[updates[i].Market] = updates[i].After
	}
}

// begin starts a message for a topic; false if it has no subscriber.
func (p *Publisher) begin(t feed.Topic) (*wire.Writer, bool) {
	if !p.feed.Wanted(t) {
		return nil, false
	}

	block := p.w.Bytes()
	if cap(block)-len(block) < blockSize/16 {
		block = make([]byte, 0, blockSize)
	}
	p.begun = len(block)
	p.w.Reset(block[:len(block)+HeaderRoom])

	beginData(p.w, p.catalogue, t)
	return p.w, true
}

// beginData begins a data message.
func beginData(w *wire.Writer, c *view.Catalogue, t feed.Topic) {
	w.Object()
	w.Word("class", "data")
	writeStream(w, c, t)
}

// writeTime writes a time as Unix seconds and as Unix microseconds.
func writeTime(w *wire.Writer, t bourse.Time) {
	w.Int("time", t.Seconds())
	w.Int("time_us", int64(t))
}

// stage completes and stages the message that begin started. seq is its number in the
// stream.
func (p *Publisher) stage(t feed.Topic, seq uint64) {
	p.w.Uint("seq", seq)
	p.w.EndObject()
	block := p.w.Bytes()
	p.feed.Stage(t, seq, Frame(block[p.begun:len(block):len(block)]))
}
