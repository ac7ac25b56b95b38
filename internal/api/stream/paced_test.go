package stream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

const everyPacedStream = `{"op":"sub","id":1,"streams":["BTC/USDT@book","BTC/USDT@tape","BTC/USDT@candle/1",` +
	`"BTC/USDT@candle/5","BTC/USDT@candle/1D","tickers"]}`

// everyBeats is the number of beats after which every paced message has come.
const everyBeats = 20

// beat posts what is due, a number of times, and delivers it. A second passes for the limits of
// connections.
func (x *exchange) beat(times int) {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock.Add(int64(time.Second))
	for range times {
		x.pulse.Beat()
		x.deliver()
	}
}

// TestPacedStory compares the messages of every paced stream with testdata/paced.txt, byte by
// byte. REWRITE=1 rewrites the file.
func TestPacedStory(t *testing.T) {
	x := newExchange(t, 1)
	c := x.dial()
	c.ok(everyPacedStream)
	var got strings.Builder
	tell := func(name string) {
		fmt.Fprintf(&got, "# %s\n", name)
		told := c.drain()
		slices.SortStableFunc(told, func(a, b string) int {
			return strings.Compare(parse(t, a).Stream, parse(t, b).Stream)
		})
		for _, m := range told {
			fmt.Fprintln(&got, m)
		}
	}

	tell("the states at the beginning")
	for _, s := range story {
		s.do(x)
		x.beat(everyBeats)
		tell(s.name)
	}
	golden(t, "paced.txt", got.String())
}

// replica is a book kept from a paced stream, by the amounts of prices.
type replica struct {
	*testing.T
	seq        uint64
	bids, asks map[string]string
	resets     int
}

// pacedMessage has the fields of the messages of a book.
type pacedMessage struct {
	Class      string
	Prev, Seq  uint64
	Bids, Asks [][2]string
	State      struct {
		Bids, Asks []struct{ Price, Amount string }
	}
}

// take takes a message of the book.
func (r *replica) take(text string) {
	r.Helper()
	var m pacedMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		r.Fatalf("%s: %v", text, err)
	}
	switch {
	case m.Class == "reset":
		r.resets++
		r.seq, r.bids, r.asks = m.Seq, map[string]string{}, map[string]string{}
		for _, l := range m.State.Bids {
			r.bids[l.Price] = l.Amount
		}
		for _, l := range m.State.Asks {
			r.asks[l.Price] = l.Amount
		}
		return
	case m.Seq <= r.seq:
		return
	case m.Prev > r.seq:
		r.Fatalf("the book is at %d, and a message begins behind %d", r.seq, m.Prev)
	}

	r.seq = m.Seq
	for side, rows := range map[*map[string]string][][2]string{&r.bids: m.Bids, &r.asks: m.Asks} {
		for _, row := range rows {
			if row[1] == "0" {
				delete(*side, row[0])
			} else {
				(*side)[row[0]] = row[1]
			}
		}
	}
}

// wants compares the book with the one that REST answers with.
func (r *replica) wants(x *exchange) {
	r.Helper()
	seq, body := x.spot.BookState(1)
	want := replica{T: r.T}
	want.take(fmt.Sprintf(`{"class":"reset","seq":%d,"state":%s}`, seq, body))
	got := *r
	got.resets, want.resets = 0, 0
	if fmt.Sprint(got.seq, got.bids, got.asks) != fmt.Sprint(want.seq, want.bids, want.asks) {
		r.Fatalf("got\n%d %v %v\nwant\n%d %v %v", got.seq, got.bids, got.asks, want.seq, want.bids, want.asks)
	}
}

