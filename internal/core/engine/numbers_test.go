package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// TestNumbersRunOut brings the numbers of orders, trades and level changes to
// their end: orders are refused, nothing wraps, and cancels work to the last.
func TestNumbersRunOut(t *testing.T) {
	for name, up := range map[string][3]uint64{
		"orders": {engine.MaxNumber - 2, 7, 7},
		"trades": {7, engine.MaxNumber - 1, 7},
		"levels": {7, 7, engine.MaxNumber - 2},
	} {
		t.Run(name, func(t *testing.T) { runOut(t, up) })
	}
}

func runOut(t *testing.T, up [3]uint64) {
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
	e.UseUp(1, bourse.OrderID(up[0]), up[1], up[2])
	sell := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 2}
	buy := sell
	buy.Side, buy.Lots = bourse.Buy, 1
	if up[0] == engine.MaxNumber-2 {
		stop := sell
		stop.Type, stop.Stop = bourse.StopLimit, 90
		list := bourse.Command{Kind: bourse.CommandPlaceList, Account: 1, List: &bourse.NewList{
			Type: bourse.OCO, Orders: []bourse.NewOrder{sell, stop},
		}}
		e.UseUp(1, bourse.OrderID(up[0])+1, up[1], up[2]) // room for one order
		if o := apply(list); o.Reason != bourse.TooMany {
			t.Errorf("a list beyond the last number: %+v", o)
		}
		e.UseUp(1, bourse.OrderID(up[0]), up[1], up[2])
	}
	first := apply(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: sell})
	second := apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: buy})
	if first.Reason != 0 || second.Status != bourse.Filled {
		t.Fatalf("the last orders are %+v and %+v", first, second)
	}
	if third := apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: buy}); third.Reason != bourse.TooMany {
		t.Errorf("beyond the last number: %+v", third)
	}
	dearer := bourse.Command{
		Kind: bourse.CommandAmend, Account: 1, Order: bourse.OrderID(first.ID), NewOrder: bourse.NewOrder{Price: 101},
	}
	if o := apply(dearer); o.Reason != bourse.TooMany {
		t.Errorf("an amendment beyond the last number: %+v", o)
	}
	restored, err := engine.Restore(snapshot(e), func(*bourse.Events) {})
	if err != nil {
		t.Fatalf("does not restore: %v", err)
	}
	e = restored
	if end := apply(bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(first.ID)}); end.Status != bourse.Canceled {
		t.Errorf("a cancel gives %+v", end)
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}

// TestIDsTooFarApart refuses orders while the oldest open one is so old that the
// index would have to span more than it may.
func TestIDsTooFarApart(t *testing.T) {
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
	place := bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 2,
	}}
	old := apply(place)
	stop := place.NewOrder
	stop.Type, stop.Stop = bourse.StopLimit, 90
	list := bourse.Command{Kind: bourse.CommandPlaceList, Account: 1, List: &bourse.NewList{
		Type: bourse.OCO, Orders: []bourse.NewOrder{place.NewOrder, stop},
	}}
	e.UseUp(1, 1<<47, 0, 7)
	if o := apply(place); o.Reason != bourse.TooMany {
		t.Errorf("an order is %+v", o)
	}
	e.UseUp(1, 1<<46-2, 0, 7) // room for one order
	if o := apply(list); o.Reason != bourse.TooMany {
		t.Errorf("a list is %+v", o)
	}
	e.UseUp(1, 1<<47, 0, 7)
	apply(bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(old.ID)})
	if o := apply(place); o.Reason != 0 {
		t.Errorf("once the oldest is gone an order is %+v", o)
	}
}
