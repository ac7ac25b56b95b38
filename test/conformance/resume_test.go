package conformance

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

var resumeChecks = []check{
	missedMessages, unknownIsReset, tradesFromThePast, statesComeFirst, sinceIsChecked, noWayBack, slowClient,
}

func TestResuming(t *testing.T) { examine(t, resumeChecks) }

// resume subscribes to streams behind numbers and drops no message.
func (s *socket) resume(since map[string]int64) {
	s.x.Helper()
	streams := make([]string, 0, len(since))
	for name := range since {
		streams = append(streams, name)
	}
	slices.Sort(streams)
	s.aside = nil
	s.must("sub", fields{"streams": streams, "since": since})
}

// texts returns messages as JSON.
func texts(messages []*value) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = m.String()
	}
	return list
}

// missedMessages compares a client that comes and goes with one that stays.
func missedMessages(x *exam) {
	x.covers("SPOT-RES-1")
	m := x.market()
	a, b := x.traders(m)
	streams := []string{m.pair + "@marketTrade", m.pair + "@orderBook", "myOrders", "myTrades"}
	steady := a.private()
	steady.sub(streams[:2]...)
	a.sell(m, "10", "3")
	b.buy(m, "10", "1")
	last := map[string]int64{}
	for _, message := range steady.fence() {
		last[message.get("stream").text] = seconds(message.get("seq").text)
	}
	for _, name := range streams {
		if last[name] == 0 {
			x.Fatalf("no message of %s", name)
		}
	}

	b.buy(m, "10", "0.5")
	a.cancel(a.sell(m, "20", "1"))
	back := x.connect()
	back.auth(a)
	back.resume(last)
	b.buy(m, "10", "0.25")
	a.sell(m, "30", "1")
	want, got := steady.fence(), back.fence()
	for _, name := range streams {
		x.same(name, texts(of(got, name)), texts(of(want, name))...)
	}
}

func unknownIsReset(x *exam) {
	x.covers("SPOT-RES-2")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "3")
	b.buy(m, "10", "1")
	a.buy(m, "9", "1")
	s := x.connect()
	s.auth(a)
	s.resume(map[string]int64{m.pair + "@orderBook": 0, "myOrders": 0})
	got := s.fence()
	x.same("classes", (&value{items: got}).column("class"), "reset", "reset")
	states := map[string]*value{
		m.pair + "@orderBook": x.post("/orderbook", fields{"pair": m.pair}).value,
		"myOrders":            a.post("/open_orders", fields{"offset": 0}).value,
	}
	for _, message := range got {
		name := message.get("stream").text
		x.equal("state of "+name, message.get("state").String(), states[name].String())
	}
	x.equal("seq of the book", first(of(got, m.pair+"@orderBook")).get("seq").text, x.book(m).get("seq").text)

	a.sell(m, "11", "1")
	behind := s.fence()
	for _, name := range []string{"myOrders", m.pair + "@orderBook"} {
		next := seconds(first(of(got, name)).get("seq").text) + 1
		x.equal("seq behind the reset of "+name, first(of(behind, name)).get("seq").text, strconv.FormatInt(next, 10))
	}
}

func tradesFromThePast(x *exam) {
	x.covers("SPOT-RES-3")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "9", "1")
	before := seconds(x.trades(m).column("trade_id")[0])
	for i := range 3 {
		x.trade(m, a, b, strconv.Itoa(10+i), "1")
	}
	s := x.connect()
	s.auth(a)
	s.resume(map[string]int64{m.pair + "@marketTrade": before, "myTrades": 1})
	got := s.fence()
	x.same("classes", (&value{items: got}).column("class"), "data", "data", "data", "data", "data", "data")
	own, public := &value{items: of(got, "myTrades")}, &value{items: of(got, m.pair+"@marketTrade")}
	x.same("own trades", own.column("seq"), "2", "3", "4")
	x.same("prices of own trades", own.column("price"), "10", "11", "12")
	x.same("prices of trades", public.column("price"), "10", "11", "12")
	x.same("trades", public.column("trade_id"), own.column("trade_id")...)
}

func statesComeFirst(x *exam) {
	x.covers("SPOT-RES-4")
	m := x.market()
	a, b := x.traders(m)
	names := []string{m.pair + "@ticker", m.pair + "@tickerEx", m.pair + "@candleStick/1M"}
	steady := x.connect()
	steady.sub(names...)
	x.trade(m, a, b, "10", "1")
	x.trade(m, a, b, "11", "1")
	last := map[string]*value{}
	for _, message := range steady.fence() {
		last[message.get("stream").text] = message
	}
	s := x.connect()
	s.resume(map[string]int64{names[0]: 0, names[1]: 1, names[2]: 1 << 61})
	got := s.fence()
	if len(got) != len(names) {
		x.Errorf("%d messages, want one of each stream", len(got))
	}
	for _, message := range got {
		want := last[message.get("stream").text].clone()
		for i := range want.members {
			if want.members[i].name == "seq" { // the journal has gone on
				want.members[i].value = message.get("seq")
			}
		}
		x.equal("state", message.String(), want.String())
		if at := last[message.get("stream").text]; seconds(message.get("seq").text) < seconds(at.get("seq").text) {
			x.Errorf("seq is %s, less than %s", message.get("seq"), at.get("seq"))
		}
	}
}

