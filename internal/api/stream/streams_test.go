package stream_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

const everyPublicStream = `{"op":"sub","id":1,"streams":["BTC/USDT@marketTrade","BTC/USDT@ticker","BTC/USDT@tickerEx",` +
	`"BTC/USDT@orderBook","BTC/USDT@candleStick/1","BTC/USDT@candleStick/60","BTC/USDT@candleStick/1D"]}`

// step is a step of the story.
type step struct {
	name string
	do   func(x *exchange)
}

// lots are a thousandth of the base asset.
const lots bourse.Lots = 1000

// story causes every kind of stream message.
var story = []step{
	{"a limit order rests", func(x *exchange) { x.place(alice, limit(bourse.Sell, 6100000, 500*lots)) }},
	{"a second one joins its level", func(x *exchange) { x.place(bob, limit(bourse.Sell, 6100000, 250*lots)) }},
	{"a buyer takes a part and rests", func(x *exchange) { x.place(bob, limit(bourse.Buy, 6100050, 1000*lots)) }},
	{"a market order by amount at the same price", func(x *exchange) {
		x.place(alice, bourse.NewOrder{Side: bourse.Sell, Type: bourse.MarketOrder, TIF: bourse.GTC, Lots: 100 * lots})
	}},
	{"a market order by total, in two trades", func(x *exchange) {
		x.place(alice, limit(bourse.Sell, 6200000, 10*lots))
		x.place(alice, limit(bourse.Sell, 6300001, 10*lots))
		x.place(bob, bourse.NewOrder{Side: bourse.Buy, Type: bourse.MarketOrder, TIF: bourse.IOC, Total: units("900.000000000001", 12)})
	}},
	{"IOC: the rest is killed", func(x *exchange) {
		p := limit(bourse.Buy, 6300001, 500*lots)
		p.TIF = bourse.IOC
		x.place(bob, p)
	}},
	{"FOK: all is killed", func(x *exchange) {
		p := limit(bourse.Sell, 6000000, 5000*lots)
		p.TIF = bourse.FOK
		x.place(alice, p)
	}},
	{"a market order finds nobody", func(x *exchange) {
		x.place(bob, bourse.NewOrder{Side: bourse.Buy, Type: bourse.MarketOrder, TIF: bourse.IOC, Lots: lots})
	}},
	{"too dear", func(x *exchange) { x.place(bob, limit(bourse.Buy, 90000000, 1_000_000*lots)) }},
	{"a market order too dear", func(x *exchange) {
		x.place(alice, bourse.NewOrder{Side: bourse.Buy, Type: bourse.MarketOrder, TIF: bourse.IOC, Total: units("99999999", 12)})
	}},
	{"too small, with a name", func(x *exchange) {
		p := limit(bourse.Buy, 100, 1*lots)
		p.ClientID, _ = bourse.ParseClientID("tiny")
		x.place(bob, p)
	}},
	{"a named order is canceled", func(x *exchange) {
		p := limit(bourse.Buy, 5900000, 1*lots)
		p.ClientID, _ = bourse.ParseClientID("Name.1:a-b_c")
		id := x.place(bob, p)
		x.place(bob, p) // a repeated request has no message
		x.cancel(bob, id)
		x.cancel0(bob, id)
	}},
	{"stops: one is canceled while it waits, one is triggered and rests, one is triggered and killed", func(x *exchange) {
		stop := bourse.NewOrder{Side: bourse.Sell, Type: bourse.StopLimit, TIF: bourse.GTC, Price: 6000000, Stop: 6050000, Lots: 30 * lots}
		waiting := stop
		waiting.Stop = 100
		x.cancel(alice, x.place(alice, waiting))
		x.place(alice, stop)
		killed := stop
		killed.TIF, killed.Price = bourse.FOK, 7000000
		x.place(alice, killed)
		x.place(bob, limit(bourse.Buy, 6040000, 20*lots))
		x.place(bob, limit(bourse.Buy, 6030000, 10*lots))
		x.do(bourse.Command{Kind: bourse.CommandCancel, Account: bob, Order: 3})
		x.place(alice, limit(bourse.Sell, 6040000, 5*lots))
	}},
	{"a take profit and a stop at the market: one is canceled while it waits, one is triggered and killed", func(x *exchange) {
		x.cancel(bob, x.place(bob, bourse.NewOrder{
			Side: bourse.Buy, Type: bourse.TakeProfitMarket, TIF: bourse.GTC, Stop: 100, Total: units("900.5", 12),
		}))
		x.place(alice, bourse.NewOrder{
			Side: bourse.Sell, Type: bourse.TakeProfitMarket, TIF: bourse.FOK, Stop: 6000000, Lots: 200 * lots,
		})
	}},
	{"orders are amended: one to less, one to a price at which it trades", func(x *exchange) {
		less := x.place(bob, limit(bourse.Buy, 5900000, 3*lots))
		x.amend(bob, less, bourse.NewOrder{Lots: 2 * lots})
		x.amend(bob, less, bourse.NewOrder{Lots: 2 * lots}) // a repeated request has no message
		x.place(alice, limit(bourse.Sell, 6950000, 1*lots))
		x.amend(bob, less, bourse.NewOrder{Price: 6950000, Lots: 4 * lots})
		x.cancel(bob, less)
	}},
	{"a self-trade is prevented", func(x *exchange) {
		p := limit(bourse.Buy, 6900000, 40*lots)
		p.SelfTrade = bourse.CancelOldest
		x.place(alice, p)
	}},
	{"orders are replaced: one by an order that trades, one by an order that is rejected, none by an order that rests", func(x *exchange) {
		bid := limit(bourse.Buy, 5900000, 1*lots)
		filled := x.replace(bob, x.place(bob, bid), limit(bourse.Sell, 6900000, 2*lots))
		x.replace(bob, x.place(bob, bid), limit(bourse.Buy, 5900000, bourse.MaxLots))
		x.cancel(bob, x.replace(bob, filled, bid))
	}},
	{"all is canceled", func(x *exchange) {
		x.do(bourse.Command{Kind: bourse.CommandCancelAll, Account: alice}, bourse.Command{Kind: bourse.CommandCancelAll, Account: bob})
	}},
	{"a frozen account is refused", func(x *exchange) {
		x.do(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: bob, On: true})
		x.place(bob, limit(bourse.Buy, 6000000, 1*lots))
		x.do(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: bob})
	}},
	{"a minute later", func(x *exchange) { x.later(bourse.Minute) }},
	{"and again within that minute", func(x *exchange) { x.later(bourse.Second) }},
	{"a trade at the last price", func(x *exchange) {
		x.place(alice, limit(bourse.Sell, 6040000, 5*lots))
		x.place(bob, limit(bourse.Buy, 6040000, 5*lots))
	}},
	{"an order meets its own account", func(x *exchange) {
		x.place(alice, limit(bourse.Sell, 6040000, 5*lots))
		x.place(alice, limit(bourse.Buy, 6040000, 5*lots))
	}},
	{"an hour later", func(x *exchange) { x.later(bourse.Hour) }},
	{"a day later", func(x *exchange) { x.later(bourse.Day) }},
	{"two days later, with a trade in the same command", func(x *exchange) {
		x.place(alice, limit(bourse.Sell, 3000000, 5*lots))
		x.now += 2 * bourse.Day
		x.place(bob, limit(bourse.Buy, 3000000, 5*lots))
	}},
	{"a list: one order trades in part, the other is killed, and the rest is canceled", func(x *exchange) {
		up, down := limit(bourse.Sell, 3100000, 5*lots), limit(bourse.Sell, 2800000, 5*lots)
		down.Type, down.Stop = bourse.StopLimit, 2900000
		up.Market, down.Market = 1, 1
		x.do(bourse.Command{Kind: bourse.CommandPlaceList, Account: alice, List: &bourse.NewList{
			Type: bourse.OCO, Orders: []bourse.NewOrder{up, down},
		}})
		list := x.place(bob, limit(bourse.Buy, 3100000, 2*lots)) - bourse.MaxListed
		x.do(bourse.Command{Kind: bourse.CommandCancelList, Account: alice, Order: list})
	}},
}

