package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// TestOneTradeSetsOffManyLists lets one trade reach the stops of as many lists as an account
// may have. A command works no more than its steps, each at the price of a cancel, and the
// lists take no memory once they are done.
func TestOneTradeSetsOffManyLists(t *testing.T) {
	const lists = engine.MaxOpenOrders / 2
	e := engine.New()
	var ev bourse.Events
	apply := func(cmd bourse.Command) bourse.Outcome {
		ev.Reset()
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+1
		e.Apply(&cmd, &ev)
		return ev.Outcome
	}
	for _, cmd := range enginetest.Opening() {
		apply(cmd)
	}

	limit := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 200, Lots: 1}
	stop := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.StopLimit, TIF: bourse.GTC, Price: 60, Stop: 50, Lots: 1}
	list := bourse.Command{Kind: bourse.CommandPlaceList, Account: 1, List: &bourse.NewList{
		Type: bourse.OCO, Orders: []bourse.NewOrder{limit, stop},
	}}
	var last bourse.Outcome
	for i := range lists {
		if last = apply(list); last.Reason != 0 || last.Second.Status != bourse.Open {
			t.Fatalf("list %d is %+v", i, last)
		}
	}
	if o := apply(list); o.Reason != bourse.TooManyOrders {
		t.Fatalf("one list too many is %+v", o)
	}
	dearer := bourse.Command{
		Kind: bourse.CommandAmend, Account: 1, Order: bourse.OrderID(last.ID), NewOrder: bourse.NewOrder{Price: 201},
	}
	if o := apply(dearer); o.Reason != 0 {
		t.Errorf("an amendment of one of as many orders as there may be is %+v", o)
	}

	buy, sell := limit, limit
	buy.Side, buy.Price, sell.Price = bourse.Buy, 50, 50
	apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: buy})
	apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: sell})
	commands := 1
	// A step kills one order, triggers the other and rests it: three events of orders and two
	// of levels. The trade itself has six.
	const most = 5*engine.MaxSteps + 6
	for ; len(ev.List) <= most && e.Unfinished(); commands++ {
		apply(bourse.Command{Kind: bourse.CommandContinue})
	}
	if len(ev.List) > most || commands != lists/engine.MaxSteps {
		t.Errorf("command %d has %d events, want at most %d; %d commands", commands, len(ev.List), most, lists/engine.MaxSteps)
	}
	if n := e.OpenOrders(); n != lists {
		t.Errorf("%d orders are open, want one of each list", n)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}

	apply(bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	for e.Unfinished() {
		apply(bourse.Command{Kind: bourse.CommandContinue})
	}
	if n := e.OpenOrders(); n != 0 {
		t.Errorf("%d orders are open after all are canceled", n)
	}
}