func sinceIsChecked(x *exam) {
	x.covers("SPOT-RES-5")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	book, prices := m.pair+"@orderBook", m.pair+"@ticker"
	for _, since := range []any{
		fields{prices: 1}, fields{book: "1"}, fields{book: -1}, fields{book: 1.5}, []string{book},
	} {
		s.fails(s.ask("sub", fields{"streams": book, "since": since}), "since")
	}
	many, since := []string{}, fields{}
	for i := range 65 {
		many = append(many, book)
		since[strconv.Itoa(i)] = 0
	}
	s.fails(s.ask("sub", fields{"streams": many, "since": since}), "since")
	a.sell(m, "10", "1")
	if got := s.fence(); len(got) != 0 {
		x.Errorf("a refused request sent %s", got[0])
	}
	s.sub(book)
	s.fails(s.ask("sub", fields{"streams": []string{book, prices}, "since": fields{book: 1}}), "since", book)
	s.succeeds(s.ask("sub", fields{"streams": prices, "since": fields{prices: 1}}))
}

// noWayBack names a seq that a stream has not reached.
func noWayBack(x *exam) {
	x.covers("SPOT-RES-6")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "1")
	s := x.connect()
	s.auth(a)
	book := m.pair + "@orderBook"
	at := seconds(x.book(m).get("seq").text)
	for name, since := range map[string]int64{book: at + 1, m.pair + "@marketTrade": 1 << 61, "myOrders": 1 << 61} {
		s.fails(s.ask("sub", fields{"streams": []string{name, m.pair + "@ticker"}, "since": fields{name: since}}),
			"since", name, strconv.FormatInt(since, 10))
	}
	a.sell(m, "11", "1")
	if got := s.fence(); len(got) != 0 {
		x.Errorf("a refused request sent %s", got[0])
	}
	s.succeeds(s.ask("sub", fields{"streams": book, "since": fields{book: at + 1}}))
}

// socketBuffer is the size of the kernel's buffers of a client that is to be slow, in bytes: what
// it has not read is soon the exchange's, and what it has written was soon read there.
const socketBuffer = 64 << 10

// slowClient does not read its messages. The exchange closes its connection with a code of its
// own and skips no message before the close; the client misses none when it comes back.
func slowClient(x *exam) {
	x.covers("SPOT-WS-26")
	m := x.market()
	a := x.trader(m)
	book := m.pair + "@orderBook"
	s := x.connect()
	s.sub(book)
	a.sell(m, "10", "1")
	last := seconds(first(s.fence()).get("seq").text)

	_ = s.conn.(*net.TCPConn).SetReadBuffer(socketBuffer)
	_ = s.conn.(*net.TCPConn).SetWriteBuffer(socketBuffer)
	release := s.hold()
	for i := range 120 { // answers of 15 KiB, below the limit of frames in a second
		ping := `{"op":"ping","id":` + strconv.Itoa(i+1) + strings.Repeat("0", 15<<10) + `}`
		if s.frame(ws.NewTextFrame([]byte(ping))) != nil {
			break // the exchange has closed the connection, and waited for a while
		}
		if i%40 == 39 {
			a.sell(m, strconv.Itoa(11+i), "1")
		}
	}
	release()

	next := 1
	end := time.After(x.patience)
	for open := true; open; {
		select {
		case message, more := <-s.messages:
			switch open = more; {
			case !more:
			case message.get("stream").text == markerStream:
			case message.get("class").text == "data":
				last++
				x.equal("seq", message.get("seq").text, strconv.FormatInt(last, 10))
			default:
				x.equal("id", strings.TrimRight(message.get("id").text, "0"), strings.TrimRight(strconv.Itoa(next), "0"))
				next++
			}
		case <-end:
			x.Fatalf("a client that does not read is not closed")
		}
	}
	if s.closed != ws.StatusCode(4408) || s.reason != "slow, resume with since" {
		x.Errorf("closed with %d %q", s.closed, s.reason)
	}

	back := x.connect()
	back.resume(map[string]int64{book: last})
	a.sell(m, "5000", "1")
	for _, message := range back.fence() {
		last++
		x.equal("seq of what was missed", message.get("seq").text, strconv.FormatInt(last, 10))
	}
	x.equal("last seq", strconv.FormatInt(last, 10), x.book(m).get("seq").text)
}
