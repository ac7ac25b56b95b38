package live_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
)

// TestRequestsOfStreams checks the answers to all requests, and to what is none.
func TestRequestsOfStreams(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws")
	c.ask(`{"method":"SUBSCRIBE","params":["btcusdt@trade","ethusdt@depth@100ms"],"id":1}`, `{"result":null,"id":1}`)
	c.ask(`{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":"again"}`, `{"result":null,"id":"again"}`)
	c.ask(`{"method":"LIST_SUBSCRIPTIONS","id":2}`, `{"result":["btcusdt@trade","ethusdt@depth@100ms"],"id":2}`)
	c.ask(`{"method":"UNSUBSCRIBE","params":["ethusdt@depth@100ms","btcusdt@ticker"],"id":3}`, `{"result":null,"id":3}`)
	c.ask(`{"method":"LIST_SUBSCRIPTIONS","id":4}`, `{"result":["btcusdt@trade"],"id":4}`)
	c.ask(`{"method":"GET_PROPERTY","params":["combined"],"id":5}`, `{"result":false,"id":5}`)
	c.ask(`{"method":"SET_PROPERTY","params":["combined",true],"id":6}`, `{"result":null,"id":6}`)
	c.ask(`{"method":"GET_PROPERTY","params":["combined"],"id":null}`, `{"result":true,"id":null}`)

	for text, code := range map[string]int{
		`{"method":"SET_PROPERTY","params":["combined","yes"],"id":7}`:                       1,
		`{"method":"SET_PROPERTY","params":["other",true],"id":7}`:                           0,
		`{"method":"SET_PROPERTY","params":["combined",true,1],"id":7}`:                      0,
		`{"method":"GET_PROPERTY","id":7}`:                                                   0,
		`{"method":"LEAVE","id":7}`:                                                          2,
		`{"id":7}`:                                                                           2,
		`{"method":"SUBSCRIBE","params":"btcusdt@trade","id":7}`:                             2,
		`{"method":"SUBSCRIBE","params":[],"id":7}`:                                          2,
		`{"method":"SUBSCRIBE","params":[1],"id":7}`:                                         2,
		`{"method":"SUBSCRIBE","params":["btcusdt@nothing"],"id":7}`:                         -1020,
		`{"method":"SUBSCRIBE","params":["btcusdt@depth7"],"id":7}`:                          -1020,
		`{"method":"SUBSCRIBE","params":["btcusdt@kline_1s"],"id":7}`:                        -1020,
		`{"method":"SUBSCRIBE","params":["BTCUSDT@trade"],"id":7}`:                           -1121,
		`{"method":"SUBSCRIBE","params":["nothing@trade"],"id":7}`:                           -1121,
		fmt.Sprintf(`{"method":"SUBSCRIBE","params":[%q],"id":7}`, strings.Repeat("a1", 32)): -1125,
	} {
		c.send(text)
		var got struct{ Code, ID int }
		if m := c.receive(); json.Unmarshal([]byte(m), &got) != nil || got.Code != code || got.ID != 7 {
			t.Errorf("%s: %s, want code %d", text, m, code)
		}
	}
	c.send(`{"method":`)
	if m := c.receive(); !strings.HasPrefix(m, `{"code":3,`) || !strings.HasSuffix(m, `"id":null}`) {
		t.Error(m)
	}
	c.send(`{"method":"LIST_SUBSCRIPTIONS","id":{}}`)
	if m := c.receive(); !strings.HasPrefix(m, `{"code":2,`) {
		t.Error(m)
	}

	x.trade(1)
	c.want(`{"stream":"btcusdt@trade","data":` + x.lastTrade + `}`)
}