// walk carries out orders and cancels at random.
func (x *exchange) walk(draw *rand.Rand, commands int) {
	x.Helper()
	list := make([]bourse.Command, commands)
	for i := range list {
		side, price := bourse.Buy, 5990000+bourse.Price(draw.IntN(40))*100
		if draw.IntN(2) == 0 {
			side, price = bourse.Sell, price+2000
		}
		list[i] = order([]bourse.AccountID{alice, bob}[draw.IntN(2)], limit(side, price, lots*bourse.Lots(1+draw.IntN(9))))
		if draw.IntN(3) == 0 && x.ev.Outcome.ID != 0 {
			list[i] = bourse.Command{
				Kind: bourse.CommandCancel, Account: list[i].Account, Order: bourse.OrderID(draw.Uint64N(x.ev.Outcome.ID) + 1),
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frame(list, func(bourse.Reason) bool { return true })
	x.deliver()
}

// TestPacedBookIsTheExchanges keeps books from the paced stream, by a client that stays, by one
// that is dropped and comes back, and by one that leaves the stream and comes back to it,
// between beats and at any time. At equal numbers all are the book that REST answers with.
func TestPacedBookIsTheExchanges(t *testing.T) {
	const subscribe = `{"op":"sub","id":1,"streams":"BTC/USDT@book"}`
	x := newExchange(t, 0)
	draw := rand.New(rand.NewPCG(21, 7))
	clients := make([]*client, 3)
	books := make([]*replica, len(clients))
	for i := range clients {
		clients[i], books[i] = x.dial(), &replica{T: t}
		clients[i].ok(subscribe)
	}

	for range 200 {
		x.walk(draw, 1+draw.IntN(20))
		switch draw.IntN(6) {
		case 0:
			_ = clients[1].conn.Close()
			clients[1] = x.dial()
			clients[1].ok(subscribe)
		case 1:
			clients[2].ok(`{"op":"unsub","id":2,"streams":"BTC/USDT@book"}`)
			x.walk(draw, draw.IntN(5))
			clients[2].ok(subscribe)
			x.walk(draw, draw.IntN(5))
		}

		x.beat(1)
		for i, c := range clients {
			for _, m := range c.drain() {
				books[i].take(m)
			}
			books[i].wants(x)
		}
	}
	if books[0].resets != 1 || books[1].resets == 1 {
		t.Errorf("the client that stayed got %d states, the one that was dropped %d", books[0].resets, books[1].resets)
	}
}

// TestPacedLevelsAreToldOnce changes few levels often, and wants one message with each of them.
func TestPacedLevelsAreToldOnce(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@book"}`)
	x.churn(rounds(20))
	x.place(bob, limit(bourse.Sell, 6100000, lots))
	x.beat(everyBeats)

	told := c.drain()
	if len(told) != 2 {
		t.Fatalf("told was %v", told)
	}
	if want := `"prev":0,"bids":[["59000.00","0"]],"asks":[["61000.00","0.001000"]],"seq":`; !strings.Contains(told[1], want) {
		t.Errorf("got %s, want %s", told[1], want)
	}
}

// TestPacedTapeSkips trades more often than a message tells, and wants the newest trades and the
// number of the others.
func TestPacedTapeSkips(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@tape"}`)
	for _, trades := range []int{1, 50, 51, 100, 101, 1234} {
		for range trades {
			x.place(alice, limit(bourse.Sell, 6000000, lots))
			x.place(bob, limit(bourse.Buy, 6000000, lots))
		}
		before := x.view.LastTrade(1) - uint64(trades)
		x.beat(1)
		told := c.drain()
		if len(told) != 1 {
			t.Fatalf("of %d trades told was %v", trades, told)
		}
		n := min(trades, 50)
		head := fmt.Sprintf(`"prev":%d,"skipped":%d,"trades":[`, before, trades-n)
		tail := fmt.Sprintf(`"trade_id":%d}],"seq":%[1]d}`, before+uint64(trades))
		if strings.Count(told[0], "trade_id") != n || !strings.Contains(told[0], head) || !strings.HasSuffix(told[0], tail) {
			t.Errorf("of %d trades told was %s", trades, told[0])
		}
	}
}

// wide changes many levels, for a message of some 30 KB.
func (x *exchange) wide(lots bourse.Lots) {
	x.Helper()
	const levels = 500
	list := []bourse.Command{
		{Kind: bourse.CommandCancelAll, Account: alice}, {Kind: bourse.CommandCancelAll, Account: bob},
	}
	for i := range bourse.Price(levels) {
		list = append(list, order(alice, limit(bourse.Buy, 5000000+i, lots)), order(bob, limit(bourse.Sell, 7000000+i, lots)))
	}
	x.do(list...)
}

// TestSlowPacedReadersGetTheState has a client that does not read while far more is sent than
// its queue and the kernel take: it is not cut, and when it reads it gets the state in place of
// what it missed, while a client that reads gets all. Other streams of the slow one go on.
func TestSlowPacedReadersGetTheState(t *testing.T) {
	x := newExchange(t, 0)
	x.clock.Store(int64(time.Hour)) // distant deadlines: only the queue counts
	slow, quick := x.dial(), x.dial()
	slow.v, quick.v = nil, nil
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	slow.ok(`{"op":"sub","id":1,"streams":["BTC/USDT@book","BTC/USDT@candle/1","BTC/USDT@tape","tickers"]}`)
	quick.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@book"}`)

	steady := &replica{T: t}
	for i := range 400 {
		x.wide(lots * bourse.Lots(1+i%2))
		x.beat(1)
		for _, m := range quick.drain() {
			steady.take(m)
		}
	}
	steady.wants(x)
	if steady.resets != 1 {
		t.Errorf("the client that read got %d states", steady.resets)
	}

	book := &replica{T: t}
	seq, _ := x.spot.BookState(1)
	for book.seq < seq {
		if m := slow.receive(); parse(t, m).Stream == "BTC/USDT@book" {
			book.take(m)
		}
	}
	book.wants(x)
	if book.resets < 2 {
		t.Error("the slow client got no state")
	}

	x.wide(7 * lots)
	x.beat(1)
	slow.follows(book, x)
}

// follows takes messages until the book is as REST's.
func (c *client) follows(book *replica, x *exchange) {
	c.Helper()
	for _, m := range c.drain() {
		if parse(c.T, m).Stream == "BTC/USDT@book" {
			book.take(m)
		}
	}
	book.wants(x)
}

// TestPacedStatesAreCounted wants the states of paced streams to count as reads of a payer.
func TestPacedStatesAreCounted(t *testing.T) {
	x := newExchange(t, 2)
	x.limit(api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 4}}})
	refused := `{"class":"resp","id":9,"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`
	c := x.dial() // one request
	c.ok(`{"op":"sub","id":1,"streams":["BTC/USDT@book","BTC/USDT@tape","A0/USDT@tape"]}`)
	c.drain()
	c.ok(`{"op":"sub","id":2,"streams":["BTC/USDT@book","A0/USDT@book","tickers"]}`) // has the first
	c.drain()
	c.ask(`{"op":"sub","id":9,"streams":"A1/USDT@candle/1"}`, refused)
	c.ok(`{"op":"sub","id":3,"streams":["A1/USDT@tape","A1/USDT@orderBook"]}`)
}

