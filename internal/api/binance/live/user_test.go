package live_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// brief returns the parts of a report on an order that a test compares.
func brief(t *testing.T, event string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(event), &m); err != nil {
		t.Fatalf("%s: %v", event, err)
	}
	out := []string{m["e"].(string)}
	for _, name := range [...]string{"x", "X", "r", "l", "z", "L", "n", "N", "Y", "Z", "t", "w", "m", "a", "d"} {
		if v, has := m[name]; has && v != nil {
			text, _ := json.Marshal(v)
			out = append(out, name+"="+strings.Trim(string(text), `"`))
		}
	}
	if list, has := m["B"].([]any); has {
		for _, b := range list {
			out = append(out, b.(map[string]any)["a"].(string))
		}
	}
	return strings.Join(out, " ")
}

// reports returns the next events in brief, without balances.
func (c *client) reports(n int) (list []string) {
	c.Helper()
	for len(list) < n {
		if e := brief(c.T, c.event()); !strings.HasPrefix(e, "outboundAccountPosition") {
			list = append(list, e)
		}
	}
	return list
}

// TestExecutionReports follows orders through all that happens to them.
func TestExecutionReports(t *testing.T) {
	x := newExchange(t)
	before := x.place(alice, bourse.Sell, 6_000_000, 5000) // nobody listens yet
	x.do(x.bid(2000))
	c := x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	if got := c.ok("userDataStream.subscribe", nil); got != `{"subscriptionId":0}` {
		t.Error(got)
	}
	x.log.Hold()
	pair := []bourse.Command{x.bid(1000), x.bid(1000)} // in one frame, so that the history has both
	done := make(chan []sequencer.Result)
	go func() { done <- x.sequencer.DoAll(t.Context(), pair) }()
	x.await(func() bool { return !x.sequencer.Idle() })
	x.log.Release()
	<-done
	x.cancel(alice, before)
	c.ok("order.place", limit("SELL", "60000.00", "0.003"))
	x.do(x.bid(1000))
	x.do(x.bid(2000))
	c.ok("order.place", limit("BUY", "60000.00", "0.001").with(params{"timeInForce": "IOC"}))
	c.ok("order.place", limit("SELL", "60000.00", "0.002"))
	c.ok("order.place", limit("BUY", "60000.00", "0.001").with(params{"selfTradePreventionMode": "EXPIRE_TAKER"}))
	c.fails(400, -2010, "order.place", params{
		"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT_MAKER", "price": "60000.00", "quantity": "0.001",
	})
	x.do(bourse.Command{Kind: bourse.CommandCredit, Account: alice, AssetID: 1, Amount: bourse.Units(1_000_000_000_000)})

	const none = "n=0 Y=0.000000000000 Z=0.000000000000 t=-1"
	want := []string{
		// An order from before: what it traded is in the history.
		"executionReport x=TRADE X=PARTIALLY_FILLED r=NONE l=0.001000 z=0.003000 L=60000.00 n=0.060000000000 N=USDT Y=60.000000000000 Z=180.000000000000 t=2 w=true m=true",
		"executionReport x=TRADE X=PARTIALLY_FILLED r=NONE l=0.001000 z=0.004000 L=60000.00 n=0.060000000000 N=USDT Y=60.000000000000 Z=240.000000000000 t=3 w=true m=true",
		"executionReport x=CANCELED X=CANCELED r=NONE l=0.000000 z=0.004000 L=0.00 n=0 Y=0.000000000000 Z=240.000000000000 t=-1 w=false m=false",
		"executionReport x=NEW X=NEW r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=true m=false",
		"executionReport x=TRADE X=PARTIALLY_FILLED r=NONE l=0.001000 z=0.001000 L=60000.00 n=0.060000000000 N=USDT Y=60.000000000000 Z=60.000000000000 t=4 w=true m=true",
		"executionReport x=TRADE X=FILLED r=NONE l=0.002000 z=0.003000 L=60000.00 n=0.120000000000 N=USDT Y=120.000000000000 Z=180.000000000000 t=5 w=false m=true",
		"executionReport x=NEW X=NEW r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=true m=false",
		"executionReport x=EXPIRED X=EXPIRED r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=false m=false",
		"executionReport x=NEW X=NEW r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=true m=false",
		"executionReport x=NEW X=NEW r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=true m=false",
		"executionReport x=TRADE_PREVENTION X=EXPIRED_IN_MATCH r=NONE l=0.000000 z=0.000000 L=0.00 " + none + " w=false m=false",
		"executionReport x=REJECTED X=REJECTED r=WOULD_MATCH_IMMEDIATELY l=0.000000 z=0.000000 L=0.00 " + none + " w=false m=false",
		"balanceUpdate a=BTC d=1.000000000000",
	}
	for i, got := range c.reports(len(want)) {
		if got != want[i] {
			t.Errorf("report %d:\ngot  %s\nwant %s", i, got, want[i])
		}
	}

	c.ok("userDataStream.unsubscribe", nil)
	for !strings.Contains(c.event(), "eventStreamTerminated") {
	}
	for _, name := range [...]string{"executionReport", "outboundAccountPosition", "balanceUpdate", "eventStreamTerminated"} {
		sameEvent(t, name, c.fields[name])
	}
}

