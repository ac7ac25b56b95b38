package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// grid is one market in which accounts meet their own orders all the time.
type grid struct {
	*testing.T
	pair *enginetest.Pair
	src  enginetest.Seed
	seq  bourse.Seq
	ids  uint64
}

const (
	gridMid   = 1000
	gridFunds = 1_000_000_000
)

func newGrid(t *testing.T, seed uint64, accounts int) *grid {
	x := &grid{T: t, pair: enginetest.NewPair(), src: enginetest.Seed(seed)}
	x.apply(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}})
	for _, symbol := range []bourse.Symbol{"A", "B"} {
		x.apply(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: symbol, Name: "asset", Scale: 6, Enabled: true,
		}})
	}
	x.apply(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 1, Quote: 2, BasePrecision: 3, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.Decrement,
		InitialPrice: gridMid, MaxPrice: bourse.MaxPrice, Collar: bourse.RateOne / 2,
	}})
	for i := range accounts {
		x.apply(bourse.Command{Kind: bourse.CommandCreateAccount, Token: bourse.Token{byte(i + 1)}})
		for asset := bourse.AssetID(1); asset <= 2; asset++ {
			x.apply(bourse.Command{
				Kind: bourse.CommandCredit, Account: bourse.AccountID(i + 1), AssetID: asset, Amount: bourse.Units(gridFunds),
			})
		}
	}
	return x
}

// apply carries out a command and checks both exchanges.
func (x *grid) apply(cmd bourse.Command) {
	x.Helper()
	x.seq++
	cmd.Seq, cmd.Time = x.seq, bourse.Time(x.seq)*bourse.Second
	if err := x.pair.Apply(&cmd); err != nil {
		x.Fatal(err)
	}
	if err := x.pair.Check(); err != nil {
		x.Fatalf("after %+v: %v", cmd, err)
	}
}

// draw draws an order, an amendment, a list or a cancel.
func (x *grid) draw(accounts int) bourse.Command {
	who := bourse.AccountID(1 + x.src.Below(uint64(accounts)))
	switch x.src.Below(12) {
	case 0:
		return bourse.Command{Kind: bourse.CommandCancel, Account: who, Order: bourse.OrderID(1 + x.src.Below(x.ids+1))}
	case 1, 2:
		return bourse.Command{
			Kind: bourse.CommandAmend, Account: who, Order: bourse.OrderID(1 + x.src.Below(x.ids+1)),
			NewOrder: bourse.NewOrder{Price: x.price(), Lots: bourse.Lots(1 + x.src.Below(9))},
		}
	case 3:
		a, b := x.order(), x.order()
		b.Side, b.Type, b.TIF = a.Side, bourse.StopLimit, bourse.GTC
		a.Type, a.TIF, a.Total = bourse.Limit, bourse.GTC, bourse.Amount{}
		a.Stop, b.Total = 0, bourse.Amount{}
		a.Price, a.Lots, b.Price, b.Stop, b.Lots = x.price(), 1+a.Lots, x.price(), x.price(), 1+b.Lots
		return bourse.Command{
			Kind: bourse.CommandPlaceList, Account: who,
			List: &bourse.NewList{Type: bourse.OCO, Orders: []bourse.NewOrder{a, b}},
		}
	}
	return bourse.Command{Kind: bourse.CommandPlace, Account: who, NewOrder: x.order()}
}

func (x *grid) price() bourse.Price { return bourse.Price(gridMid - 4 + x.src.Below(9)) }

// order draws an order, of which most have the market's mode.
func (x *grid) order() bourse.NewOrder {
	p := bourse.NewOrder{
		Market: 1, Side: bourse.Side(1 + x.src.Below(2)), Type: bourse.Limit, TIF: bourse.GTC,
		Price: x.price(), Lots: bourse.Lots(1 + x.src.Below(9)),
	}
	if x.src.Below(5) == 0 {
		p.SelfTrade = bourse.SelfTradeMode(1 + x.src.Below(uint64(bourse.LastSelfTradeMode)))
	}
	if x.src.Below(4) == 0 {
		p.TIF = bourse.TimeInForce(1 + x.src.Below(3))
	}
	switch x.src.Below(5) {
	case 0:
		p.Type, p.Price = bourse.MarketOrder, 0
		if x.src.Below(2) == 0 {
			p.Lots, p.Total = 0, bourse.Units((1+x.src.Below(9*gridMid))*10)
		}
	case 1:
		p.Type, p.Price, p.Stop = bourse.StopMarket, 0, x.price()
		if p.Side == bourse.Buy && x.src.Below(2) == 0 {
			p.Lots, p.Total = 0, bourse.Units((1+x.src.Below(9*gridMid))*10)
		}
	case 2:
		p.Type, p.Stop = bourse.TakeProfitLimit, x.price()
	}
	return p
}

