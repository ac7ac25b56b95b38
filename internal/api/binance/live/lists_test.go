package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// oco returns the parameters of a list that sells at 61,000, or below its stop at 59,000.
func oco(name string) params {
	return params{
		"symbol": "BTCUSDT", "side": "SELL", "quantity": "0.002", "aboveType": "LIMIT_MAKER", "abovePrice": "61000.00",
		"belowType": "STOP_LOSS_LIMIT", "belowStopPrice": "59000.00", "belowPrice": "58000.00", "belowTimeInForce": "GTC",
		"aboveClientOrderId": name + "-above", "belowClientOrderId": name + "-below",
	}
}

// told returns what a test compares of the next events about orders and lists.
func (c *client) told(n int) (list []string) {
	c.Helper()
	for len(list) < n {
		var m map[string]any
		if err := json.Unmarshal([]byte(c.event()), &m); err != nil {
			c.Fatal(err)
		}
		switch m["e"] {
		case "executionReport":
			text := fmt.Sprintf("%v %v %v %v %v q=%v z=%v g=%v", m["c"], m["o"], m["x"], m["X"], m["eR"], m["q"], m["z"], m["g"])
			list = append(list, strings.Replace(text, " <nil>", "", 1))
		case "listStatus":
			orders, _ := json.Marshal(m["O"])
			list = append(list, fmt.Sprint("list ", m["g"], " ", m["C"], " ", m["l"], " ", m["L"], " ", string(orders)))
		}
	}
	return list
}

// expect compares the next events with those that a test wants.
func (c *client) expect(want ...string) {
	c.Helper()
	for i, got := range c.told(len(want)) {
		if got != want[i] {
			c.Errorf("event %d:\ngot  %s\nwant %s", i, got, want[i])
		}
	}
}

// ordersOf returns the orders of a list in its status.
func ordersOf(id int, name string) string {
	return fmt.Sprintf(`[{"c":"%s-above","i":%d,"s":"BTCUSDT"},{"c":"%s-below","i":%d,"s":"BTCUSDT"}]`, name, id, name, id+1)
}

