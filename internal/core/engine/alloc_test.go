package engine_test

import (
	"encoding/binary"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// round is a sequence of orders after which the book is as it was before: makers
// that are taken, alone and all at once, and canceled, stops that fire, and every way to ask.
var round = []bourse.NewOrder{
	{Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 105, Lots: 3},
	{Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 9_000, Lots: 3},
	{Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 99, Lots: 4, PostOnly: true},
	{Side: bourse.Buy, Type: bourse.StopLimit, TIF: bourse.GTC, Price: 106, Stop: 105, Lots: 1},
	{Side: bourse.Sell, Type: bourse.StopLimit, TIF: bourse.IOC, Price: 90, Stop: 104, Lots: 1},
	{Side: bourse.Buy, Type: bourse.StopMarket, TIF: bourse.GTC, Stop: 105, Total: bourse.Units(1_000_000)},
	{Side: bourse.Buy, Type: bourse.TakeProfitMarket, TIF: bourse.GTC, Stop: 104, Lots: 1},
	{Side: bourse.Sell, Type: bourse.TakeProfitMarket, TIF: bourse.FOK, Stop: 105, Lots: 1},
	{Side: bourse.Sell, Type: bourse.TakeProfitLimit, TIF: bourse.IOC, Price: 90, Stop: 106, Lots: 1},
	{Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.FOK, Price: 105, Lots: 2},
	{Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.FOK, Price: 105, Lots: 200},
	{Side: bourse.Buy, Type: bourse.MarketOrder, TIF: bourse.IOC, Total: bourse.Units(10_000_000)},
	{Side: bourse.Sell, Type: bourse.MarketOrder, TIF: bourse.IOC, Total: bourse.Units(1_000_000)},
	{Side: bourse.Sell, Type: bourse.MarketOrder, TIF: bourse.FOK, Lots: 1},
	{Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 1 << 40, Lots: 1},
	{Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1 << 61, Lots: 1}, // no money
	{Market: 9, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1, Lots: 1},
}

// changesOf returns commands each of which is about the order of the one before: one that is
// amended and replaced, and one of a list that is.
func changesOf(far bourse.NewOrder) []bourse.Command {
	wait := far
	wait.Type, wait.Stop = bourse.StopLimit, 50
	list := &bourse.NewList{Type: bourse.OCO, Orders: []bourse.NewOrder{far, wait}}
	changes := []bourse.Command{
		{Kind: bourse.CommandPlace, NewOrder: far},
		{Kind: bourse.CommandAmend, NewOrder: bourse.NewOrder{Lots: 3}},
		{Kind: bourse.CommandAmend, NewOrder: bourse.NewOrder{Lots: 2}},
		{Kind: bourse.CommandAmend, NewOrder: bourse.NewOrder{Price: 111}},
		{Kind: bourse.CommandReplace, NewOrder: wait},
		{Kind: bourse.CommandReplace, NewOrder: far},
		{Kind: bourse.CommandPlaceList, List: list},
		{Kind: bourse.CommandAmend, NewOrder: bourse.NewOrder{Price: 111, Lots: 4}},
		{Kind: bourse.CommandReplace, NewOrder: far},
	}
	for i := range changes {
		changes[i].Account = 1
	}
	return changes
}

// TestSteadyStateAllocatesNothing warms an engine and wants no allocation from
// any command after that.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	e := engine.New()
	var ev bourse.Events
	apply := func(cmd *bourse.Command) {
		ev.Reset()
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+bourse.Minute // names expire after some rounds
		e.Apply(cmd, &ev)
	}
	for _, cmd := range enginetest.Opening() {
		apply(&cmd)
	}
	apply(&bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 1<<40, 1<<50)})
	var cmd bourse.Command
	var names uint64
	// Of two lists one order trades, and one is triggered; the third is canceled.
	limit := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 105, Lots: 1}
	stop := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.StopMarket, TIF: bourse.GTC, Stop: 99, Lots: 1}
	far := limit
	far.Price = 110
	lists := []*bourse.NewList{
		{Type: bourse.OCO, Orders: []bourse.NewOrder{limit, stop}},
		{Type: bourse.OCO, Orders: []bourse.NewOrder{stop, far}},
		{Type: bourse.OCO, Orders: []bourse.NewOrder{far, stop}},
	}
	changes := changesOf(far)
	play := func() {
		cmd = bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: round[0]}
		cmd.NewOrder.Market = 1
		names++
		copy(cmd.NewOrder.ClientID[:], "name")
		binary.LittleEndian.PutUint64(cmd.NewOrder.ClientID[4:], names)
		apply(&cmd)
		for _, l := range lists {
			cmd = bourse.Command{Kind: bourse.CommandPlaceList, Account: 1, List: l}
			apply(&cmd)
		}
		cmd = bourse.Command{Kind: bourse.CommandCancelList, Account: 1, Order: bourse.OrderID(ev.Outcome.ID)}
		apply(&cmd)
		for _, change := range changes {
			change.Order = bourse.OrderID(ev.Outcome.ID)
			cmd = change
			apply(&cmd)
			if ev.Outcome.Reason != 0 {
				t.Fatalf("%+v: %s", cmd, ev.Outcome.Reason)
			}
		}
		for i, p := range round {
			cmd = bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(1 + i%2), NewOrder: p}
			if cmd.NewOrder.Market == 0 {
				cmd.NewOrder.Market = 1
			}
			apply(&cmd)
		}
		cmd = bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(ev.Outcome.ID)}
		apply(&cmd)
		for a := bourse.AccountID(1); a <= 2; a++ {
			cmd = bourse.Command{Kind: bourse.CommandCancelAll, Account: a}
			apply(&cmd)
		}
		cmd = bourse.Command{Kind: bourse.CommandTick}
		apply(&cmd)
		cmd = bourse.Command{Kind: bourse.CommandContinue}
		apply(&cmd)
	}
	for range 2000 {
		play()
	}
	if n := testing.AllocsPerRun(500, play); n != 0 {
		t.Errorf("a round of %d commands allocates %v times", len(round)+len(lists)+len(changes)+7, n)
	}
	if e.OpenOrders() != 0 {
		t.Errorf("%d orders are left open", e.OpenOrders())
	}
	if err := e.Check(); err != nil {
		t.Error(err)
	}
}
