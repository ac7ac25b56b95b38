package live_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// TestFillsAreReadOnce reports on an order that has traded before its account listened: its fills
// are read for the first report, and others' messages wait for no later one.
func TestFillsAreReadOnce(t *testing.T) {
	x := newExchange(t)
	id := x.place(alice, bourse.Sell, 6_000_000, 5000)
	for range 4 {
		x.do(x.bid(1000))
	}

	f := feed.New()
	p := live.NewPublisher(f, x.view, x.live.Facade.History)
	s := feed.NewSubscriber(func() {}, func() {}, func(*feed.Hold) { t.Error("a message is lost") })
	f.Subscribe(s, []feed.Topic{{Kind: feed.User, Account: alice}}, nil)
	s.Take(nil)
	for i, want := range [...]struct {
		read  bool
		value string
	}{{true, "120.000000000000"}, {false, "180.000000000000"}, {false, "240.000000000000"}} {
		ev := &bourse.Events{
			List: []bourse.Event{{Kind: bourse.EventTraded}},
			Trades: []bourse.Trade{{
				Market: 1, Number: uint64(i + 2), TakerSide: bourse.Buy, Price: 6_000_000, Lots: 1000,
				Total: bourse.Units(60_000_000_000_000),
				Maker: bourse.Fill{Order: id, Account: alice, Filled: bourse.Lots(i+2) * 1000}, Taker: bourse.Fill{Account: bob},
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
