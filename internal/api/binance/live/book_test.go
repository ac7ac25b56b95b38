package live_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// update is a message of a depth stream.
type update struct {
	First uint64      `json:"U"`
	Last  uint64      `json:"u"`
	Bids  [][2]string `json:"b"`
	Asks  [][2]string `json:"a"`
}

// snapshot is the answer of the endpoint depth.
type snapshot struct {
	Last uint64      `json:"lastUpdateId"`
	Bids [][2]string `json:"bids"`
	Asks [][2]string `json:"asks"`
}

// keeper keeps a book by the documented algorithm.
type keeper struct {
	*exchange
	stream string
	client *client
	// last is the update ID of the book; zero before there is one.
	last       uint64
	bids, asks map[string]string
	resyncs    int
}

// connect opens the stream: the book is to be read again. Updates that were on their way to an
// earlier connection may come before the answer; the book that is read later includes them.
func (k *keeper) connect() {
	k.Helper()
	if k.client != nil {
		_ = k.client.conn.Close()
	}
	k.client, k.last = k.dial("/ws/"+k.stream), 0

	k.client.send(`{"method":"LIST_SUBSCRIPTIONS","id":1}`)
	answer := fmt.Sprintf(`{"result":[%q],"id":1}`, k.stream)
	for text := k.client.receive(); text != answer; text = k.client.receive() {
		if !strings.HasPrefix(text, `{"e":"depthUpdate"`) {
			k.Fatal(text)
		}
	}
}

// depth reads the book of the endpoint.
func (x *exchange) depth() (s snapshot) {
	x.Helper()
	if _, body := x.request("GET", "/api/v3/depth?symbol=BTCUSDT&limit=5000", ""); json.Unmarshal([]byte(body), &s) != nil {
		x.Fatal(body)
	}
	return s
}

// next takes an update.
func (k *keeper) next() {
	k.Helper()
	var u update
	if text := k.client.receive(); json.Unmarshal([]byte(text), &u) != nil || u.First == 0 || u.Last < u.First {
		k.Fatal(text)
	}

	for k.last == 0 {
		s := k.depth()
		if s.Last < u.First {
			continue
		}
		k.last, k.bids, k.asks = s.Last, map[string]string{}, map[string]string{}
		set(k.bids, s.Bids)
		set(k.asks, s.Asks)
		k.resyncs++
	}
	switch {
	case u.Last <= k.last:
		return
	case u.First > k.last+1:
		k.Fatalf("%s: updates from %d to %d are missing", k.stream, k.last+1, u.First-1)
	}
	set(k.bids, u.Bids)
	set(k.asks, u.Asks)
	k.last = u.Last
}

// set sets levels of a side.
func set(side map[string]string, levels [][2]string) {
	for _, l := range levels {
		if l[1] == "0.000000" {
			delete(side, l[0])
		} else {
			side[l[0]] = l[1]
		}
	}
}

// compare expects the book to be that of the endpoint, once it has all updates up to it.
func (k *keeper) compare() {
	k.Helper()
	s := k.depth()
	for k.last < s.Last {
		k.next()
	}
	bids, asks := map[string]string{}, map[string]string{}
	set(bids, s.Bids)
	set(asks, s.Asks)
	if k.last != s.Last || !maps.Equal(bids, k.bids) || !maps.Equal(asks, k.asks) {
		k.Fatalf("%s: at %d, of %d, the book has %d bids and %d asks, not %d and %d", k.stream, k.last, s.Last,
			len(k.bids), len(k.asks), len(bids), len(asks))
	}
}

