package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// The book of the walks: depth levels a side of queue orders each, all of account
// 1. Asks begin at 10,000 ticks, bids at 9,999; an order has 2 lots.
const (
	depth = 900
	queue = 5
)

// walks is an exchange with a deep book and three who walk it: account 2 has
// plenty, 3 has nothing, 4 has what ten levels are worth.
type walks struct {
	*testing.T
	e  *engine.Engine
	ev bourse.Events
}

func newWalks(t *testing.T) *walks {
	x := &walks{T: t, e: engine.New()}
	for _, cmd := range enginetest.Opening() {
		x.apply(cmd)
	}
	for range 2 {
		x.apply(bourse.Command{Kind: bourse.CommandCreateAccount})
	}
	ten := queue * 2 * 10 * bourse.Pow10(5) // ten levels in BTC, and in USDT
	x.apply(bourse.Command{Kind: bourse.CommandCredit, Account: 4, AssetID: 1, Amount: bourse.Units(ten)})
	x.apply(bourse.Command{Kind: bourse.CommandCredit, Account: 4, AssetID: 2, Amount: bourse.Units(ten)})
	for i := range bourse.Price(depth * queue) {
		x.rest(1, bourse.Sell, 10_000+i%depth)
		x.rest(1, bourse.Buy, 9_999-i%depth)
	}
	return x
}

func (x *walks) apply(cmd bourse.Command) bourse.Outcome {
	x.ev.Reset()
	cmd.Seq, cmd.Time = x.e.Seq()+1, x.e.Now()+1
	x.e.Apply(&cmd, &x.ev)
	return x.ev.Outcome
}

func (x *walks) rest(account bourse.AccountID, side bourse.Side, price bourse.Price) {
	x.Helper()
	if o := x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: bourse.NewOrder{
		Market: 1, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: 2,
	}}); o.Reason != 0 {
		x.Fatalf("an order at %d: %s", price, o.Reason)
	}
}

// all is more than a side has.
const all = depth*queue*2 + 1

// TestWalksArePaidFor wants an order to look at no more of the book than its
// account could pay for, and a level to be one step, whatever rests there.
func TestWalksArePaidFor(t *testing.T) {
	x := newWalks(t)
	lots := bourse.NewOrder{Type: bourse.MarketOrder, TIF: bourse.IOC, Lots: all}
	total := bourse.NewOrder{Type: bourse.MarketOrder, TIF: bourse.IOC, Total: bourse.Units(100 * bourse.Pow10(6) * depth)}
	limit := bourse.NewOrder{Type: bourse.Limit, TIF: bourse.FOK, Lots: all}
	for _, c := range [...]struct {
		name         string
		account      bourse.AccountID
		side         bourse.Side
		place        bourse.NewOrder
		fok          bool
		reason       bourse.Reason
		least, most  int
		price        bourse.Price
		preventsSelf bourse.SelfTradeMode
	}{
		{"nothing buys by amount", 3, bourse.Buy, lots, false, bourse.InsufficientFunds, 1, 1, 0, 0},
		{"nothing buys by amount, all or nothing", 3, bourse.Buy, lots, true, bourse.InsufficientFunds, 1, 1, 0, 0},
		{"nothing buys by total", 3, bourse.Buy, total, false, bourse.InsufficientFunds, 0, 0, 0, 0},
		{"nothing buys by total, all or nothing", 3, bourse.Buy, total, true, bourse.InsufficientFunds, 0, 0, 0, 0},
		{"nothing sells by amount", 3, bourse.Sell, lots, false, bourse.InsufficientFunds, 0, 0, 0, 0},
		{"nothing sells by amount, all or nothing", 3, bourse.Sell, lots, true, bourse.InsufficientFunds, 0, 0, 0, 0},
		{"nothing sells by total", 3, bourse.Sell, total, false, bourse.InsufficientFunds, 1, 1, 0, 0},
		{"nothing sells by total, all or nothing", 3, bourse.Sell, total, true, bourse.InsufficientFunds, 1, 1, 0, 0},
		{"nothing buys at a limit", 3, bourse.Buy, limit, true, bourse.InsufficientFunds, 0, 0, 20_000, 0},

		{"a little buys by amount", 4, bourse.Buy, lots, false, bourse.InsufficientFunds, 9, 11, 0, 0},
		{"a little sells by total", 4, bourse.Sell, total, false, bourse.InsufficientFunds, 10, 11, 0, 0},
		{"a little buys by total", 4, bourse.Buy, total, false, bourse.InsufficientFunds, 0, 0, 0, 0},

		{"plenty buys by amount, all or nothing", 2, bourse.Buy, lots, true, 0, depth, depth, 0, 0},
		{"plenty sells by amount, all or nothing", 2, bourse.Sell, lots, true, 0, depth, depth, 0, 0},
		{"plenty buys at a limit", 2, bourse.Buy, limit, true, 0, depth, depth, 20_000, 0},
		{"plenty sells at a limit", 2, bourse.Sell, limit, true, 0, depth, depth, 1, 0},
		{"plenty buys at a near limit", 2, bourse.Buy, limit, true, 0, 4, 4, 10_002, 0},
		{"plenty has no orders of its own", 2, bourse.Buy, limit, true, 0, depth, depth, 20_000, bourse.CancelOldest},
	} {
		c.place.Market, c.place.Side, c.place.Price, c.place.SelfTrade = 1, c.side, c.price, c.preventsSelf
		if c.fok {
			c.place.TIF = bourse.FOK
		}
		for range 3 { // as often as anybody likes
			o := x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: c.account, NewOrder: c.place})
			if o.Reason != c.reason || o.Filled != 0 {
				t.Errorf("%s: %+v", c.name, o)
			}
			if n := x.e.Walked(); n < c.least || n > c.most {
				t.Errorf("%s walks %d steps", c.name, n)
			}
		}
	}
}