// bid returns an order of bob that buys at 60,000.
func (x *exchange) bid(lots bourse.Lots) bourse.Command {
	return bourse.Command{Kind: bourse.CommandPlace, Account: bob, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 6_000_000, Lots: lots,
	}}
}

// TestPositions checks that balances come once for each command, as it left them.
func TestPositions(t *testing.T) {
	x := newExchange(t)
	x.place(bob, bourse.Sell, 6_000_000, 1000)
	x.place(bob, bourse.Sell, 6_000_100, 1000)
	c := x.dial("/ws-api/v3")
	c.ok("userDataStream.subscribe.signature", params{}.signed(readKey))
	x.place(alice, bourse.Buy, 6_000_100, 2000)
	var last string
	for range 4 { // the acceptance, two trades, balances
		last = c.event()
	}
	balances := x.view.Balances(alice, []bourse.AssetID{1, 2})
	for _, b := range balances {
		if free := string(b.Available.AppendFixed(nil, 12)); !strings.Contains(last, `"f":"`+free+`"`) {
			t.Errorf("%s is free: %s", free, last)
		}
	}
	if brief(t, last) != "outboundAccountPosition BTC USDT" && brief(t, last) != "outboundAccountPosition USDT BTC" {
		t.Error(last)
	}
}

// TestSubscriptions opens and ends subscriptions to user data.
func TestSubscriptions(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3")
	c.fails(400, -1100, "userDataStream.subscribe", nil)
	c.ok("session.logon", params{}.signed(aliceKey))
	c.ok("userDataStream.subscribe", nil)
	c.fails(400, -1100, "userDataStream.subscribe", nil)
	c.fails(400, -1100, "userDataStream.subscribe.signature", params{}.signed(readKey)) // the same account
	p := params{}.signed(bobKey)
	if got := c.ok("userDataStream.subscribe.signature", p); got != `{"subscriptionId":1}` {
		t.Error(got)
	}
	c.fails(400, -1021, "userDataStream.subscribe.signature", p) // taken once
	if got := c.ok("session.subscriptions", nil); got != `[{"subscriptionId":0},{"subscriptionId":1}]` {
		t.Error(got)
	}
	x.place(bob, bourse.Buy, 5_000_000, 1000)
	if m := c.receive(); !strings.HasPrefix(m, `{"subscriptionId":1,"event":{"e":"executionReport"`) {
		t.Error(m)
	}
	c.receive() // balances

	if got := c.ok("session.logout", nil); !strings.Contains(got, `"userDataStream":true`) {
		t.Error(got)
	}
	if got := c.event(); !strings.HasPrefix(got, `{"e":"eventStreamTerminated"`) {
		t.Error(got)
	}
	x.place(alice, bourse.Buy, 5_000_000, 1000)
	c.fails(400, -1100, "userDataStream.unsubscribe", params{"subscriptionId": 0})
	c.ok("userDataStream.unsubscribe", params{"subscriptionId": 1})
	if got := c.event(); !strings.HasPrefix(got, `{"e":"eventStreamTerminated"`) {
		t.Error(got)
	}
	if got := c.ok("session.subscriptions", nil); got != `[]` {
		t.Error(got)
	}
}
