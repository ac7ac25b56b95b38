package pace_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/pace"
	"github.com/bourse-exchange/bourse/internal/view"
)

// all wants everything.
type all struct{}

func (all) Levels(bourse.MarketID) bool                     { return true }
func (all) Trades(bourse.MarketID) bool                     { return true }
func (all) Candles(bourse.MarketID, bourse.Resolution) bool { return true }

// street is a market that changes.
type street struct {
	feed    *feed.Feed
	view    *view.View
	changes *pace.Changes
	seq     bourse.Seq
	trades  uint64
}

func newStreet() *street {
	s := &street{feed: feed.New(), view: view.New()}
	s.changes = pace.NewChanges(s.feed, s.view, all{})
	ev := new(bourse.Events)
	for id := bourse.AssetID(1); id <= 2; id++ {
		ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &bourse.Asset{ID: id, Scale: 8, Enabled: true}})
	}
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{
		ID: 1, Base: 1, Quote: 2, Pair: "B/Q", InitialPrice: 100, BasePrecision: 3, QuotePrecision: 2, State: bourse.MarketOpen,
	}})
	s.observe(0, ev)
	return s
}

func (s *street) observe(now bourse.Time, ev *bourse.Events) {
	s.seq++
	s.view.Begin()
	s.feed.Begin()
	s.view.Observe(&bourse.Command{Kind: bourse.CommandTick, Seq: s.seq, Time: now}, ev)
	s.changes.Observe(now, ev)
	s.feed.End()
	s.view.End()
}

// trade trades at a price.
func (s *street) trade(now bourse.Time, price bourse.Price) {
	ev := new(bourse.Events)
	s.trades++
	t := ev.AddTrade()
	t.Market, t.Number, t.Price, t.Lots, t.TakerSide = 1, s.trades, price, 1, bourse.Buy
	t.Maker.Account, t.Taker.Account = 1, 1
	s.observe(now, ev)
}

// TestWaitingCandles wants each candle once for a beat, however many trades change it, and those
// that ended before those that began.
func TestWaitingCandles(t *testing.T) {
	s := newStreet()
	for i := range bourse.Price(1000) {
		s.trade(bourse.Day+bourse.Minute/2, 100+i)
	}
	s.trade(bourse.Day+bourse.Minute, 50)

	type state struct {
		start  bourse.Time
		low    bourse.Price
		closed bool
	}
	got := map[bourse.Resolution][]state{}
	for _, c := range s.changes.Take()[1].Candles {
		got[c.Resolution] = append(got[c.Resolution], state{c.Bucket.Start, c.Bucket.Low, c.Closed})
	}
	for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
		list := got[res]
		if res == bourse.Resolution1 {
			if len(list) != 2 || list[0] != (state{bourse.Day, 100, true}) || list[1] != (state{bourse.Day + bourse.Minute, 50, false}) {
				t.Errorf("of minutes there are %d: %v", len(list), list[:min(5, len(list))])
			}
			continue
		}
		if len(list) != 1 || list[0].low != 50 || list[0].closed {
			t.Errorf("of resolution %s there are %d: %v", res, len(list), list[:min(5, len(list))])
		}
	}
}
