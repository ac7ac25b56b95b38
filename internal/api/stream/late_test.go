package stream_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// give sends money from alice to bob.
func give() bourse.Command {
	return bourse.Command{Kind: bourse.CommandTransfer, Account: alice, Wallet: &bourse.WalletCommand{
		Withdraw: &bourse.Withdraw{Asset: 1, Internal: bob, Amount: units("1", 12)},
	}}
}

// encode runs the feed's Encode until the end of the test.
func (x *exchange) encode() {
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			if x.feed.Encode() {
				x.mu.Lock()
				x.deliver()
				x.mu.Unlock()
				continue
			}
			select {
			case <-x.feed.Slow():
			case <-stop:
				return
			}
		}
	})
	x.Cleanup(func() {
		close(stop)
		work.Wait()
	})
}

// TestADatabaseThatHangs gives a database that does not answer: the rows of transfers wait
// for it. All other streams go on, and so does trading. When it answers, the transfers come.
func TestADatabaseThatHangs(t *testing.T) {
	x := newExchange(t, 0)
	answers := make(chan struct{})
	answer := sync.OnceFunc(func() { close(answers) })
	x.writeRow = func(w *wire.Writer, m *history.Movement) error {
		<-answers
		w.Uint("xid", uint64(m.ID))
		return nil
	}
	x.encode()
	x.Cleanup(answer)
	waits, quick := x.login("bob"), x.dial()
	waits.v = nil
	waits.ok(`{"op":"sub","id":2,"streams":["myTransfers"]}`)
	quick.ok(`{"op":"sub","id":2,"streams":["BTC/USDT@orderBook"]}`)

	traded := make(chan struct{})
	go func() {
		defer close(traded)
		x.do(give(), give(), give())
		x.churn(rounds(10))
	}()
	for round := range uint64(10) {
		quick.follow(round * perRound)
	}
	select {
	case <-traded:
	case <-time.After(patience):
		t.Fatal("trading waits for the database")
	}
	if got := waits.drain(); len(got) != 0 {
		t.Fatalf("rows that cannot be read came: %v", got)
	}

	answer()
	for want := range uint64(3) {
		if m := parse(t, waits.receive()); m.Class != "data" || m.Seq != want+1 {
			t.Errorf("message %d is %+v", want+1, m)
		}
	}
}

// TestWhatCannotBeReadIsReset fails to read rows, and then the state for a while: the
// connection stays, its other streams go on, and the state comes when it can be read.
func TestWhatCannotBeReadIsReset(t *testing.T) {
	x := newExchange(t, 0)
	fails := true
	x.writeRow = func(w *wire.Writer, m *history.Movement) error {
		if fails {
			return errNoDatabase
		}
		w.Uint("xid", uint64(m.ID))
		return nil
	}
	c := x.login("bob")
	c.v = nil
	c.ok(`{"op":"sub","id":2,"streams":["myTransfers","BTC/USDT@orderBook"]}`)
	x.server.State = func(ctx context.Context, topic feed.Topic) (s stream.State, err error) {
		if x.noState.Add(-1) >= 0 {
			return s, errNoDatabase
		}
		return stream.State{Seq: 2, Body: []byte(`{"success":true,"transactions":[]}`)}, nil
	}
	x.noState.Store(2)
	x.do(give(), give())
	x.feed.Encode()
	x.deliver()
	x.place(alice, limit(bourse.Sell, 6100000, lots))
	book, reset := parse(t, c.receive()), parse(t, c.receive())
	if book.Class == "reset" { // the state could be read before the order came
		book, reset = reset, book
	}
	if book.Stream != "BTC/USDT@orderBook" {
		t.Errorf("got %+v", book)
	}
	if reset.Class != "reset" || reset.Stream != "myTransfers" || reset.Seq != 2 {
		t.Errorf("got %+v", reset)
	}

	fails = false
	x.do(give())
	x.feed.Encode()
	x.deliver()
	if m := parse(t, c.receive()); m.Class != "data" || m.Seq != 3 {
		t.Errorf("behind the reset came %+v", m)
	}
}

