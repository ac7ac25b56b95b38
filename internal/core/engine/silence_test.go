package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
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