// TestPacedStatesOfARequest names more streams that begin with a state than a request may.
func TestPacedStatesOfARequest(t *testing.T) {
	x := newExchange(t, 70)
	c := x.dial()
	names := make([]string, 65)
	for i := range names {
		names[i] = fmt.Sprintf("A%d/USDT@book", i+1)
	}
	list, _ := json.Marshal(names)
	c.ask(fmt.Sprintf(`{"op":"sub","id":5,"streams":%s}`, list),
		failed(5, "NOT_ACCEPTABLE", "At most 64 streams of a request may begin with a state"))
	x.wide(lots)
	x.beat(1)
	if told := c.drain(); len(told) != 0 {
		t.Errorf("told was %v", told)
	}
}

// TestSlowPacedReadersPay wants the state of a slow client to wait until its payer may read.
func TestSlowPacedReadersPay(t *testing.T) {
	x := newExchange(t, 0)
	x.clock.Store(int64(time.Hour))
	x.pauses = make(chan chan time.Time, 1)
	var passed atomic.Int64
	began := time.Now()
	x.server.Limits = api.NewLimiter(
		api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 2}}},
		func() time.Time { return began.Add(time.Duration(passed.Load())) },
	)
	slow := x.dial() // one request
	slow.v = nil
	_ = slow.conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	slow.ok(`{"op":"sub","id":1,"streams":["BTC/USDT@book"]}`) // the other one
	for i := range 400 {
		x.wide(lots * bourse.Lots(1+i%2))
		x.beat(1)
	}

	messages := make(chan string)
	go func() {
		defer close(messages)
		for f, err := slow.next(); err == nil; f, err = slow.next() {
			messages <- string(f.Payload)
		}
	}()
	defer func() {
		_ = slow.conn.Close()
		for range messages { // until the reader has ended
			continue
		}
	}()
	book := &replica{T: t}
	for seq, _ := x.spot.BookState(1); book.seq < seq; {
		select {
		case m := <-messages:
			book.take(m)
		case over := <-x.pauses: // the payer is over its limit
			if passed.Load() != 0 {
				t.Fatal("the payer cannot pay, though it has not read for an hour")
			}
			passed.Store(int64(time.Hour))
			over <- time.Time{}
		}
	}
	book.wants(x)
	if passed.Load() == 0 {
		t.Error("the state was not paid for")
	}
}