// TestLists places lists in a session, lets each order act, cancels them, and wants to be told of
// the orders and of the lists.
func TestLists(t *testing.T) {
	x := newExchange(t)
	x.trade(1)
	c := x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	c.ok("userDataStream.subscribe", nil)
	place := func(name string) (id int) {
		t.Helper()
		var l struct{ OrderListID int }
		if err := json.Unmarshal([]byte(c.ok("orderList.place.oco", oco(name))), &l); err != nil || l.OrderListID == 0 {
			t.Fatal(l, err)
		}
		g := fmt.Sprint(l.OrderListID)
		c.expect(
			name+"-above LIMIT_MAKER NEW NEW q=0.002000 z=0.000000 g="+g,
			name+"-below STOP_LOSS_LIMIT NEW NEW q=0.002000 z=0.000000 g="+g,
			"list "+g+" list-"+g+" EXEC_STARTED EXECUTING "+ordersOf(l.OrderListID, name),
		)
		return l.OrderListID
	}
	done := func(id int, name string) string {
		return fmt.Sprintf("list %d list-%d ALL_DONE ALL_DONE %s", id, id, ordersOf(id, name))
	}

	// The upper order trades, and then the rest of it: the lower one is long gone.
	id := place("a")
	g := fmt.Sprint(" g=", id)
	x.place(bob, bourse.Buy, 6_100_000, 1000)
	c.expect(
		"a-below STOP_LOSS_LIMIT EXPIRED EXPIRED OCO_TRIGGER q=0.002000 z=0.000000"+g,
		"a-above LIMIT_MAKER TRADE PARTIALLY_FILLED q=0.002000 z=0.001000"+g,
	)
	if got := c.ok("openOrderLists.status", nil); !strings.Contains(got, fmt.Sprint(`"orderListId":`, id)) {
		t.Errorf("open lists are %s", got)
	}
	x.place(bob, bourse.Buy, 6_100_000, 1000)
	c.expect("a-above LIMIT_MAKER TRADE FILLED q=0.002000 z=0.002000"+g, done(id, "a"))

	// The lower one is triggered by alice's own trade, and trades.
	id = place("b")
	g = fmt.Sprint(" g=", id)
	x.place(bob, bourse.Buy, 5_900_000, 1000)
	x.place(bob, bourse.Buy, 5_800_000, 2000)
	c.ok("order.place", limit("SELL", "59000.00", "0.001").with(params{"newClientOrderId": "own"}))
	c.expect(
		"own LIMIT NEW NEW q=0.001000 z=0.000000 g=-1",
		"own LIMIT TRADE FILLED q=0.001000 z=0.001000 g=-1",
		"b-above LIMIT_MAKER EXPIRED EXPIRED OCO_TRIGGER q=0.002000 z=0.000000"+g,
		"b-below STOP_LOSS_LIMIT NEW NEW q=0.002000 z=0.000000"+g,
		"b-below STOP_LOSS_LIMIT TRADE FILLED q=0.002000 z=0.002000"+g,
		done(id, "b"),
	)
	x.do(x.ask(1000), x.bid(1000)) // the last price is above the stop again

	// The list is canceled; then one by the cancel of an order.
	id = place("c")
	g = fmt.Sprint(" g=", id)
	c.ok("orderList.cancel", params{"symbol": "BTCUSDT", "orderListId": id})
	c.expect("c-above LIMIT_MAKER CANCELED CANCELED q=0.002000 z=0.000000"+g,
		"c-below STOP_LOSS_LIMIT CANCELED CANCELED q=0.002000 z=0.000000"+g, done(id, "c"))
	if got := c.ok("orderList.status", params{"orderListId": id}); !strings.Contains(got, `"listOrderStatus":"ALL_DONE"`) {
		t.Errorf("the canceled list is %s", got)
	}
	id = place("d")
	g = fmt.Sprint(" g=", id)
	c.ok("order.cancel", params{"symbol": "BTCUSDT", "origClientOrderId": "d-below"})
	c.expect("d-below STOP_LOSS_LIMIT CANCELED CANCELED q=0.002000 z=0.000000"+g,
		"d-above LIMIT_MAKER CANCELED CANCELED q=0.002000 z=0.000000"+g, done(id, "d"))

	// The upper order is expired by self-trade prevention, and takes the lower one along.
	p := oco("e")
	p["selfTradePreventionMode"] = "EXPIRE_MAKER"
	c.ok("orderList.place.oco", p)
	c.told(3)
	c.ok("order.place", limit("BUY", "61000.00", "0.001").with(params{"newClientOrderId": "taker", "selfTradePreventionMode": "EXPIRE_MAKER"}))
	c.expect("taker LIMIT NEW NEW q=0.001000 z=0.000000 g=-1")
	for _, got := range c.told(2) {
		if !strings.HasPrefix(got, "e-above LIMIT_MAKER TRADE_PREVENTION EXPIRED_IN_MATCH") &&
			!strings.HasPrefix(got, "e-below STOP_LOSS_LIMIT EXPIRED EXPIRED OCO_TRIGGER") {
			t.Error(got)
		}
	}
	c.expect(done(id+2, "e"))

	// The next one loses a part of its upper order, then all of it.
	c.ok("order.cancel", params{"symbol": "BTCUSDT", "origClientOrderId": "taker"})
	c.expect("taker LIMIT CANCELED CANCELED q=0.001000 z=0.000000 g=-1")
	id = place("f")
	g = fmt.Sprint(" g=", id)
	decrement := params{"newClientOrderId": "less", "selfTradePreventionMode": "DECREMENT"}
	c.ok("order.place", limit("BUY", "61000.00", "0.0005").with(decrement))
	c.expect("less LIMIT NEW NEW q=0.000500 z=0.000000 g=-1",
		"f-above LIMIT_MAKER TRADE_PREVENTION NEW q=0.002000 z=0.000000"+g,
		"less LIMIT TRADE_PREVENTION EXPIRED_IN_MATCH q=0.000500 z=0.000000 g=-1")
	decrement["newClientOrderId"] = "more"
	c.ok("order.place", limit("BUY", "61000.00", "0.002").with(decrement))
	c.expect("more LIMIT NEW NEW q=0.002000 z=0.000000 g=-1",
		"f-above LIMIT_MAKER TRADE_PREVENTION EXPIRED_IN_MATCH q=0.002000 z=0.000000"+g,
		"f-below STOP_LOSS_LIMIT EXPIRED EXPIRED OCO_TRIGGER q=0.002000 z=0.000000"+g,
		"more LIMIT TRADE_PREVENTION NEW q=0.002000 z=0.000000 g=-1", done(id, "f"))
	sameEvent(t, "listStatus", c.fields["listStatus"])
}

// ask returns an order of bob that sells at 60,000.
func (x *exchange) ask(lots bourse.Lots) bourse.Command {
	c := x.bid(lots)
	c.NewOrder.Side = bourse.Sell
	return c
}