// later advances the clock.
func (x *exchange) later(d bourse.Time) {
	x.Helper()
	x.now += d
	x.do(bourse.Command{Kind: bourse.CommandTick})
}

// amend amends an open order.
func (x *exchange) amend(who bourse.AccountID, id bourse.OrderID, to bourse.NewOrder) {
	x.Helper()
	x.do(bourse.Command{Kind: bourse.CommandAmend, Account: who, Order: id, NewOrder: to})
}

// replace puts an order in place of another one, which may be over, and returns its id.
func (x *exchange) replace(who bourse.AccountID, id bourse.OrderID, by bourse.NewOrder) bourse.OrderID {
	x.Helper()
	cmd := order(who, by)
	cmd.Kind, cmd.Order, cmd.On = bourse.CommandReplace, id, true
	x.do(cmd)
	return bourse.OrderID(x.ev.Outcome.ID)
}

// cancel0 cancels an order that does not exist.
func (x *exchange) cancel0(who bourse.AccountID, id bourse.OrderID) {
	x.Helper()
	x.cancel(who, id)
	if x.ev.Outcome.Reason != bourse.OrderNotFound {
		x.Errorf("canceled again: %s", x.ev.Outcome.Reason)
	}
}

// TestStory compares every message of every stream with testdata/streams.txt, byte by
// byte. REWRITE=1 rewrites the file.
func TestStory(t *testing.T) {
	x := newExchange(t, 1)
	public, private := x.dial(), map[string]*client{"alice": x.dial(), "bob": x.dial()}
	public.ok(everyPublicStream)
	for name, c := range private {
		c.ok(`{"op":"auth","id":1,"api_key":"` + name + `"}`)
		c.ok(`{"op":"sub","id":2,"streams":["myOrders","myTrades"]}`)
	}
	var got strings.Builder
	for _, s := range story {
		fmt.Fprintf(&got, "# %s\n", s.name)
		s.do(x)
		for _, m := range public.drain() {
			fmt.Fprintf(&got, "public %s\n", m)
		}
		for _, name := range []string{"alice", "bob"} {
			for _, m := range private[name].drain() {
				fmt.Fprintf(&got, "%-6s %s\n", name, m)
			}
		}
	}
	golden(t, "streams.txt", got.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if os.Getenv("REWRITE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "nothing", "nothing"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("line %d of %s:\ngot  %s\nwant %s", i+1, path, a, b)
		}
	}
}

