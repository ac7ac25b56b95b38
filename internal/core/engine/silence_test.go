package engine_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// TestSwitchesAreVisits wants a command to fire at most 100,000 switches of accounts
// without orders, so that an account with orders behind them does not wait for long.
func TestSwitchesAreVisits(t *testing.T) {
	const accounts = 150_000
	x := newTraders(t, accounts-2)
	for a := bourse.AccountID(1); a <= accounts; a++ {
		x.apply(bourse.Command{Kind: bourse.CommandCancelAfter, Account: a, Hold: bourse.Second})
	}
	x.place(1, 1, bourse.Sell, 100, 1)
	x.at += bourse.Second
	x.apply(bourse.Command{Kind: bourse.CommandTick})
	if x.e.OpenOrders() != 0 {
		t.Error("the order of the first account is open")
	}
	if !x.e.Unfinished() {
		t.Error("one command fired all switches")
	}
	x.apply(bourse.Command{Kind: bourse.CommandContinue})
	if x.e.Unfinished() || x.e.Armed() {
		t.Errorf("%d switches take more than two commands", accounts)
	}
}

// TestCloseWithoutOrders closes a connection of an account without orders behind so many due
// switches that its own does not get a look, before there was any order. The state restores.
func TestCloseWithoutOrders(t *testing.T) {
	const accounts = 100_100
	x := newTraders(t, accounts-2)
	for a := bourse.AccountID(1); a < accounts; a++ {
		x.apply(bourse.Command{Kind: bourse.CommandCancelAfter, Account: a, Hold: bourse.Second})
	}
	x.apply(bourse.Command{Kind: bourse.CommandCancelOnClose, Account: accounts})
	x.at += bourse.Second
	x.apply(bourse.Command{Kind: bourse.CommandConnectionClosed, Account: accounts, Connection: 1})
	if x.ev.Outcome.Reason != 0 || !x.e.Unfinished() {
		t.Fatalf("the close was answered %s, and nothing is left to do", x.ev.Outcome.Reason)
	}
	if _, err := engine.Restore(snapshot(x.e), func(*bourse.Events) {}); err != nil {
		t.Error(err)
	}
}

// TestHaltedMarketsAreVisits fires switches of an account with orders in many halted
// markets: each look at a market counts.
func TestHaltedMarketsAreVisits(t *testing.T) {
	const markets = 3 * engine.MaxSteps
	x := newTraders(t, 0)
	m := *x.e.Market(1)
	for i := range bourse.MarketID(markets) {
		x.apply(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: symbol(int(i)), Name: "Asset", Scale: 8, Enabled: true,
		}})
		m.Base = bourse.AssetID(x.ev.Outcome.ID)
		x.apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
		x.place(1, i+2, bourse.Buy, 100, 1)
		x.apply(bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: i + 2, State: bourse.MarketHalted})
	}
	x.place(1, 1, bourse.Buy, 100, 1)
	for i := range engine.MaxSteps - 1 {
		x.place(2, 1, bourse.Sell, bourse.Price(1000+i), 1)
	}

	// Account 1 takes a step for an order, and 30 for 3,000 visits.
	x.apply(bourse.Command{Kind: bourse.CommandCancelAfter, Account: 1, Hold: bourse.Second})
	x.apply(bourse.Command{Kind: bourse.CommandCancelAfter, Account: 2, Hold: bourse.Second})
	x.at += bourse.Second
	x.apply(bourse.Command{Kind: bourse.CommandTick})
	if left := x.e.OpenOrders() - markets; left != 30 {
		t.Errorf("%d of 999 orders of account 2 are left, want 30", left)
	}
	for x.e.Unfinished() {
		x.apply(bourse.Command{Kind: bourse.CommandContinue})
	}
	if x.e.OpenOrders() != markets || !x.e.Armed() {
		t.Errorf("%d orders are open", x.e.OpenOrders())
	}
	if err := x.e.Check(); err != nil {
		t.Error(err)
	}
}

// symbol returns a symbol of its own for each number.
func symbol(i int) bourse.Symbol {
	return bourse.Symbol([]byte{'Q', byte('A' + i/676), byte('A' + i/26%26), byte('A' + i%26)})
}

// TestClosedConnectionLeavesAnEarlierSwitch closes a connection of an account without orders,
// while a switch that fired waits to try its orders in a halted market again: the switch keeps its
// time, which comes before any tick, and the naive exchange agrees.
func TestClosedConnectionLeavesAnEarlierSwitch(t *testing.T) {
	p := enginetest.NewPair()
	seq, now := bourse.Seq(0), 1_700_000_000*bourse.Second
	do := func(commands ...bourse.Command) {
		t.Helper()
		for _, cmd := range commands {
			seq++
			cmd.Seq, cmd.Time = seq, now
			if err := errors.Join(p.Apply(&cmd), p.Check(), p.Restore()); err != nil {
				t.Fatalf("command %d: %v", seq, err)
			}
		}
	}
	asset := func(symbol bourse.Symbol) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: symbol, Name: "asset", Scale: 12, Enabled: true,
		}}
	}
	state := func(s bourse.MarketState) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 1, State: s}
	}

	do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: 1}},
		asset("BTC"), asset("USDT"),
		bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 3, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: 1_000_000,
		}},
		bourse.Command{Kind: bourse.CommandCreateAccount},
		bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(1_000_000_000_000)},
		bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
			Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 1,
		}},
		bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1},
		bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1},
		state(bourse.MarketHalted),
		bourse.Command{Kind: bourse.CommandConnectionClosed, Account: 1, Connection: 1},
		state(bourse.MarketOpen),
		bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: 1},
		bourse.Command{Kind: bourse.CommandConnectionClosed, Account: 1, Connection: 2},
	)
	now += 2 * bourse.Minute
	do(bourse.Command{Kind: bourse.CommandCreateAccount})
	if !p.Engine.Firing() {
		t.Error("the earlier switch is gone")
	}
	do(bourse.Command{Kind: bourse.CommandTick})
	if p.Engine.Armed() {
		t.Error("a switch without orders stays")
	}
}
