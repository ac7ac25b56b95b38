package live_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// TestFillsAreReadOnce reports on orders from before their account listened: the fills of one that
// has traded are read for the first report, and no later one waits. Of the other there are none.
func TestFillsAreReadOnce(t *testing.T) {
	x := newExchange(t)
	id := x.place(alice, bourse.Sell, 6_000_000, 5000)
	for range 4 {
		x.do(x.bid(1000))
	}
	other := x.place(alice, bourse.Sell, 6_000_000, 5000)

	f := feed.New()
	p := live.NewPublisher(f, x.view, x.live.Facade.History)
	s := feed.NewSubscriber(func() {}, func() {}, func(*feed.Hold) { t.Error("a message is lost") })
	f.Subscribe(s, []feed.Topic{{Kind: feed.User, Account: alice}}, nil)
	s.Take(nil)
	for i, want := range [...]struct {
		of     bourse.OrderID
		filled bourse.Lots
		read   bool
		value  string
	}{
		{id, 2000, true, "120.000000000000"}, {id, 3000, false, "180.000000000000"},
		{other, 1000, false, "60.000000000000"}, {id, 4000, false, "240.000000000000"},
		{other, 2000, false, "120.000000000000"},
	} {
		ev := &bourse.Events{
			List: []bourse.Event{{Kind: bourse.EventTraded}},
			Trades: []bourse.Trade{{
				Market: 1, Number: uint64(i + 2), TakerSide: bourse.Buy, Price: 6_000_000, Lots: 1000,
				Total: bourse.Units(60_000_000_000_000),
				Maker: bourse.Fill{Order: want.of, Account: alice, Filled: want.filled}, Taker: bourse.Fill{Account: bob},
			}},
		}
		x.view.Begin() // as one of the line's observers
		p.Begin()
		p.Observe(&bourse.Command{Kind: bourse.CommandPlace, Seq: bourse.Seq(1000 + i), Account: bob}, ev)
		p.End()
		x.view.End()
		f.Deliver()
		if got := f.Encode(); got != want.read {
			t.Errorf("report %d: its value is read: %t", i, got)
		}
		f.Deliver()
		if list := s.Take(nil); len(list) != 1 || !strings.Contains(string(list[0]), `"Z":"`+want.value+`"`) {
			t.Errorf("report %d: %q", i, list)
		}
	}
}