// TestABehindHistory subscribes while the history does not have the missed fills: that is
// an error, which subscribes to nothing. A connection whose end would cancel orders stays.
// When the history has them, they come.
func TestABehindHistory(t *testing.T) {
	x := newTailedExchange(t, 0, 8)
	x.follow()
	for range 20 {
		x.place(alice, limit(bourse.Sell, 6000000, lots))
		x.place(bob, limit(bourse.Buy, 6000000, lots))
	}
	x.place(bob, limit(bourse.Buy, 5000000, lots))
	c := x.dial()
	c.ok(`{"op":"auth","id":1,"api_key":"bob","cancel_on_close":true}`)
	c.send(`{"op":"sub","id":2,"streams":["myTrades"],"since":{"myTrades":1}}`)
	if got := c.receive(); !strings.Contains(got, `"success":false,"error":"History is `) {
		t.Fatalf("got %s", got)
	}
	if got := c.drain(); len(got) != 0 || x.view.OpenOrderCount(bob) != 1 {
		t.Errorf("got %v, and bob has %d orders", got, x.view.OpenOrderCount(bob))
	}

	x.follow()
	c.resume([]string{"myTrades"}, map[string]uint64{"myTrades": 1})
	if got := c.drain(); len(got) != 19 || parse(t, got[0]).Seq != 2 || parse(t, got[18]).Seq != 20 {
		t.Errorf("%d fills came: %v", len(got), got)
	}
}

// never is more states that cannot be read than a test asks for.
const never = 1 << 40

// TestAStateThatCannotBeReadYet fails to read a state behind the answer to sub: the
// connection stays, and the state and all behind it come later, each message once.
func TestAStateThatCannotBeReadYet(t *testing.T) {
	x := newExchange(t, 0)
	x.pauses = make(chan chan time.Time, 2)
	x.place(bob, limit(bourse.Buy, 5900000, lots))
	c := x.login("bob")
	x.noState.Store(never)
	c.resume([]string{"myOrders"}, nil)
	x.place(bob, limit(bourse.Buy, 5900000, lots))
	over := <-x.pauses
	if got := c.drain(); len(got) != 0 {
		t.Fatalf("without a state came %v", got)
	}

	x.noState.Store(0)
	over <- time.Time{}
	m := parse(t, c.receive())
	if m.Class != "reset" || m.Seq != 2 {
		t.Errorf("got %+v", m)
	}
	x.place(bob, limit(bourse.Buy, 5900000, lots))
	if m := parse(t, c.receive()); m.Class != "data" || m.Seq != 3 {
		t.Errorf("behind the state came %+v", m)
	}
}

// TestALeftStreamIsNotResumed leaves a stream whose state cannot be read, and subscribes to
// it again: the first subscription's state is neither read any more nor sent.
func TestALeftStreamIsNotResumed(t *testing.T) {
	x := newExchange(t, 0)
	x.pauses = make(chan chan time.Time, 2)
	var read atomic.Int64
	x.server.State = func(_ context.Context, topic feed.Topic) (s stream.State, err error) {
		if topic.Kind == feed.OwnOrders {
			read.Add(1)
		}
		return s, errNoDatabase
	}
	x.place(bob, limit(bourse.Buy, 5900000, lots))
	c := x.login("bob")
	c.resume([]string{"myOrders"}, nil)
	over := <-x.pauses
	c.ok(`{"op":"unsub","id":3,"streams":["myOrders"]}`)
	c.ok(`{"op":"sub","id":4,"streams":["myOrders"]}`)
	over <- time.Time{}

	// The connection reads for one stream after the other: the one that was left comes first.
	c.resume([]string{"myBalances"}, nil)
	over = <-x.pauses
	if n := read.Load(); n != 2 { // one before and one behind the answer
		t.Errorf("a state that nobody waits for was read %d times", n)
	}
	c.ok(`{"op":"unsub","id":5,"streams":["myBalances"]}`)
	over <- time.Time{}

	x.place(bob, limit(bourse.Buy, 5900000, lots))
	if m := parse(t, c.receive()); m.Class != "data" || m.Seq != 2 {
		t.Errorf("got %+v", m)
	}
}

