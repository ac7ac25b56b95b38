package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

const (
	// links is how many orders wait in a chain, and base the price below its first stop.
	links = 2*engine.MaxSteps + 500
	base  = 100_000
)

// chained is an exchange in which a trade at base triggers an order whose trade triggers the
// next, and so on. Account 1 sells one lot at each price; the orders of account 2 wait.
type chained struct {
	walks
	ids   []bourse.OrderID
	fired int
}

func newChain(t *testing.T) *chained {
	x := &chained{walks: walks{T: t, e: engine.New()}}
	for _, cmd := range enginetest.Opening() {
		if cmd.Market != nil {
			cmd.Market.InitialPrice, cmd.Market.Collar = base, bourse.RateOne/10
		}
		x.apply(cmd)
	}

	// Each buys the lot above its stop: what it holds suffices, and not for one more.
	forms := [...]func(*bourse.NewOrder){
		func(p *bourse.NewOrder) { p.Type, p.Price, p.Lots = bourse.StopLimit, p.Stop+1, 1 },
		func(p *bourse.NewOrder) { p.Type, p.Total = bourse.StopMarket, bourse.Units(10*uint64(p.Stop+1)) },
		func(p *bourse.NewOrder) { p.Type, p.Lots = bourse.StopMarket, 1 },
	}
	x.order(1, bourse.NewOrder{Side: bourse.Sell, Type: bourse.Limit, Price: base, Lots: 1})
	for i := range links {
		at := bourse.Price(base + i)
		x.order(1, bourse.NewOrder{Side: bourse.Sell, Type: bourse.Limit, Price: at + 1, Lots: 1})
		p := bourse.NewOrder{Side: bourse.Buy, Stop: at}
		forms[i%len(forms)](&p)
		x.ids = append(x.ids, bourse.OrderID(x.order(2, p).ID))
	}
	return x
}

func (x *chained) order(account bourse.AccountID, p bourse.NewOrder) bourse.Outcome {
	x.Helper()
	p.Market, p.TIF = 1, bourse.GTC
	return x.must(bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: p})
}

// must applies a command, which must not be refused, and counts what it triggers.
func (x *chained) must(cmd bourse.Command) bourse.Outcome {
	x.Helper()
	o := x.apply(cmd)
	if o.Reason != 0 {
		x.Fatalf("%+v: %s", cmd, o.Reason)
	}
	fired := 0
	for _, event := range x.ev.List {
		if event.Kind == bourse.EventOrderTriggered {
			fired++
		}
	}
	if fired > engine.MaxSteps {
		x.Errorf("a command triggered %d orders", fired)
	}
	x.fired += fired
	return o
}

// start sets the chain off: one command works as many links as it has steps.
func (x *chained) start() {
	x.Helper()
	x.order(1, bourse.NewOrder{Side: bourse.Buy, Type: bourse.Limit, Price: base, Lots: 1})
	if err := x.e.Check(); err != nil {
		x.Error(err)
	}
	if x.fired != engine.MaxSteps || !x.e.Unfinished() {
		x.Fatalf("the first command triggered %d orders", x.fired)
	}
}

// restored returns the chain on an engine restored from a snapshot.
func (x *chained) restored() *chained {
	x.Helper()
	e, err := engine.Restore(snapshot(x.e), func(*bourse.Events) {})
	if err != nil {
		x.Fatal(err)
	}
	return &chained{walks: walks{T: x.T, e: e}, ids: x.ids, fired: x.fired}
}

// TestChainsOfTriggersAreBounded lets one order trigger a chain of more orders than a command
// works: each command works a part, other commands go between, and the end is the same if the
// engine is restored meanwhile.
func TestChainsOfTriggersAreBounded(t *testing.T) {
	x := newChain(t)
	x.start()
	ends := [2][32]byte{}
	for i, x := range [...]*chained{x, x.restored()} {
		x.must(bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 1, State: bourse.MarketHalted})
		x.must(bourse.Command{Kind: bourse.CommandContinue})
		if x.fired != engine.MaxSteps || x.e.Unfinished() {
			t.Fatalf("a halted market has triggered %d orders", x.fired)
		}
		x.must(bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 1, State: bourse.MarketOpen})
		for x.e.Unfinished() {
			x.must(bourse.Command{Kind: bourse.CommandContinue})
		}
		if x.fired != links || x.e.OpenOrders() != 0 {
			t.Errorf("%d of %d orders were triggered, %d are open", x.fired, links, x.e.OpenOrders())
		}
		if err := x.e.Check(); err != nil {
			t.Error(err)
		}
		ends[i] = x.e.StateHash()
	}
	if ends[0] != ends[1] {
		t.Error("the restored engine ends in another state")
	}
}

// TestFiredOrdersCanBeCanceled cancels the orders whose turn has not come: the one that was
// triggered and all that still wait. They trade no more, and hold nothing.
func TestFiredOrdersCanBeCanceled(t *testing.T) {
	for name, cancel := range map[string]bourse.Command{
		"cancel":     {Kind: bourse.CommandCancel, Account: 2},
		"cancel all": {Kind: bourse.CommandCancelAll, Account: 2},
	} {
		x := newChain(t)
		x.start()
		for i, x := range [...]*chained{x, x.restored()} {
			if cancel.Kind == bourse.CommandCancel {
				cancel.Order = x.ids[engine.MaxSteps]
			}
			x.must(cancel)
			if cancel.Kind == bourse.CommandCancel && x.e.Unfinished() {
				t.Errorf("%s, %d: the chain goes on", name, i)
			}
			for x.e.Unfinished() {
				x.must(bourse.Command{Kind: bourse.CommandContinue})
			}
			if x.fired != engine.MaxSteps {
				t.Errorf("%s, %d: %d orders were triggered", name, i, x.fired)
			}
			x.must(bourse.Command{Kind: bourse.CommandCancelAll, Account: 2})
			for x.e.Unfinished() {
				x.must(bourse.Command{Kind: bourse.CommandContinue})
			}
			if err := x.e.Check(); err != nil || x.e.OpenOrders() != links-engine.MaxSteps {
				t.Errorf("%s, %d: %d orders are open, %v", name, i, x.e.OpenOrders(), err)
			}
		}
	}
}
