package stream_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// counted are the streams whose messages are numbered without gaps.
var counted = []string{"BTC/USDT@marketTrade", "BTC/USDT@orderBook", "myOrders", "myTrades"}

// told has the fields that place a message in its stream.
type told struct {
	Class, Stream string
	Seq           uint64
	State         json.RawMessage
}

func parse(t *testing.T, message string) (m told) {
	t.Helper()
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return m
}

// login connects as alice or bob.
func (x *exchange) login(who string) *client {
	x.Helper()
	c := x.dial()
	c.ok(`{"op":"auth","id":1,"api_key":"` + who + `"}`)
	return c
}

// resume subscribes to streams behind numbers; a stream without one begins at zero.
func (c *client) resume(streams []string, since map[string]uint64) {
	c.Helper()
	all := map[string]uint64{}
	for _, name := range streams {
		all[name] = since[name]
	}
	request, err := json.Marshal(map[string]any{"op": "sub", "id": 2, "streams": streams, "since": all})
	if err != nil {
		c.Fatal(err)
	}
	c.ok(string(request))
}

// byStream groups messages by stream, each group in order.
func byStream(t *testing.T, messages []string) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	for _, text := range messages {
		m := parse(t, text)
		list[m.Stream] = append(list[m.Stream], text)
	}
	return list
}

// TestAClientThatComesBackMissesNothing drops a client between all steps of the story. In the
// end it has the same messages as a client that was never dropped.
func TestAClientThatComesBackMissesNothing(t *testing.T) {
	x := newExchange(t, 0)
	steady := x.login("bob")
	steady.resume(counted, nil)
	since, got := map[string]uint64{}, map[string][]string{}
	dropped := x.login("bob")
	dropped.resume(counted, since)
	var want []string

	for _, s := range story {
		s.do(x)
		want = append(want, steady.drain()...)
		messages := dropped.drain()
		for i, text := range messages {
			if i == len(messages)/2 { // the rest is lost on its way
				break
			}
			m := parse(t, text)
			since[m.Stream] = m.Seq
			got[m.Stream] = append(got[m.Stream], text)
		}
		_ = dropped.conn.Close()
		dropped = x.login("bob")
		dropped.resume(counted, since)
	}

	for _, text := range dropped.drain() {
		m := parse(t, text)
		got[m.Stream] = append(got[m.Stream], text)
	}
	wanted := byStream(t, want)
	for _, name := range counted {
		if !slices.Equal(got[name], wanted[name]) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got[name], "\n"), strings.Join(wanted[name], "\n"))
		}
	}
}

// TestHistoryKnowsWhatMemoryDoesNot subscribes after the story, which had no subscriber: the
// messages of trades equal the live ones.
func TestHistoryKnowsWhatMemoryDoesNot(t *testing.T) {
	heard := newExchange(t, 0)
	c := heard.login("alice")
	c.resume(counted, nil)
	unheard := newExchange(t, 0)
	var want []string
	for _, s := range story {
		s.do(heard)
		s.do(unheard)
		want = append(want, c.drain()...)
	}

	trades := []string{"BTC/USDT@marketTrade", "myTrades"}
	late := unheard.login("alice")
	late.resume(trades, map[string]uint64{"myTrades": 3})
	got, wanted := byStream(t, late.drain()), byStream(t, want)
	if name := trades[0]; !slices.Equal(got[name], wanted[name]) || len(got[name]) == 0 {
		t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got[name], "\n"), strings.Join(wanted[name], "\n"))
	}
	if name := trades[1]; !slices.Equal(got[name], wanted[name][3:]) || len(got[name]) == 0 {
		t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got[name], "\n"), strings.Join(wanted[name][3:], "\n"))
	}
}