// TestAddresses subscribes by the address. A word that names no stream is ignored.
func TestAddresses(t *testing.T) {
	x := newExchange(t)
	raw, combined, none := x.dial("/ws/btcusdt@trade"), x.dial("/stream?streams=btcusdt@trade/btcusdt@aggTrade"), x.dial("/ws/0")
	for _, c := range []*client{raw, combined, none} {
		c.send(`{"method":"LIST_SUBSCRIPTIONS","id":1}`) // the address was read before
	}
	raw.want(`{"result":["btcusdt@trade"],"id":1}`)
	combined.want(`{"result":["btcusdt@trade","btcusdt@aggTrade"],"id":1}`)
	none.want(`{"result":[],"id":1}`)
	x.trade(1)
	raw.want(x.lastTrade)
	combined.want(`{"stream":"btcusdt@trade","data":` + x.lastTrade + `}`)
	if m := combined.receive(); !strings.HasPrefix(m, `{"stream":"btcusdt@aggTrade","data":{"e":"aggTrade"`) {
		t.Error(m)
	}

	x.refused("/ws/nothing@trade", `{"code":-1121,"msg":"Invalid symbol."}`)
	x.refused("/ws/btcusdt@nothing", `{"code":-1020,"msg":"There is no stream of this name, or it is not served."}`)
	x.refused("/ws/"+strings.Repeat("a1", 32), `{"code":-1125,"msg":"This listenKey does not exist."}`)
	x.refused("/ws?timeUnit=MICROSECOND", `{"code":-1020,"msg":"Times of WebSocket messages are in milliseconds."}`)
	x.refused("/stream?streams="+strings.Repeat("btcusdt@trade/", 1025),
		`{"code":2,"msg":"Invalid request: a connection may have at most 1024 streams"}`)
}

// trade makes trades of a thousandth at 60,000.
func (x *exchange) trade(n int) {
	x.Helper()
	for range n {
		x.place(alice, bourse.Sell, 6_000_000, 1000)
		r := x.outcomes(x.bid(1000))[0]
		at, last := r.Time/1000, x.view.LastTrade(1)
		x.lastTrade = fmt.Sprintf(`{"e":"trade","E":%d,"s":"BTCUSDT","t":%d,"p":"60000.00","q":"0.001000","T":%d,"m":false,"M":true}`,
			at, last, at)
	}
}

// TestMarketStreams checks a message of each stream of a market after some trades.
func TestMarketStreams(t *testing.T) {
	x := newExchange(t)
	names := []string{
		"trade", "aggTrade", "bookTicker", "depth", "depth@100ms", "depth5", "depth10@100ms", "kline_1m", "kline_1M", "miniTicker",
		"ticker", "avgPrice",
	}
	c := x.dial("/stream?streams=!miniTicker@arr/!ticker@arr/!bookTicker/btcusdt@" + strings.Join(names, "/btcusdt@"))
	c.ask(`{"method":"SET_PROPERTY","params":["combined",true],"id":1}`, `{"result":null,"id":1}`)
	x.place(alice, bourse.Sell, 6_000_000, 3000)
	x.place(alice, bourse.Sell, 6_000_100, 3000)
	x.place(alice, bourse.Buy, 5_900_000, 1000)
	x.place(bob, bourse.Buy, 6_000_100, 4000)
	x.slow()

	got, fields := map[string]string{}, map[string]map[string]bool{}
	for len(got) < len(names)+3 {
		var m struct {
			Stream string
			Data   json.RawMessage
		}
		if text := c.receive(); json.Unmarshal([]byte(text), &m) != nil || m.Stream == "" {
			t.Fatal(text)
		}
		got[strings.TrimPrefix(m.Stream, "btcusdt@")] = noTimes(t, m.Data)
		fields[m.Stream] = map[string]bool{}
		addFields(t, m.Data, fields[m.Stream])
	}
	for _, m := range live.Streams() {
		if m.Example != "" {
			sameFields(t, &m, fields[m.Example])
		}
	}
	for name, want := range map[string]string{
		"depth10@100ms": `{"asks":[["60001.00","0.002000"]],"bids":[["59000.00","0.001000"]],"lastUpdateId":5}`,
		"depth5":        `{"asks":[["60001.00","0.002000"]],"bids":[["59000.00","0.001000"]],"lastUpdateId":5}`,
		"depth": `{"U":1,"a":[["60000.00","0.000000"],["60001.00","0.002000"]],"b":[["59000.00","0.001000"]],` +
			`"e":"depthUpdate","s":"BTCUSDT","u":5}`,
		"bookTicker":  `{"A":"0.002000","B":"0.001000","a":"60001.00","b":"59000.00","s":"BTCUSDT","u":5}`,
		"!bookTicker": `{"A":"0.002000","B":"0.001000","a":"60001.00","b":"59000.00","s":"BTCUSDT","u":5}`,
		"aggTrade":    `{"M":true,"a":2,"e":"aggTrade","f":2,"l":2,"m":false,"p":"60001.00","q":"0.001000","s":"BTCUSDT"}`,
		"avgPrice":    `{"e":"avgPrice","i":"5m","s":"BTCUSDT","w":"60000.25"}`,
		"miniTicker": `{"c":"60001.00","e":"24hrMiniTicker","h":"60001.00","l":"60000.00","o":"60000.00",` +
			`"q":"240.001000000000","s":"BTCUSDT","v":"0.004000"}`,
		"ticker": `{"A":"0.002000","B":"0.001000","F":1,"L":2,"P":"0.001","Q":"0.001000","a":"60001.00","b":"59000.00",` +
			`"c":"60001.00","e":"24hrTicker","h":"60001.00","l":"60000.00","n":2,"o":"60000.00","p":"1.00",` +
			`"q":"240.001000000000","s":"BTCUSDT","v":"0.004000","w":"60000.25","x":"60000.00"}`,
		"kline_1m": `{"e":"kline","k":{"B":"0","L":2,"Q":"240.001000000000","V":"0.004000","c":"60001.00","f":1,"h":"60001.00",` +
			`"i":"1m","l":"60000.00","n":2,"o":"60000.00","q":"240.001000000000","s":"BTCUSDT","v":"0.004000","x":false},"s":"BTCUSDT"}`,
	} {
		if got[name] != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got[name], want)
		}
	}
}