// TestOwnOrdersInAWalk lets an account with orders of its own among all others
// ask for all, with each mode, and wants one step for each level and a few for
// each of its own orders.
func TestOwnOrdersInAWalk(t *testing.T) {
	const own = 20
	for mode, least := range map[bourse.SelfTradeMode]int{
		bourse.SelfTradeNone: depth, bourse.CancelOldest: depth, bourse.CancelNewest: 10, bourse.CancelBoth: 10,
		bourse.Decrement: 10,
	} {
		x := newWalks(t)
		for i := range bourse.Price(own) {
			x.rest(2, bourse.Sell, 10_010+i*40)
		}
		o := x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: bourse.NewOrder{
			Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.FOK, SelfTrade: mode, Lots: all + 2*own, Price: 20_000,
		}})
		if o.Reason != 0 || o.Filled != 0 || o.Status != bourse.Killed {
			t.Errorf("%s: %+v", mode, o)
		}
		if n := x.e.Walked(); n < least || n > depth+2*own+queue+1 {
			t.Errorf("%s walks %d steps", mode, n)
		}
	}
}

// TestStopsThatWalkAreSpread lets one trade fire stops that go past all their account's
// orders for nothing, some of them of lists: their account paid for it when it placed them, a
// command works few of them, and others go on in between.
func TestStopsThatWalkAreSpread(t *testing.T) {
	const own, stops = 4_000, 300
	x := newWalks(t)
	for i := range bourse.Price(own) {
		x.rest(2, bourse.Sell, 20_000+i*7919%own)
	}
	forms := [...]bourse.NewOrder{
		{Type: bourse.StopLimit, Stop: 10_000, Price: 30_000, Lots: all},
		{Type: bourse.StopMarket, Stop: 10_000, Total: bourse.Units(300_000 * all)},
	}
	far := bourse.NewOrder{Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1, Lots: 1}
	paid := 0
	for i := range stops {
		stop := forms[i%len(forms)]
		stop.Market, stop.Side, stop.TIF, stop.SelfTrade = 1, bourse.Buy, bourse.FOK, bourse.CancelOldest
		place := bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: stop}
		if i%3 == 0 {
			place.Kind, place.List = bourse.CommandPlaceList, &bourse.NewList{Type: bourse.OCO, Orders: []bourse.NewOrder{far, stop}}
		}
		if o := x.apply(place); o.Reason != 0 {
			t.Fatalf("a stop: %s", o.Reason)
		}
		paid += x.e.Walked()
	}
	if paid < own*stops {
		t.Errorf("the stops paid for %d steps", paid)
	}

	fired, commands := 0, 0
	count := func() {
		commands++
		for _, event := range x.ev.List {
			if event.Kind == bourse.EventOrderTriggered {
				fired++
			}
		}
	}
	x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.IOC, Price: 10_000, Lots: 1,
	}})
	for count(); x.e.Unfinished(); count() {
		x.apply(bourse.Command{Kind: bourse.CommandContinue})
	}
	if fired != stops || commands < 10 {
		t.Errorf("%d of %d stops fired, in %d commands", fired, stops, commands)
	}
}
