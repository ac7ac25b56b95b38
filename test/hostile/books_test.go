package hostile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse/client"
)

// TestBooks keeps books from streams during trading. Each book from the endpoint must
// equal the kept one at its sequence, to the letter. Books in between are not compared,
// but errors in them would persist.
func TestBooks(t *testing.T) {
	const pair, writers = "TEST20/USDT", 4
	operations := 400
	if testing.Short() {
		operations /= 8
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	keepers := make([]*keeper, 3)
	for i := range keepers {
		keepers[i] = keep(t, pair)
	}
	var work sync.WaitGroup
	for i := range writers {
		a := attacked.open(t, "1000000 TEST20", "1000000 USDT")
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		work.Go(func() { scribble(t, a, pair, operations, random) })
	}
	work.Wait()
	book, err := attacked.book(pair)
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range keepers {
		compared, err := k.until(book)
		if err != nil {
			t.Errorf("keeper %d: %v", i, err)
		}
		t.Logf("keeper %d: %d messages, %d books compared", i, k.messages, compared)
		if compared == 0 {
			t.Errorf("keeper %d compared nothing", i)
		}
	}
}

// book reads a market's book.
func (x *exchange) book(pair string) (answer, error) {
	nobody := account{x: x, client: x.client}
	got, err := nobody.ask("/orderbook", fields{"pair": pair})
	if err == nil && !got.Success {
		err = errors.New(got.Error)
	}
	return got, err
}

// scribble places and cancels random orders.
func scribble(t *testing.T, a *account, pair string, operations int, random *rand.Rand) {
	var open []uint64
	for range operations {
		if len(open) > 8 {
			at := random.IntN(len(open))
			if _, err := a.ask("/open_orders/cancel", fields{"obid": open[at]}); err != nil {
				t.Error(err)
				return
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		side := []string{"BUY", "SELL"}[random.IntN(2)]
		price := fmt.Sprintf("%d.%d", 9+random.IntN(3), random.IntN(4))
		order := limit(pair, side, price, fmt.Sprintf("%d.%02d", 1+random.IntN(3), random.IntN(100)))
		got, err := a.ask("/open_orders/new", order)
		if err != nil || !got.Success {
			t.Errorf("%+v %v", got, err)
			return
		}
		open = append(open, got.Obid)
	}
}

// keeper keeps a book from the stream.
type keeper struct {
	book client.Book
	// next returns the next event, until cancel.
	next   func() (client.Event, error, bool)
	cancel context.CancelFunc
	// messages counts the applied messages.
	messages int

	// shown are books of the endpoint by sequence. Owned by watch until done.
	shown map[uint64]answer
	stop  chan struct{}
	done  chan error
}

// keep starts to keep a book, and returns once it is subscribed to.
func keep(t *testing.T, pair string) *keeper {
	t.Helper()
	c, err := client.New(attacked.url(""), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	next, leave := iter.Pull2(c.Follow(ctx, &client.Stream{Names: []string{client.BookOf(pair)}}))
	t.Cleanup(leave)
	k := &keeper{
		book: client.Book{Pair: pair}, next: next, cancel: cancel,
		shown: map[uint64]answer{}, stop: make(chan struct{}), done: make(chan error, 1),
	}
	for current := false; !current; {
		if current, err = k.take(); err != nil {
			t.Fatal(err)
		}
	}
	go k.watch()
	return k
}

// take applies the next event, and reports whether it is Current. The connection must not end.
func (k *keeper) take() (current bool, err error) {
	e, err, _ := k.next()
	switch m := e.Message.(type) {
	case *client.Current:
		return true, nil
	case *client.Dropped:
		return false, m.Err
	}
	if k.book.Apply(e) {
		k.messages++
	}
	return false, err
}

// watch requests books from the endpoint one after another.
func (k *keeper) watch() {
	for {
		book, err := attacked.book(k.book.Pair)
		if err != nil {
			k.done <- err
			return
		}
		k.shown[book.Seq] = book

		select {
		case <-k.stop:
			k.done <- nil
			return
		default:
		}
	}
}

// until applies messages up to a last book, and returns the number of books compared.
func (k *keeper) until(last answer) (compared int, err error) {
	close(k.stop)
	if err := <-k.done; err != nil {
		return 0, err
	}
	k.shown[last.Seq] = last

	defer time.AfterFunc(patience, k.cancel).Stop()
	for {
		if book, there := k.shown[k.book.Seq]; there {
			kept, shown := fmt.Sprint(k.book.Bids(), k.book.Asks()), fmt.Sprint(book.Bids, book.Asks)
			if kept != shown {
				return compared, fmt.Errorf("at %d kept was %s, shown %s", k.book.Seq, kept, shown)
			}
			compared++
		}
		if k.book.Seq >= last.Seq {
			return compared, nil
		}
		if _, err := k.take(); err != nil {
			return compared, err
		}
	}
}

// TestSlowConsumers has connections that do not read. They are closed with a reason,
// without a gap before it; other connections miss nothing.
func TestSlowConsumers(t *testing.T) {
	const pair = "TEST21/USDT"
	var streams []string
	for _, kind := range []string{"orderBook", "marketTrade", "ticker", "tickerEx", "candleStick/1", "candleStick/60", "candleStick/1D"} {
		streams = append(streams, pair+"@"+kind)
	}
	quick, err := attacked.subscribe(pair + "@orderBook")
	if err != nil {
		t.Fatal(err)
	}
	defer quick.close()
	slow := make([]*subscription, 3)
	for i := range slow {
		if slow[i], err = attacked.subscribe(streams...); err != nil {
			t.Fatal(err)
		}
		defer slow[i].close()
		_ = slow[i].conn.(*net.TCPConn).SetReadBuffer(32 << 10)
	}
	h := attacked.healthy(t)
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- quick.gapless(stop) }()
	maker, taker := attacked.open(t, "10000000 TEST21"), attacked.open(t, "1000000000 USDT")
	cut := func() bool {
		n, err := attacked.gauge("bourse_streams")
		return err == nil && int(n) <= 2 // the fast subscriber and the healthy client's
	}
	for round := 0; round < 100 && !cut(); round++ {
		takeSide(t, maker, taker, pair)
	}
	if t.Failed() || !eventually(patience, cut) {
		t.Error("those who do not read are still there")
	}
	close(stop)
	takeSide(t, maker, taker, pair) // a message with which the fast subscriber ends
	if err := <-ended; err != nil {
		t.Errorf("who reads noticed: %v", err)
	}
	// All readers at once: the longer a connection does not read, the longer its peer
	// waits before it probes the window again.
	var readers sync.WaitGroup
	for i, s := range slow {
		readers.Go(func() {
			if err := s.cutWell(pair + "@orderBook"); err != nil {
				t.Errorf("slow connection %d: %v", i, err)
			}
		})
	}
	readers.Wait()
	h.end(t)
}

// levels is the number of levels that takeSide takes.
const levels = 300

// takeSide fills a side of a book and takes it with one order.
func takeSide(t *testing.T, maker, taker *account, pair string) {
	t.Helper()
	var work sync.WaitGroup
	for part := range 4 {
		work.Go(func() {
			for i := range levels / 4 {
				order := limit(pair, "SELL", fmt.Sprintf("2%d.%03d", part, i), "1")
				order["resp_type"] = "NONE"
				if got, err := maker.ask("/open_orders/new", order); err != nil || !got.Success {
					t.Errorf("%+v %v", got, err)
					return
				}
			}
		})
	}
	work.Wait()
	got := taker.must(t, "/open_orders/new", immediate(pair, "BUY", "30", fmt.Sprint(levels)))
	if got.Status != "FILLED" {
		t.Errorf("the order ended with %+v", got)
	}
}

// gapless reads a book's messages until stop, and checks that none is missing.
func (s *subscription) gapless(stop chan struct{}) error {
	for {
		m, err := s.next()
		if err != nil {
			return err
		}
		if before := s.seq; !s.follows(m.Seq) {
			return fmt.Errorf("message %d came behind %d", m.Seq, before)
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// cutWell reads the messages of a connection that was cut: none may be missing, and the
// last one is the reason. A reader this slow may lose the end to a reset.
func (s *subscription) cutWell(book string) error {
	_ = s.conn.(*net.TCPConn).SetReadBuffer(1 << 20)
	for {
		m, err := s.next()
		var closed *closedError
		switch {
		case errors.As(err, &closed):
			if closed.code != ws.StatusPolicyViolation || !strings.Contains(closed.reason, "slow") {
				return err
			}
			return nil
		case err != nil && isGone(err):
			return nil
		case err != nil:
			return err
		case m.Stream != book:
			continue
		}
		if before := s.seq; !s.follows(m.Seq) {
			return fmt.Errorf("message %d came behind %d", m.Seq, before)
		}
	}
}