// noTimes returns a message without times, its names sorted.
func noTimes(t *testing.T, text []byte) string {
	t.Helper()
	var m any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	strip := func(m map[string]any) {
		for _, name := range [...]string{"E", "T", "O", "C", "t"} {
			if _, isTime := m[name].(float64); isTime && name != "t" || name == "t" && m["i"] != nil {
				delete(m, name)
			}
		}
	}
	if o, is := m.(map[string]any); is {
		strip(o)
		if k, is := o["k"].(map[string]any); is {
			strip(k)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestCandleEnds checks that a candle that ended is told as closed, once, before the next one,
// whether or not it had a trade since the subscription.
func TestCandleEnds(t *testing.T) {
	x := newExchange(t)
	x.trade(2)
	c := x.dial("/ws/btcusdt@kline_1m")
	c.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@kline_1m"],"id":1}`)
	var last int64
	want := func(closed bool, trades int) {
		t.Helper()
		var m struct {
			K struct {
				Start  int64 `json:"t"`
				End    int64 `json:"T"` // encoding/json folds cases
				Closed bool  `json:"x"`
				Trades int   `json:"n"`
			} `json:"k"`
		}
		if text := c.receive(); json.Unmarshal([]byte(text), &m) != nil || m.K.Closed != closed || m.K.Trades != trades ||
			m.K.Start < last {
			t.Fatalf("%s, want closed %v with %d trades", text, closed, trades)
		}
		last = m.K.Start
	}

	x.slow()
	want(false, 2)
	x.ahead.Add(int64(time.Minute))
	x.place(alice, bourse.Buy, 1_000_000, 1000)
	x.slow()
	want(true, 2)
	want(false, 0)
	x.trade(3)
	x.ahead.Add(int64(time.Minute))
	x.trade(1)
	x.slow()
	want(true, 3)
	want(false, 1)
}

// TestListenKeys listens by a key of an API key.
func TestListenKeys(t *testing.T) {
	const path = "/api/v3/userDataStream"
	x := newExchange(t)
	create := func(key string) string {
		t.Helper()
		var got struct{ ListenKey string }
		if status, body := x.request(http.MethodPost, path, key); status != http.StatusOK || json.Unmarshal([]byte(body), &got) != nil {
			t.Fatal(status, body)
		}
		return got.ListenKey
	}
	one, two := create(aliceKey), create(readKey)
	if again := create(aliceKey); again != one || one == two {
		t.Errorf("listen keys are %s, %s and %s", one, again, two)
	}
	if status, body := x.request(http.MethodPost, path, strings.Repeat("d", 64)); status != http.StatusUnauthorized {
		t.Error(status, body)
	}
	if status, body := x.request(http.MethodPut, path+"?listenKey="+one, bobKey); status != http.StatusBadRequest {
		t.Error("another key extended it:", status, body)
	}

	raw, combined := x.dial("/ws/"+one), x.dial("/stream?streams="+two)
	for _, c := range []*client{raw, combined} {
		c.send(`{"method":"GET_PROPERTY","params":["combined"],"id":1}`)
		c.receive()
	}
	id := x.place(alice, bourse.Buy, 5_000_000, 1000)
	if m := raw.receive(); !strings.HasPrefix(m, `{"e":"executionReport"`) {
		t.Error(m)
	}
	if m := combined.receive(); !strings.HasPrefix(m, `{"stream":"`+two+`","data":{"e":"executionReport"`) {
		t.Error(m)
	}
	raw.receive()
	combined.receive() // balances

	// A DELETE ends it, and so does the end of its API key.
	if status, body := x.request(http.MethodDelete, path+"?listenKey="+one, aliceKey); status != http.StatusOK || body != "{}" {
		t.Error(status, body)
	}
	x.keys.revoke(readKey)
	x.offset.Store(int64(2 * time.Second))
	x.server.Expire()
	last := raw.receive()
	if !strings.HasPrefix(last, `{"e":"listenKeyExpired"`) || !strings.Contains(last, one) {
		t.Error(last)
	}
	fields := map[string]bool{}
	addFields(t, []byte(last), fields)
	sameEvent(t, "listenKeyExpired", fields)
	if m := combined.receive(); !strings.HasPrefix(m, `{"stream":"`+two+`","data":{"e":"listenKeyExpired"`) {
		t.Error(m)
	}
	x.cancel(alice, id)
	raw.ask(`{"method":"LIST_SUBSCRIPTIONS","id":2}`, `{"result":[],"id":2}`)
	x.refused("/ws/"+one, `{"code":-1125,"msg":"This listenKey does not exist."}`)

	// One lives for an hour, and from each extension on. It is good where its key is.
	three := create(bobKey)
	x.offset.Store(int64(30 * time.Minute))
	if status, body := x.request(http.MethodPut, path+"?listenKey="+three, bobKey); status != http.StatusOK {
		t.Error(status, body)
	}
	x.offset.Store(int64(89 * time.Minute))
	x.keys.elsewhere[2] = true
	x.refused("/ws/"+three, `{"code":-1125,"msg":"This listenKey does not exist."}`)
	x.keys.elsewhere[2] = false
	x.dial("/ws/" + three)
	x.offset.Store(int64(91 * time.Minute))
	x.refused("/ws/"+three, `{"code":-1125,"msg":"This listenKey does not exist."}`)
	if create(bobKey) == three {
		t.Error("an expired listen key came again")
	}
}

// TestStatesAreSharedByABeat has a client that subscribes again and again, for which a state is
// due each time: the others get one a beat.
func TestStatesAreSharedByABeat(t *testing.T) {
	x := newExchange(t)
	quiet, busy := x.dial("/ws/btcusdt@depth5"), x.dial("/ws")
	quiet.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@depth5"],"id":1}`)
	for range 30 {
		busy.ask(`{"method":"SUBSCRIBE","params":["btcusdt@depth5"],"id":1}`, `{"result":null,"id":1}`)
		busy.ask(`{"method":"UNSUBSCRIBE","params":["btcusdt@depth5"],"id":1}`, `{"result":null,"id":1}`)
	}
	x.pulse.Beat()
	quiet.want(`{"lastUpdateId":0,"bids":[],"asks":[]}`)
	x.slow() // nothing has changed since
	quiet.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@depth5"],"id":1}`)
}

// TestBestLevelsOfALaterSubscriber brings a book, while nobody wants its best levels, to others and
// then back to those that were told last: the later subscriber has to hear of both. Without a
// neighbour nobody listens to anything meanwhile.
func TestBestLevelsOfALaterSubscriber(t *testing.T) {
	for _, neighbour := range [...]string{"", "/ws/ethusdt@trade"} {
		x := newExchange(t)
		if neighbour != "" {
			x.dial(neighbour).ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["ethusdt@trade"],"id":1}`)
		}
		x.place(alice, bourse.Buy, 5_000_000, 1000)
		c := x.dial("/ws/btcusdt@bookTicker")
		c.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@bookTicker"],"id":1}`)
		x.pulse.Beat()
		c.bestBid("50000.00")
		better := x.place(bob, bourse.Buy, 5_100_000, 1000)
		c.bestBid("51000.00")

		c.ask(`{"method":"UNSUBSCRIBE","params":["btcusdt@bookTicker"],"id":2}`, `{"result":null,"id":2}`)
		x.cancel(bob, better)
		c.ask(`{"method":"SUBSCRIBE","params":["btcusdt@bookTicker"],"id":3}`, `{"result":null,"id":3}`)
		c.ask(`{"method":"LIST_SUBSCRIPTIONS","id":4}`, `{"result":["btcusdt@bookTicker"],"id":4}`) // its state is due by now
		x.pulse.Beat()
		c.bestBid("50000.00")
		x.place(bob, bourse.Buy, 5_100_000, 1000)
		c.bestBid("51000.00")
	}
}

// bestBid expects the best levels of BTC/USDT, with a bid.
func (c *client) bestBid(want string) {
	c.Helper()
	if got := c.receive(); !strings.Contains(got, `"s":"BTCUSDT","b":"`+want+`"`) {
		c.Errorf("a bid of %s: %s", want, got)
	}
}

// TestSubscriptionsAreCounted subscribes to more names in a second than a connection may, and
// to more streams than it may have.
func TestSubscriptionsAreCounted(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws")
	x.frozen.Store(true)
	list := `["btcusdt@trade"` + strings.Repeat(`,"btcusdt@trade"`, 999) + "]"
	for range 4 {
		c.ask(`{"method":"SUBSCRIBE","params":`+list+`,"id":1}`, `{"result":null,"id":1}`)
	}
	c.send(`{"method":"SUBSCRIBE","params":` + list + `,"id":1}`)
	if m := c.receive(); !strings.HasPrefix(m, `{"code":2,"msg":"Invalid request: too many requests`) {
		t.Error(m)
	}
	c.send(`{"method":"SUBSCRIBE","params":["a"` + strings.Repeat(`,"a"`, 1024) + `],"id":1}`)
	if m := c.receive(); !strings.HasPrefix(m, `{"code":2,`) {
		t.Error(m)
	}
}

// TestPropertiesAreCounted changes the form of the messages of many streams: that takes the lock of
// subscriptions for as long as subscribing to all of them.
func TestPropertiesAreCounted(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws")
	var names []string
	for _, symbol := range [...]string{"btcusdt", "ethusdt"} {
		for _, name := range [...]string{"trade", "aggTrade", "ticker", "depth", "depth5", "depth10", "depth20", "kline_1m"} {
			names = append(names, `"`+symbol+"@"+name+`"`)
		}
	}
	c.ask(`{"method":"SUBSCRIBE","params":[`+strings.Join(names, ",")+`],"id":1}`, `{"result":null,"id":1}`)
	x.offset.Add(int64(time.Minute))
	x.frozen.Store(true)
	c.send(`{"method":"SUBSCRIBE","params":["a"` + strings.Repeat(`,"a"`, 1023) + `],"id":2}`)
	c.receive()
	for range 3 {
		c.send(`{"method":"SUBSCRIBE","params":["a"` + strings.Repeat(`,"a"`, 1000) + `],"id":2}`)
		c.receive()
	}
	for range 4 { // 16 names each, and 69 are left
		c.ask(`{"method":"SET_PROPERTY","params":["combined",true],"id":3}`, `{"result":null,"id":3}`)
	}
	c.send(`{"method":"SET_PROPERTY","params":["combined",false],"id":4}`)
	if m := c.receive(); !strings.HasPrefix(m, `{"code":2,"msg":"Invalid request: too many requests`) {
		t.Error(m)
	}
}

// TestSlowConsumerIsCut has a client that does not read while another reads each message.
func TestSlowConsumerIsCut(t *testing.T) {
	x := newExchange(t)
	x.offset.Store(int64(time.Hour)) // no deadline passes
	slow, quick := x.dial("/ws/btcusdt@depth@100ms"), x.dial("/ws/btcusdt@depth@100ms")
	quick.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@depth@100ms"],"id":1}`)
	slow.ask(`{"method":"LIST_SUBSCRIPTIONS","id":1}`, `{"result":["btcusdt@depth@100ms"],"id":1}`)
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	for range 120 {
		var commands []bourse.Command
		for i := range bourse.Price(2000) {
			commands = append(commands, bourse.Command{Kind: bourse.CommandPlace, Account: alice, NewOrder: bourse.NewOrder{
				Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1_000_000 + i, Lots: 1000,
			}})
		}
		x.do(append(commands, bourse.Command{Kind: bourse.CommandCancelAll, Account: alice})...)
		x.pulse.Beat()
		quick.keepUp()
	}
	slow.ended(4408)
	quick.keepUp()
}

func (c *client) write(f ws.Frame) {
	c.Helper()
	_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(ws.MustCompileFrame(ws.MaskFrame(f))); err != nil {
		c.Fatal(err)
	}
}

// keepUp reads the messages that have come.
func (c *client) keepUp() {
	c.Helper()
	c.write(ws.NewPingFrame(nil))
	for {
		f, err := c.frame()
		if err != nil || f.Header.OpCode == ws.OpClose {
			c.Fatalf("no pong: %+v %q %v", f.Header, f.Payload, err)
		}
		if f.Header.OpCode == ws.OpPong {
			return
		}
	}
}