// TestOwnGrids lets accounts meet their own orders in a few prices, with every type of order, and
// compares with the oracle after each command. Alone, an account whose orders all prevent trades
// has what it had in the end.
func TestOwnGrids(t *testing.T) {
	for accounts := 1; accounts <= 3; accounts++ {
		for seed := uint64(1); seed <= 4; seed++ {
			x := newGrid(t, seed, accounts)
			decremented := 0
			for i := range 3000 {
				cmd := x.draw(accounts)
				if accounts == 1 && cmd.NewOrder.SelfTrade == bourse.SelfTradeNone {
					cmd.NewOrder.SelfTrade = 0
				}
				if cmd.List != nil && accounts == 1 {
					for j := range cmd.List.Orders {
						cmd.List.Orders[j].SelfTrade = bourse.Decrement
					}
				}
				x.apply(cmd)
				decremented += x.note()
				if i%50 == 0 {
					if err := x.pair.Restore(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if decremented < 100 {
				t.Errorf("seed %d with %d accounts decremented %d orders", seed, accounts, decremented)
			}
			x.end(accounts)
		}
	}
}

// note follows the ids of orders, and returns the number of orders that were decremented.
func (x *grid) note() (decremented int) {
	ev := x.pair.Events()
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderAccepted:
			x.ids = uint64(ev.Orders[e.At].ID)
		case bourse.EventOrderPrevented:
			decremented++
			if o := &ev.Orders[e.At]; o.Status != bourse.Open || o.Left() == 0 || o.Prevented == 0 || o.Prevented >= o.Lots {
				x.Errorf("an order was decremented to %+v", o)
			}
		default:
		}
	}
	return decremented
}

// end cancels all orders, and wants nothing to be held and nothing to be lost.
func (x *grid) end(accounts int) {
	var sums [2]bourse.Amount
	for account := bourse.AccountID(1); account <= bourse.AccountID(accounts); account++ {
		x.apply(bourse.Command{Kind: bourse.CommandCancelAll, Account: account})
		for i := range sums {
			b := x.pair.Engine.Balance(account, bourse.AssetID(i+1))
			if !b.Held.IsZero() || accounts == 1 && b.Available != bourse.Units(gridFunds) {
				x.Errorf("account %d of %d has %+v in the end", account, accounts, b)
			}
			sums[i] = sums[i].Plus(b.Available)
		}
	}
	for i := range sums {
		if want := bourse.Units(uint64(accounts) * gridFunds); sums[i] != want {
			x.Errorf("asset %d sums up to %s, not %s", i+1, sums[i].Format(6), want.Format(6))
		}
	}
}

// TestOwnOrdersEndOneByOne lets orders decrement thousands of the account's own, behind others in
// every level. Each own order ends with two events and costs the quote of a MARKET order a few
// steps; an order that rests is announced once.
func TestOwnOrdersEndOneByOne(t *testing.T) {
	const own = 3000
	for _, c := range [...]struct {
		place   bourse.NewOrder
		walked  int
		special int
	}{
		{bourse.NewOrder{Type: bourse.MarketOrder, TIF: bourse.IOC, Lots: all + 2*own}, depth + 3*own + queue, 0},
		{bourse.NewOrder{Type: bourse.Limit, TIF: bourse.GTC, Price: 20_000, Lots: all + 2*own}, 0, 1},
	} {
		x := newWalks(t)
		for i := range bourse.Price(own) {
			x.rest(2, bourse.Sell, 10_000+i%depth)
		}
		c.place.Market, c.place.Side, c.place.SelfTrade = 1, bourse.Buy, bourse.Decrement
		o := x.apply(bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: c.place})
		if want := bourse.Lots(depth * queue * 2); o.Reason != 0 || o.Filled != want {
			t.Fatalf("%s: %+v", c.place.Type, o)
		}
		if n := x.e.Walked(); n > c.walked {
			t.Errorf("%s walks %d steps", c.place.Type, n)
		}

		kinds := map[bourse.EventKind]int{}
		for _, e := range x.ev.List {
			kinds[e.Kind]++
		}
		ended := depth*queue + own + 1 - c.special
		if kinds[bourse.EventOrderClosed] != ended || kinds[bourse.EventOrderPrevented] != c.special ||
			kinds[bourse.EventLevel] != depth*queue+own+c.special {
			t.Errorf("%s: %v", c.place.Type, kinds)
		}
		if err := x.e.Check(); err != nil {
			t.Error(err)
		}
	}
}