// TestWhatNobodyKnowsIsReset wants the state that REST answers, and then each message
// behind it, once.
func TestWhatNobodyKnowsIsReset(t *testing.T) {
	x := newExchange(t, 0)
	x.place(bob, limit(bourse.Buy, 5900000, 100*lots))
	id := x.place(bob, limit(bourse.Buy, 5800000, 200*lots))
	x.place(alice, limit(bourse.Sell, 5900000, 30*lots))
	c := x.login("bob")
	streams := []string{"BTC/USDT@orderBook", "myOrders"}
	c.resume(streams, nil)
	got := c.drain()
	_, book := x.spot.BookState(1)
	_, orders := x.spot.OrdersState(bob)
	want := []string{
		`{"class":"reset","stream":"BTC/USDT@orderBook","seq":3,"state":` + string(book) + `}`,
		`{"class":"reset","stream":"myOrders","seq":3,"state":` + string(orders) + `}`,
	}
	if !slices.Equal(got, want) || !strings.Contains(got[1], fmt.Sprintf(`{"obid":%d,`, id)) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	x.cancel(bob, id)
	if got := c.drain(); len(got) != 2 || parse(t, got[0]).Seq != 4 || parse(t, got[1]).Seq != 4 {
		t.Errorf("behind the state came %v", got)
	}
}

// TestNobodyIsLedBack names numbers that the exchange has not reached: the request is an
// error that says so and subscribes to nothing, and the connection stays.
func TestNobodyIsLedBack(t *testing.T) {
	x := newExchange(t, 0)
	x.place(bob, limit(bourse.Buy, 5900000, 100*lots))
	c := x.login("bob")
	for name, at := range map[string]int{"BTC/USDT@marketTrade": 0, "BTC/USDT@orderBook": 1, "myOrders": 1, "myTrades": 0} {
		c.ask(fmt.Sprintf(`{"op":"sub","id":2,"streams":[%q,"BTC/USDT@ticker"],"since":{%[1]q:%d}}`, name, at+1),
			failed(2, "HISTORY_BEHIND", fmt.Sprintf("since: %q is at %d here, behind %d", name, at, at+1)))
	}
	x.place(alice, limit(bourse.Sell, 5900000, 30*lots))
	if got := c.drain(); len(got) != 0 {
		t.Errorf("refused requests subscribed to %v", got)
	}
	c.resume([]string{"BTC/USDT@orderBook", "myOrders"}, map[string]uint64{"BTC/USDT@orderBook": 2, "myOrders": 2})
	if got := c.drain(); len(got) != 0 {
		t.Errorf("a client that has everything got %v", got)
	}
}

// TestTooMuchIsReset misses more than the history is read for.
func TestTooMuchIsReset(t *testing.T) {
	x := newExchange(t, 0)
	const trades = 1001
	var orders []bourse.Command
	for range trades {
		orders = append(orders, order(alice, limit(bourse.Sell, 6000000, lots)), order(bob, limit(bourse.Buy, 6000000, lots)))
	}
	x.do(orders...)
	c := x.login("bob")
	c.resume([]string{"myTrades"}, nil)
	got := c.drain()
	if len(got) != 1 || parse(t, got[0]).Class != "reset" || parse(t, got[0]).Seq != trades {
		t.Fatalf("%d messages; the first is %.200s", len(got), got[0])
	}
	if rows := strings.Count(got[0], `"trade_id":`); rows != 50 {
		t.Errorf("the state has %d trades, not the newest 50 of which the recipe speaks", rows)
	}
	c = x.login("bob")
	c.resume([]string{"myTrades"}, map[string]uint64{"myTrades": 1})
	if got := c.drain(); len(got) != trades-1 || parse(t, got[0]).Seq != 2 {
		t.Fatalf("%d messages; the first is %.200s", len(got), got[0])
	}
}

