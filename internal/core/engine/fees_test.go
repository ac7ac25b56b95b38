package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// traders is an exchange with a schedule, accounts 1 and 2 with money, and others.
type traders struct {
	t  *testing.T
	e  *engine.Engine
	ev bourse.Events
	at bourse.Time
}

func newTraders(t *testing.T, more int) *traders {
	t.Helper()
	x := &traders{t: t, e: engine.New(), at: 20_000 * bourse.Day}
	for _, cmd := range enginetest.Opening() {
		x.apply(cmd)
	}
	for range more {
		x.apply(bourse.Command{Kind: bourse.CommandCreateAccount})
	}
	return x
}

func (x *traders) apply(cmd bourse.Command) {
	x.t.Helper()
	x.ev.Reset()
	cmd.Seq, cmd.Time = x.e.Seq()+1, x.at
	x.e.Apply(&cmd, &x.ev)
}

// trade trades lots of BTC/USDT at a price of 1 between two accounts.
func (x *traders) trade(seller, buyer bourse.AccountID, lots bourse.Lots) {
	x.t.Helper()
	for _, side := range [...]bourse.Side{bourse.Sell, bourse.Buy} {
		account := seller
		if side == bourse.Buy {
			account = buyer
		}
		x.place(account, 1, side, 100, lots)
	}
}

func (x *traders) place(
	account bourse.AccountID, market bourse.MarketID, side bourse.Side, price bourse.Price, lots bourse.Lots,
) {
	x.t.Helper()
	x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: bourse.NewOrder{
		Market: market, Side: side, Type: bourse.Limit, TIF: bourse.GTC, Price: price, Lots: lots,
	}})
	if x.ev.Outcome.Reason != 0 {
		x.t.Fatalf("account %d: %s", account, x.ev.Outcome.Reason)
	}
}

// day moves to another day and finishes its pass. It returns the number of Continues.
func (x *traders) day(days bourse.Time) (continues int) {
	x.t.Helper()
	x.at += days * bourse.Day
	x.apply(bourse.Command{Kind: bourse.CommandTick})
	for ; x.e.Unfinished(); continues++ {
		x.apply(bourse.Command{Kind: bourse.CommandContinue})
		if err := x.e.Check(); err != nil {
			x.t.Fatal(err)
		}
	}
	return continues
}

func (x *traders) volumes(want int) {
	x.t.Helper()
	if got := x.e.Volumes(); got != want {
		x.t.Fatalf("%d accounts have volume, want %d", got, want)
	}
}

// TestVolumesAreFreed wants volumes of accounts that traded alone, for thirty days, and
// their slots to be taken again.
func TestVolumesAreFreed(t *testing.T) {
	x := newTraders(t, 10)
	x.trade(1, 2, 1)
	x.volumes(0) // no schedule yet
	x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 5)})
	x.trade(1, 1, 1)
	x.volumes(0)
	for range 3 {
		x.trade(1, 2, 1)
		x.volumes(2)
		x.day(30)
		x.volumes(2)
		x.day(1)
		x.volumes(0)
	}

	x.trade(1, 2, 1)
	x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(1, 0, 5)})
	x.volumes(0) // they were in another asset
}

// TestPassIsBounded wants a command to set the levels of at most 1,000 accounts with
// volume, or to visit 100,000 others, and orders to be taken meanwhile.
func TestPassIsBounded(t *testing.T) {
	const accounts = 250_000
	x := newTraders(t, accounts-2)
	x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 1)})
	if got := x.day(0); got != 3 {
		t.Errorf("%d accounts without volume took %d Continues", accounts, got)
	}

	const rich = 2500
	for a := bourse.AccountID(3); a <= rich; a++ {
		x.apply(bourse.Command{Kind: bourse.CommandCredit, Account: a, AssetID: 2, Amount: bourse.Units(bourse.Pow10(7))})
		x.trade(1, a, 1)
	}
	x.at += bourse.Day
	x.trade(1, 2, 1) // begins the day
	for x.e.Unfinished() {
		x.apply(bourse.Command{Kind: bourse.CommandContinue})
		if changed := len(x.ev.List); changed > 1000 {
			t.Fatalf("a Continue changed %d levels", changed)
		}
		x.trade(1, 2, 1)
	}
	if got := x.day(1); got != 5 { // 2,500 steps for the volumes, 2,475 for the others
		t.Errorf("took %d Continues", got)
	}
}

// TestNewLevelsAreSteps wants a command to announce at most 1,000 levels, also of accounts
// without volume.
func TestNewLevelsAreSteps(t *testing.T) {
	const accounts = 2500
	x := newTraders(t, accounts-2)
	x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 1)})
	for a := bourse.AccountID(1); a <= accounts; a++ {
		x.apply(bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: a, On: true, Level: 1})
	}
	x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0)})
	announced := 0
	for x.e.Unfinished() {
		x.apply(bourse.Command{Kind: bourse.CommandContinue})
		changed := len(x.ev.List)
		if announced += changed; changed > 1000 {
			t.Errorf("a Continue changed %d levels", changed)
		}
	}
	if announced != accounts {
		t.Errorf("%d accounts have a new level", announced)
	}
}

// TestBandBoundsVolume trades ETH/BTC after odd trades in BTC/USDT: its volume counts at
// most at the initial price times the band.
func TestBandBoundsVolume(t *testing.T) {
	for _, c := range []struct {
		band bourse.Rate
		want uint8
	}{{0, 2}, {10 * bourse.RateOne, 1}} {
		x := newTraders(t, 0)
		x.apply(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "ETH", Name: "Ether", Scale: 8, Enabled: true,
		}})
		x.apply(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 3, Amount: bourse.Units(bourse.Pow10(12))})
		m := bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 3, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: bourse.MaxPrice, Band: c.band, Maker: 1000, Taker: 1000,
		}
		x.apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
		m.Base, m.Quote, m.Band = 3, 1, 0
		x.apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})

		for _, price := range []bourse.Price{1000, 10_000} { // to 100 USDT, from 1 USDT
			x.place(1, 1, bourse.Sell, price, 1)
			x.place(2, 1, bourse.Buy, price, 1)
		}
		// 0.001 ETH at 1 BTC are 0.001 BTC: 0.1 USDT at the last price, 0.01 at the bound.
		x.apply(bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 10_000, 100_000)})
		x.place(1, 2, bourse.Sell, 100, 1)
		x.place(2, 2, bourse.Buy, 100, 1)
		x.day(1)
		x.apply(bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 2})
		if got := x.ev.Facts[0].FeeLevel; got != c.want {
			t.Errorf("with a band of %s the level is %d, want %d", c.band.Format(), got, c.want)
		}
	}
}