// TestBooks keeps books from both depth streams while orders come, trade and go. Connections
// drop, some of them alone and some of them all, and go on with a book read again.
func TestBooks(t *testing.T) {
	x := newExchange(t)
	chance := rand.New(rand.NewPCG(7, 20))
	fast, slow := &keeper{exchange: x, stream: "btcusdt@depth@100ms"}, &keeper{exchange: x, stream: "btcusdt@depth"}
	fast.connect()
	slow.connect()
	drops := 0
	for round := range 60 {
		for range 1 + chance.IntN(3) {
			x.crowd(chance)
			x.pulse.Beat()
		}
		switch round % 15 {
		case 7:
			fast.connect()
			drops++
		case 11: // nobody listens for a while
			x.crowd(chance)
			_, _ = fast.client.conn.Close(), slow.client.conn.Close()
			x.await(func() bool { return x.server.Len() == 0 })
			x.crowd(chance)
			fast.connect()
			slow.connect()
			drops++
			x.crowd(chance)
		}
		x.slow()
		if fast.last == 0 || slow.last == 0 {
			x.crowd(chance) // the first update after a connection is that of a change
			x.slow()
		}
		fast.compare()
		slow.compare()
	}
	if fast.resyncs != drops+1 || fast.last < 1000 {
		t.Errorf("the book was read %d times in %d drops, up to %d", fast.resyncs, drops, fast.last)
	}
}

// crowd places and cancels orders at random.
func (x *exchange) crowd(chance *rand.Rand) {
	x.Helper()
	var commands []bourse.Command
	for range 20 + chance.IntN(40) {
		who := alice + bourse.AccountID(chance.IntN(2))
		order := bourse.NewOrder{
			Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC,
			Price: 5_990_000 + bourse.Price(chance.IntN(200))*100, Lots: 1000 + bourse.Lots(chance.IntN(5000)),
		}
		if chance.IntN(2) == 0 {
			order.Side, order.Price = bourse.Sell, order.Price+5000
		}
		commands = append(commands, bourse.Command{Kind: bourse.CommandPlace, Account: who, NewOrder: order})
	}
	if chance.IntN(4) == 0 {
		commands = append(commands, bourse.Command{Kind: bourse.CommandCancelAll, Account: alice, MarketID: 1})
	}
	for _, r := range x.sequencer.DoAll(x.Context(), commands) {
		if r.Err != nil {
			x.Fatal(r.Err)
		}
	}
}

// TestUpdatesBeginWithTheirSubscriber checks that an update has no numbers of changes that
// nobody listened to.
func TestUpdatesBeginWithTheirSubscriber(t *testing.T) {
	x := newExchange(t)
	k := &keeper{exchange: x, stream: "btcusdt@depth@100ms"}
	k.connect()
	x.place(alice, bourse.Buy, 5_000_000, 1000)
	_ = k.client.conn.Close()
	x.await(func() bool { return x.server.Len() == 0 })
	x.place(alice, bourse.Buy, 5_000_100, 1000)
	k.connect()
	x.place(alice, bourse.Buy, 5_000_200, 1000)
	x.pulse.Beat()
	if m := k.client.receive(); !strings.Contains(m, `"U":3,"u":3,"b":[["50002.00","0.001000"]],"a":[]`) {
		t.Error(m)
	}
}

// TestManyChangesMakeManyUpdates changes more levels between two beats than an update has.
func TestManyChangesMakeManyUpdates(t *testing.T) {
	x := newExchange(t)
	k := &keeper{exchange: x, stream: "btcusdt@depth@100ms"}
	k.connect()
	for from := bourse.Price(0); from < 12_000; from += 1000 {
		var commands []bourse.Command
		for i := range bourse.Price(1000) {
			who := alice + bourse.AccountID((from+i)%2)
			commands = append(commands, bourse.Command{Kind: bourse.CommandPlace, Account: who, NewOrder: bourse.NewOrder{
				Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1_000_000 + from + i, Lots: 1000,
			}})
		}
		x.do(commands...)
	}
	x.pulse.Beat()
	for next := uint64(1); next <= 12_000; {
		var u update
		if text := k.client.receive(); json.Unmarshal([]byte(text), &u) != nil {
			t.Fatal(text)
		}
		if u.First != next || len(u.Bids) > 5000 || u.Last-u.First+1 != uint64(len(u.Bids)) {
			t.Fatalf("an update from %d to %d with %d bids follows %d", u.First, u.Last, len(u.Bids), next-1)
		}
		next = u.Last + 1
	}
}