// TestAmendmentsAndReplacements amends and replaces orders in a session. One that was there before
// the subscription has the value that it traded.
func TestAmendmentsAndReplacements(t *testing.T) {
	x := newExchange(t)
	id := x.place(alice, bourse.Sell, 6_000_000, 5000)
	x.do(x.bid(1000))
	c := x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	c.ok("userDataStream.subscribe", nil)

	amended := c.ok("order.amend.keepPriority", params{"symbol": "BTCUSDT", "orderId": id, "newQty": "0.003"})
	if !strings.Contains(amended, `"qty":"0.003000"`) {
		t.Error(amended)
	}
	event := c.event()
	for _, want := range [...]string{
		`"x":"REPLACED"`, `"X":"PARTIALLY_FILLED"`, `"q":"0.003000"`, `"z":"0.001000"`, `"Z":"60.000000000000"`,
		`"C":"` + binance.NameOf(&bourse.Order{ID: id}) + `"`,
	} {
		if !strings.Contains(event, want) {
			t.Errorf("no %s in %s", want, event)
		}
	}
	if got := c.ok("order.amendments", params{"symbol": "BTCUSDT", "orderId": id}); !strings.Contains(got, `"origQty":"0.005000","newQty":"0.003000"`) {
		t.Error(got)
	}
	c.fails(http.StatusBadRequest, -2038, "order.amend.keepPriority", params{"symbol": "BTCUSDT", "orderId": id, "newQty": "0.004"})

	replacement := limit("SELL", "60001.00", "0.002").with(params{
		"cancelReplaceMode": "STOP_ON_FAILURE", "cancelOrderId": id, "newClientOrderId": "next",
	})
	c.ok("order.cancelReplace", replacement)
	c.expect(binance.NameOf(&bourse.Order{ID: id})+" LIMIT CANCELED CANCELED q=0.003000 z=0.001000 g=-1",
		"next LIMIT NEW NEW q=0.002000 z=0.000000 g=-1")

	a := c.call("order.cancelReplace", replacement.with(params{"newClientOrderId": "other"}))
	if a.Status != http.StatusBadRequest || a.Error.Code != -2022 || !strings.Contains(string(a.Error.Data), `"newOrderResult":"NOT_ATTEMPTED"`) {
		t.Errorf("%d %+v", a.Status, a.Error)
	}
}

// TestChangesOnTheirWay replaces, amends and cancels orders by names before they have answers:
// each takes effect as if the client had waited.
func TestChangesOnTheirWay(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3?returnRateLimits=false")
	c.ok("session.logon", params{}.signed(aliceKey))
	named := func(name string) params { return params{"symbol": "BTCUSDT", "origClientOrderId": name} }
	var want []int
	send := func(status int, method string, p params) {
		c.request(method, p)
		want = append(want, status)
	}
	for i := range 20 {
		a, b, list := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("list", i)
		send(200, "order.place", limit("BUY", "50000.00", "0.003").with(params{"newClientOrderId": a}))
		send(200, "order.cancelReplace", limit("BUY", "50001.00", "0.003").with(params{
			"cancelReplaceMode": "ALLOW_FAILURE", "cancelOrigClientOrderId": a, "newClientOrderId": b,
		}))
		send(400, "order.cancel", named(a)) // it was replaced
		send(200, "order.amend.keepPriority", named(b).with(params{"newQty": "0.001"}))
		send(400, "order.amend.keepPriority", named(b).with(params{"newQty": "0.002"}))
		send(200, "order.cancel", named(b))
		send(200, "orderList.place.oco", oco(list))
		send(200, "order.cancel", named(list+"-below"))
	}
	for i, status := range want {
		if a := c.answered(); a.Status != status {
			t.Errorf("answer %d: %d %+v, want %d", i, a.Status, a.Error, status)
		}
	}
	if n := x.view.OpenOrderCount(alice); n != 0 {
		t.Errorf("%d orders are open", n)
	}
}

// TestCancelBehindAReplacement cancels an order behind its replacement, while the journal commits
// nothing: the replacement comes first, although cancels overtake orders.
func TestCancelBehindAReplacement(t *testing.T) {
	x := newExchange(t)
	id := x.place(alice, bourse.Buy, 5_000_000, 3000)
	c, other := x.dial("/ws-api/v3?returnRateLimits=false"), x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	x.log.Hold()
	for range 10 {
		c.request("order.place", limit("BUY", "50000.00", "0.001"))
	}
	c.request("order.cancelReplace", limit("BUY", "50001.00", "0.003").with(params{
		"cancelReplaceMode": "STOP_ON_FAILURE", "cancelOrderId": id,
	}))
	c.request("order.cancel", params{"symbol": "BTCUSDT", "orderId": id})
	for range 100 {
		other.ok("time", nil) // meanwhile the reader has come to the cancel
	}
	x.log.Release()
	for range 10 {
		c.answered()
	}
	if a := c.answered(); a.Status != http.StatusOK {
		t.Errorf("the replacement is %d %+v", a.Status, a.Error)
	}
	if a := c.answered(); a.Error.Code != -2011 {
		t.Errorf("the cancel behind is %d %+v", a.Status, a.Error)
	}
}