// TestStatesArePaidForFirst reads a state of many orders: the account has paid for it
// before it is copied, so that it cannot have many copied at once.
func TestStatesArePaidForFirst(t *testing.T) {
	x := newExchange(t, 0)
	var orders []bourse.Command
	for i := range 700 {
		orders = append(orders, order(bob, limit(bourse.Buy, 5000000+bourse.Price(i), lots)))
	}
	x.do(orders...)
	x.limit(api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 4}}})
	var paid atomic.Bool
	read := x.server.State
	x.server.State = func(ctx context.Context, topic feed.Topic) (stream.State, error) {
		paid.Store(x.server.Limits.Overdrawn(api.Reads, bob))
		return read(ctx, topic)
	}
	c := x.login("bob")
	c.resume([]string{"myOrders"}, nil)
	got := c.receive()
	if n := strings.Count(got, `"obid":`); n != len(orders) || !paid.Load() {
		t.Errorf("%d orders came, paid for before: %v", n, paid.Load())
	}
	last := uint64(1 << 62)
	for part := range strings.SplitSeq(got, `"obid":`) {
		var id uint64
		if n, _ := fmt.Sscanf(part, "%d,", &id); n == 1 && id >= last {
			t.Fatalf("order %d comes behind %d", id, last)
		} else if n == 1 {
			last = id
		}
	}
	x.dial().ok(`{"op":"auth","id":1,"api_key":"bob"}`)
	other := x.login("bob")
	other.ask(`{"op":"sub","id":2,"streams":"myOrders","since":{"myOrders":0}}`, failed(2, "RATE_LIMIT", "Too many requests"))
}

// left returns how many reads an account may still send.
func (x *exchange) left(account bourse.AccountID) int {
	for _, l := range x.server.Limits.List(api.Payer{Account: account}) {
		if l.Class == "reads" {
			return l.Left
		}
	}
	x.Fatal("reads are not limited")
	return 0
}

// TestAStateIsPaidForOnce reads a state that cannot be read at first: however many readings
// fail, it costs the same.
func TestAStateIsPaidForOnce(t *testing.T) {
	cost := map[int64]int{}
	for _, failures := range []int64{0, 5} {
		x := newExchange(t, 0)
		var orders []bourse.Command
		for i := range 700 {
			orders = append(orders, order(bob, limit(bourse.Buy, 5000000+bourse.Price(i), lots)))
		}
		x.do(orders...)
		const burst = 1000
		x.limit(api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: burst}}})
		c := x.login("bob")
		x.noState.Store(failures)
		c.resume([]string{"myOrders"}, nil)
		if m := parse(t, c.receive()); m.Class != "reset" {
			t.Fatalf("got %+v", m)
		}
		cost[failures] = burst - x.left(bob)
	}
	if cost[0] == 0 || cost[5] != cost[0] {
		t.Errorf("a state costs %d requests, and after five failures %d", cost[0], cost[5])
	}
}

// TestALossIsNotPaidFor loses messages because the database fails: the state that comes in
// their place costs their account nothing.
func TestALossIsNotPaidFor(t *testing.T) {
	x := newExchange(t, 0)
	x.writeRow = func(*wire.Writer, *history.Movement) error { return errNoDatabase }
	x.limit(api.Limits{Account: api.Rates{Reads: api.Rate{PerSecond: 1, Burst: 1000}}})
	x.server.State = func(context.Context, feed.Topic) (stream.State, error) {
		return stream.State{Seq: 2, Body: []byte(`{"pad":"` + strings.Repeat("x", 100_000) + `"}`)}, nil
	}
	c := x.login("bob")
	c.ok(`{"op":"sub","id":2,"streams":["myTransfers"]}`)
	before := x.left(bob)
	x.do(give(), give())
	x.feed.Encode()
	x.deliver()
	c.v = nil
	if m := parse(t, c.receive()); m.Class != "reset" || m.Stream != "myTransfers" {
		t.Fatalf("got %+v", m)
	}
	if paid := before - x.left(bob); paid != 0 {
		t.Errorf("a fault of the database cost %d requests", paid)
	}
}

// TestResetsOfBooksAreShared makes a reset for several clients: it is one until the book
// changes.
func TestResetsOfBooksAreShared(t *testing.T) {
	x := newExchange(t, 0)
	reset := func() []byte {
		seq, body := x.spot.BookState(1)
		return x.server.ResetOf(feed.Topic{Kind: feed.Book, Market: 1}, stream.State{Seq: seq, Body: body})
	}
	x.place(alice, limit(bourse.Sell, 6100000, lots))
	first, second := reset(), reset()
	x.place(alice, limit(bourse.Sell, 6200000, lots))
	third := reset()
	if &first[0] != &second[0] || string(first) == string(third) || !strings.Contains(string(third), `"seq":2,`) {
		t.Errorf("the resets are %s, %s and %s", first, second, third)
	}
}
