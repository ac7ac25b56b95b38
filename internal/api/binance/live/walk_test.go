package live_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// TestWalksAreObservedInLinearTime observes commands of ever more trades, as one who listens to
// the orders of both sides: all trading waits for that.
func TestWalksAreObservedInLinearTime(t *testing.T) {
	x := newExchange(t)
	few, many := 1000, 16_000
	for name, of := range map[string]walk{
		"one maker": {makers: 1}, "many makers": {makers: many}, "lists": {makers: 1, lists: true},
	} {
		base, most := x.observing(few, of), x.observing(many, of)
		if most > 150*base { // the square is 256 times at least
			t.Errorf("%s: %d trades take %v, %d take %v", name, few, base, many, most)
		}
	}
}

// observing returns the processor time in which a publisher observes an order that takes the
// orders of some accounts, the best of several times: other programs do not count.
func (x *exchange) observing(trades int, of walk) time.Duration {
	f := feed.New()
	p := live.NewPublisher(f, x.view, nil)
	s := feed.NewSubscriber(func() {}, func() {}, func(*feed.Hold) {})
	topics := []feed.Topic{{Kind: feed.User, Account: alice}}
	for i := range of.makers {
		topics = append(topics, feed.Topic{Kind: feed.User, Account: bob + bourse.AccountID(i)})
	}
	f.Subscribe(s, topics, nil)

	best := time.Hour
	for seq := range bourse.Seq(3) {
		cmd, ev := of.command(1000+seq, trades)
		x.view.Begin() // as one of the line's observers
		p.Begin()
		began := x.used()
		p.Observe(cmd, ev)
		best = min(best, x.used()-began)
		p.End()
		x.view.End()
		f.Deliver()
	}
	return best
}

// used returns the processor time of this process.
func (x *exchange) used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		x.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// walk is an order of alice that takes as many orders of some accounts in turn, each of a list of
// its own if lists is set.
type walk struct {
	makers int
	lists  bool
}

// command returns the command and its events.
func (w walk) command(seq bourse.Seq, trades int) (*bourse.Command, *bourse.Events) {
	cmd, ev := &bourse.Command{Kind: bourse.CommandPlace, Seq: seq, Account: alice}, new(bourse.Events)
	event := func(kind bourse.EventKind, at int) {
		ev.List = append(ev.List, bourse.Event{Kind: kind, At: uint32(at)})
	}
	closed := func(o *bourse.Order) {
		ev.Orders = append(ev.Orders, *o)
		event(bourse.EventOrderClosed, len(ev.Orders)-1)
	}

	taker := filled(bourse.OrderID(2*trades+1), alice, bourse.Buy, bourse.Lots(trades))
	ev.Orders = append(ev.Orders, taker)
	event(bourse.EventOrderAccepted, 0)
	for i := range trades {
		maker := filled(bourse.OrderID(2*i+1), bob+bourse.AccountID(i%w.makers), bourse.Sell, 1)
		if w.lists {
			maker.List = maker.ID
			other := maker
			other.ID, other.Filled, other.Status = maker.ID+1, 0, bourse.Killed
			closed(&other)
		}
		ev.Trades = append(ev.Trades, bourse.Trade{
			Market: 1, Number: uint64(i + 1), TakerSide: bourse.Buy, Price: 6_000_000, Lots: 1,
			Maker: bourse.Fill{Order: maker.ID, Account: maker.Account, Filled: 1},
			Taker: bourse.Fill{Order: taker.ID, Account: alice, Filled: bourse.Lots(i + 1)},
		})
		event(bourse.EventTraded, i)
		closed(&maker)
		for _, asset := range [...]bourse.AssetID{1, 2} {
			ev.Balances = append(ev.Balances,
				bourse.Balance{Account: maker.Account, Asset: asset}, bourse.Balance{Account: alice, Asset: asset})
		}
	}
	return cmd, ev
}

// filled returns an order that was taken whole.
func filled(id bourse.OrderID, who bourse.AccountID, side bourse.Side, lots bourse.Lots) bourse.Order {
	return bourse.Order{ID: id, Account: who, Filled: lots, Status: bourse.Filled, NewOrder: bourse.NewOrder{
		Market: 1, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: 6_000_000, Lots: lots,
	}}
}