// TestWiderCandlesOfAWalkAreSentOnce takes 1,500 orders with one and wants a message of each wider
// candle, with the volume of all: one for each trade would fill the queue of any subscriber.
func TestWiderCandlesOfAWalkAreSentOnce(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	for res := bourse.Resolution(1); res <= bourse.LastResolution; res++ {
		c.ok(fmt.Sprintf(`{"op":"sub","id":%d,"streams":"BTC/USDT@candleStick/%s"}`, res, res))
	}
	const walked = 1500
	makers := make([]bourse.Command, walked)
	for i := range makers {
		makers[i] = order(alice, limit(bourse.Sell, 6000000+bourse.Price(i), lots))
	}
	x.do(makers...)
	x.place(bob, limit(bourse.Buy, 6000000+walked, walked*lots))

	told := c.drain()
	for res := bourse.Resolution(1); res <= bourse.LastResolution; res++ {
		want := 1
		if res.Kept() == res {
			want = walked
		}
		got := slices.DeleteFunc(slices.Clone(told), func(m string) bool {
			return !strings.Contains(m, `"BTC/USDT@candleStick/`+res.String()+`"`)
		})
		whole := `"open":"60000","high":"60014.99","low":"60000","close":"60014.99","volume":"1.5"`
		if len(got) != want || !strings.Contains(got[len(got)-1], whole) {
			t.Errorf("%s: %d messages, the last %q", res, len(got), got[max(0, len(got)-1):])
		}
	}
}

// TestOtherMarketsAndAccountsAreNotTold subscribes to other markets and accounts.
func TestOtherMarketsAndAccountsAreNotTold(t *testing.T) {
	x := newExchange(t, 1)
	c := x.dial()
	c.ok(strings.ReplaceAll(everyPublicStream, "BTC/", "A0/"))
	c.ok(`{"op":"auth","id":1,"api_key":"bob"}`)
	c.ok(`{"op":"sub","id":2,"streams":["myOrders","myTrades"]}`)
	x.place(alice, limit(bourse.Sell, 6100000, 5*lots))
	x.place(alice, limit(bourse.Buy, 6100000, 5*lots))
	x.later(bourse.Day)
	if got := c.drain(); len(got) != 0 {
		t.Errorf("told was %v", got)
	}
}
