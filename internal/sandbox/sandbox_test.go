package sandbox_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

// exchange is an engine with the sandbox's catalogue.
type exchange struct {
	t   *testing.T
	e   *engine.Engine
	ev  bourse.Events
	now bourse.Time
	// markets and assets are those that were defined.
	markets []*bourse.Market
	assets  []*bourse.Asset
	trades  map[bourse.MarketID]int
}

func newExchange(t *testing.T) *exchange {
	x := &exchange{t: t, e: engine.New(), trades: map[bourse.MarketID]int{}}
	x.must(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}})
	for _, cmd := range sandbox.Catalogue(true) {
		x.must(cmd)
	}
	return x
}

func (x *exchange) do(cmd bourse.Command) bourse.Outcome {
	x.t.Helper()
	if err := record.Check(&cmd); err != nil {
		x.t.Fatalf("%+v: %v", cmd, err)
	}
	cmd.Seq, cmd.Time = x.e.Seq()+1, x.now
	x.ev.Reset()
	x.e.Apply(&cmd, &x.ev)
	for _, f := range x.ev.Facts {
		if f.Market != nil {
			x.markets = append(x.markets, f.Market)
		}
		if f.Asset != nil {
			x.assets = append(x.assets, f.Asset)
		}
	}
	for _, tr := range x.ev.Trades {
		x.trades[tr.Market]++
	}
	return x.ev.Outcome
}

func (x *exchange) must(cmd bourse.Command) bourse.Outcome {
	x.t.Helper()
	o := x.do(cmd)
	if o.Reason != 0 {
		x.t.Fatalf("%+v: %s", cmd, o.Reason)
	}
	return o
}

func TestCatalogueIsTakenAndLong(t *testing.T) {
	x := newExchange(t)
	if len(x.assets) != 5+sandbox.TestAssets || len(x.markets) != 5+sandbox.TestAssets {
		t.Errorf("%d assets and %d markets are listed", len(x.assets), len(x.markets))
	}
}

// TestDemoCatalogue wants the main markets alone, under the ids that they have in the
// wide one.
func TestDemoCatalogue(t *testing.T) {
	wide := newExchange(t)
	x := &exchange{t: t, e: engine.New(), trades: map[bourse.MarketID]int{}}
	x.must(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}})
	for _, cmd := range sandbox.Catalogue(false) {
		x.must(cmd)
	}
	if len(x.assets) != 5 || len(x.markets) != 5 {
		t.Errorf("%d assets and %d markets are listed", len(x.assets), len(x.markets))
	}
	for i, m := range x.markets {
		if w := wide.markets[i]; m.ID != w.ID || m.Pair != w.Pair || m.Base != w.Base {
			t.Errorf("%+v is %+v in the wide catalogue", m, w)
		}
	}
}

func TestBotsKeepMarketsMoving(t *testing.T) {
	t.Run("past", func(t *testing.T) { botsTrade(t, sandbox.Past, bourse.Minute) })
	t.Run("live", func(t *testing.T) { botsTrade(t, sandbox.Live, 150_000) })
}

// botsTrade has traders trade at a pace, with so much time between two plans.
func botsTrade(t *testing.T, pace sandbox.Pace, every bourse.Time) {
	x := newExchange(t)
	maker := bourse.AccountID(x.must(bourse.Command{Kind: bourse.CommandCreateAccount}).ID)
	taker := bourse.AccountID(x.must(bourse.Command{Kind: bourse.CommandCreateAccount}).ID)
	for _, account := range []bourse.AccountID{maker, taker} {
		for _, cmd := range sandbox.Funds(account, x.assets) {
			x.must(cmd)
		}
	}
	main := x.markets[:5]
	bots := sandbox.NewBots(1, maker, taker, main, nil)
	commands := 0
	for turn := range 5000 {
		if turn >= warm && turn%7 == 0 {
			x.deep(main)
		}
		x.now += every
		var outcomes []bourse.Outcome
		for _, cmd := range bots.Plan(1, pace) {
			outcomes = append(outcomes, x.do(cmd))
			commands++
		}
		bots.Learn(outcomes)
		if n := x.e.OpenOrders(); n > 5*2*14+5 {
			t.Fatalf("%d orders are open", n)
		}
	}
	if commands > 5000*5 {
		t.Errorf("%d commands in 5000 plans", commands)
	}
	for _, m := range main {
		if x.trades[m.ID] < 100 {
			t.Errorf("%s traded %d times", m.Pair, x.trades[m.ID])
		}
		bids, asks := x.e.Depth(m.ID, bourse.Buy), x.e.Depth(m.ID, bourse.Sell)
		if len(bids) < 5 || len(asks) < 5 {
			t.Fatalf("%s has %d bids and %d asks", m.Pair, len(bids), len(asks))
		}
		spread := float64(asks[0].Price-bids[0].Price) / float64(m.InitialPrice)
		away := float64(asks[0].Price)/float64(m.InitialPrice) - 1
		if spread > 0.05 || away > 0.5 || away < -0.5 {
			t.Errorf("%s stands at %d to %d", m.Pair, bids[0].Price, asks[0].Price)
		}
		t.Logf("%s: %d trades, %d - %d", m.Pair, x.trades[m.ID], bids[0].Price, asks[0].Price)
	}
	if err := x.e.Check(); err != nil {
		t.Error(err)
	}
}

// warm is how many plans it takes to fill the books.
const warm = 500

// deep wants each side's first ten levels to be worth 50,000 USDT.
func (x *exchange) deep(markets []*bourse.Market) {
	x.t.Helper()
	for _, m := range markets {
		least, _ := m.MinOrder.Mul(10_000)
		if least.IsZero() {
			x.t.Fatal("no market without a least order")
		}
		for _, side := range []bourse.Side{bourse.Buy, bourse.Sell} {
			worth := bourse.Amount{}
			for i, level := range x.e.Depth(m.ID, side) {
				if i < 10 {
					total, _ := m.Total(level.Price, level.Lots)
					worth = worth.Plus(total)
				}
			}
			if worth.Less(least) {
				x.t.Fatalf("%s %s holds %s in ten levels, less than %s", m.Pair, side, worth.Format(12), least.Format(12))
			}
		}
	}
}