// TestFramesOnTheirWayAreNotLost subscribes between the end of a frame and its delivery.
func TestFramesOnTheirWayAreNotLost(t *testing.T) {
	x := newExchange(t, 0)
	x.place(alice, limit(bourse.Sell, 6000000, 100*lots))
	x.login("bob").resume(counted, nil) // makes the feed remember
	buy := order(bob, limit(bourse.Buy, 6000000, lots))
	for range 3 {
		x.apply(buy)
		c := x.login("bob")
		c.resume(counted, nil)
		x.apply(buy)
		x.do(buy)
		last := map[string]uint64{}
		for _, text := range c.drain() {
			m := parse(t, text)
			if before, known := last[m.Stream]; known && m.Seq != before+1 {
				t.Errorf("%s goes from %d to %d", m.Stream, before, m.Seq)
			}
			last[m.Stream] = m.Seq
		}
		for name, want := range map[string]uint64{
			counted[0]: x.view.LastTrade(1), counted[1]: x.view.BookSeq(1),
		} {
			if last[name] != want {
				t.Errorf("%s ends at %d, want %d", name, last[name], want)
			}
		}
	}
}

// TestStatesComeAtOnce wants the present state of the streams that tell one, whatever the
// client has.
func TestStatesComeAtOnce(t *testing.T) {
	x := newExchange(t, 0)
	states := []string{"BTC/USDT@ticker", "BTC/USDT@tickerEx", "BTC/USDT@candleStick/1", "BTC/USDT@candleStick/1D"}
	c := x.dial()
	c.resume(states, nil)
	if got := c.drain(); len(got) != 2 { // there is no candle before the first trade
		t.Errorf("got %v", got)
	}
	x.place(alice, limit(bourse.Sell, 6100000, lots))
	x.place(bob, limit(bourse.Buy, 6100000, lots))
	want := c.drain()

	late := x.dial()
	late.resume(states, map[string]uint64{"BTC/USDT@ticker": 1 << 62})
	got := late.drain()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) || len(got) != 4 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSinceIsChecked(t *testing.T) {
	x := newExchange(t, 70)
	c := x.dial()
	const sub = `{"op":"sub","id":1,"streams":["BTC/USDT@ticker","BTC/USDT@orderBook"],"since":`
	const unnamed = "since: must name streams of this request only"
	const malformed = "since: must be an object of at most 64 integers from 0 to 9223372036854775807"
	for since, why := range map[string]string{
		`{"A0/USDT@ticker":1}`: unnamed, `{"BTC/USDT@ticker":1,"ticker":2}`: unnamed,
		`1`: malformed, `["BTC/USDT@ticker"]`: malformed, `{"BTC/USDT@ticker":"1"}`: malformed,
		`{"BTC/USDT@ticker":-1}`: malformed, `{"BTC/USDT@ticker":null}`: malformed,
	} {
		c.ask(sub+since+`}`, failed(1, "VALIDATION_ERROR", why))
	}
	var names, since []string
	for i := range 65 {
		names = append(names, fmt.Sprintf(`"A%d/USDT@ticker"`, i))
		since = append(since, names[i]+":0")
	}
	c.ask(`{"op":"sub","id":1,"streams":[`+strings.Join(names, ",")+`],"since":{`+strings.Join(since, ",")+`}}`,
		failed(1, "VALIDATION_ERROR", malformed))

	c.ok(`{"op":"sub","id":2,"streams":["BTC/USDT@orderBook"]}`)
	c.ask(sub+`{"BTC/USDT@orderBook":0}}`, failed(1, "NOT_ACCEPTABLE", `since: the connection has "BTC/USDT@orderBook" already`))
	x.place(alice, limit(bourse.Sell, 6100000, lots))
	if got := c.drain(); len(got) != 1 {
		t.Errorf("a refused request subscribed to %v", got)
	}
	c.ok(`{"op":"sub","id":3,"streams":["BTC/USDT@ticker","BTC/USDT@ticker"],"since":{"BTC/USDT@ticker":0}}`)
	if got := c.drain(); len(got) != 1 {
		t.Errorf("a stream named twice sent %v", got)
	}
}
