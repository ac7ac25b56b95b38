package client_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// follower follows streams until stop, and keeps their book, fills and orders.
type follower struct {
	t      *testing.T
	stream client.Stream
	book   client.Book
	// fills counts the messages of each fill, by nameOf.
	fills  map[string]int
	orders map[uint64]client.Order
	// drops and resets count events.
	drops  atomic.Int64
	resets int
	cancel context.CancelFunc
	done   chan error
}

// follow follows the streams of a market and of an account.
func follow(t *testing.T, c *client.Client, pair string) *follower {
	f := &follower{
		t: t, book: client.Book{Pair: pair}, fills: map[string]int{}, orders: map[uint64]client.Order{},
		stream: client.Stream{Names: []string{client.MyTrades, client.BookOf(pair), client.MyOrders, client.TickerOf(pair)}},
		done:   make(chan error, 1),
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.cancel = cancel
	go func() {
		for event, err := range c.Follow(ctx, &f.stream) {
			if err != nil {
				f.done <- err
				break
			}
			f.take(event)
		}
	}()
	return f
}

// nameOf returns a fill's name in its market: an account may have both sides of a trade.
func nameOf(m *client.Fill) string { return fmt.Sprint(m.TradeID, m.Role) }

func (f *follower) take(e client.Event) {
	f.book.Apply(e)
	switch m := e.Message.(type) {
	case *client.Fill:
		f.fills[nameOf(m)]++
	case *client.OrderEvent:
		switch {
		case m.Event == client.OrderAccepted:
			f.orders[m.OrderID] = m.Order
		case m.Status != "":
			delete(f.orders, m.OrderID)
		}
	case *client.Reset:
		f.resets++
		if e.Stream == client.MyOrders {
			clear(f.orders)
			for _, o := range m.Orders {
				f.orders[o.OrderID] = o
			}
		}
	case *client.Dropped:
		f.drops.Add(1)
		if errors.Is(m.Err, client.ErrGap) {
			f.t.Error(m.Err)
		}
	}
}

// stop ends the follower and delivers the messages that it has missed.
func (f *follower) stop(c *client.Client) {
	f.t.Helper()
	f.cancel()
	if err := <-f.done; !errors.Is(err, context.Canceled) {
		f.t.Fatal(err)
	}
	for event, err := range c.Follow(soon(f.t), &f.stream) {
		must(f.t, err)
		f.take(event)
		if _, ok := event.Message.(*client.Current); ok {
			return
		}
	}
}

// check compares a follower with REST.
func (f *follower) check(c *client.Client) {
	f.t.Helper()
	ctx := soon(f.t)
	book := ok(c.OrderBook(ctx, f.book.Pair, 0))(f.t)
	if f.book.Seq != book.Seq || !slices.Equal(f.book.Bids(), book.Bids) || !slices.Equal(f.book.Asks(), book.Asks) {
		f.t.Errorf("the book at %d is\n%v\n%v\nand REST's at %d\n%v\n%v",
			f.book.Seq, f.book.Bids(), f.book.Asks(), book.Seq, book.Bids, book.Asks)
	}
	fills := collect(f.t, c.Fills(ctx, client.Past{}))
	for _, row := range fills {
		if n := f.fills[nameOf(&row)]; n != 1 {
			f.t.Errorf("fill %s was told %d times", nameOf(&row), n)
		}
	}
	if len(fills) != len(f.fills) {
		f.t.Errorf("%d fills were told, REST has %d", len(f.fills), len(fills))
	}
	var open []uint64
	for _, o := range collect(f.t, c.OpenOrders(ctx, "")) {
		open = append(open, o.OrderID)
	}
	slices.Sort(open)
	if told := slices.Sorted(maps.Keys(f.orders)); !slices.Equal(told, open) {
		f.t.Errorf("open by the stream %v, by REST %v", told, open)
	}
}

// quote trades at random.
func quote(t *testing.T, c *client.Client, pair string, orders int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for range orders {
		price := client.Decimal(fmt.Sprintf("%d", 10+rng.IntN(10)))
		amount := client.Decimal(fmt.Sprintf("%d", 1+rng.IntN(5)))
		_, err := c.PlaceOnce(t.Context(), limit(pair, []client.Side{client.Buy, client.Sell}[rng.IntN(2)], price, amount))
		must(t, err)
	}
}

// TestFollow keeps fills, orders and a book over connections that break, a kill of the exchange
// and a restart.
func TestFollow(t *testing.T) {
	// How much a read takes, and so how soon it is the last, depends on the machine.
	const pair, orders, mostLives, enoughDrops = "LTC/USDT", 150, 20, 10
	x := another(t)
	other := x.client(t, client.Options{})
	rng := rand.New(rand.NewPCG(3, 4))
	key := ok(x.open(rich))(t)
	own := ok(client.New(x.url(), client.Options{Key: key, Dial: x.dial}))(t)
	told := ok(client.New(x.url(), client.Options{Key: key, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := x.dial(ctx, network, address)
		return &outside.Fleeting{Conn: conn, Left: 3 + rng.IntN(20)}, err
	}}))(t)

	f := follow(t, told, pair)
	for life := 0; life < 2 || life < mostLives && f.drops.Load() < enoughDrops; life++ {
		quote(t, own, pair, orders)
		quote(t, other, pair, orders/3)
		if life == 0 {
			x.kill()
			must(t, x.start())
		}
	}
	f.stop(own)
	f.check(own)
	if f.drops.Load() < enoughDrops || f.resets == 0 || len(f.fills) == 0 {
		t.Errorf("%d drops, %d resets, %d fills: too few to show anything", f.drops.Load(), f.resets, len(f.fills))
	}
	t.Logf("%d drops, %d resets, %d fills", f.drops.Load(), f.resets, len(f.fills))
}

// TestMessages checks the fields of a message of each stream.
func TestMessages(t *testing.T) {
	const pair = "ATOM/USDT"
	ctx, x := soon(t), sandbox
	c, other := x.client(t, client.Options{}), x.client(t, client.Options{})
	names := []string{
		client.MyOrders, client.MyTrades, client.MyBalances, client.MyTransfers, client.TradesOf(pair), client.BookOf(pair),
		client.TickerOf(pair), client.TickerExOf(pair), client.CandlesOf(pair, "60"),
	}
	seen := map[string]client.Message{}
	for event, err := range c.Follow(ctx, &client.Stream{Names: names}) {
		must(t, err)
		if event.Stream != "" && event.Seq == 0 {
			t.Errorf("%+v has no number", event)
		}
		switch m := event.Message.(type) {
		case *client.Current:
			o := limit(pair, client.Sell, "9", "10")
			ok(other.Place(ctx, o))(t)
			o = limit(pair, client.Buy, "9", "10")
			o.ClientID = "told"
			ok(c.Place(ctx, o))(t)
			var to struct{ Address string }
			must(t, outside.Operate(x.socket, "devnet/address", map[string]any{"network": "BTC"}, &to))
			ok(c.Withdraw(ctx, &client.NewWithdrawal{
				Asset: "BTC", Network: "BTC", Address: to.Address, Amount: "0.5", Fee: "0.0001", SaveAs: "me",
			}))(t)
		case *client.Reset, *client.Dropped:
		default:
			seen[event.Stream] = m
		}
		if len(seen) == len(names) {
			break
		}
	}

	exact := func(at client.Time) bool { return time.Since(at.Time) < patience }
	order := seen[client.MyOrders].(*client.OrderEvent)
	fill := seen[client.MyTrades].(*client.Fill)
	balance := seen[client.MyBalances].(*client.Balance)
	transfer := seen[client.MyTransfers].(*client.Transaction)
	trade := seen[client.TradesOf(pair)].(*client.Trade)
	ticker := seen[client.TickerExOf(pair)].(*client.Ticker)
	candle := seen[client.CandlesOf(pair, "60")].(*client.Candle)
	for what, good := range map[string]bool{
		"order":    order.Event == client.OrderUpdate && order.Status == client.Filled && order.Left == "0" && order.ClientID == "told" && exact(order.Time),
		"fill":     fill.OrderID == order.OrderID && fill.Price == "9" && fill.Role == client.Taker && exact(fill.Time),
		"trade":    trade.TradeID == fill.TradeID && trade.Time == fill.Time && trade.Side == client.Buy && trade.Total == "90",
		"balance":  balance.Asset != "" && !balance.Total.IsZero() && exact(balance.Time),
		"transfer": transfer.Type == "WITHDRAWAL" && transfer.Amount == "0.5" && exact(transfer.Created),
		"ticker":   ticker.Price == "9" && !ticker.BaseVolume.IsZero(),
		"candle":   candle.Close == "9" && candle.Pair == pair && candle.Time.Unix()%3600 == 0,
	} {
		if !good {
			t.Errorf("%s: %+v", what, seen)
		}
	}
	if saved := ok(c.AddressBook(ctx, "BTC", ""))(t); len(saved) != 1 || saved[0].Name != "me" || saved[0].ID == 0 {
		t.Errorf("address book: %+v", saved)
	}
}

// TestFollowEnds ends loops: by a break, by the context, and by refusals.
func TestFollowEnds(t *testing.T) {
	c := sandbox.client(t, client.Options{})
	s := &client.Stream{Names: []string{client.BookOf("BTC/USDT")}}
	for _, err := range c.Follow(soon(t), s) {
		must(t, err)
		break
	}

	ends := func(c *client.Client, s *client.Stream) (last error) {
		ctx, cancel := context.WithCancel(soon(t))
		for event, err := range c.Follow(ctx, s) {
			last = err
			if _, current := event.Message.(*client.Current); current {
				cancel()
			}
		}
		cancel()
		return last
	}
	stranger := ok(client.New(sandbox.url(), client.Options{Key: strings.Repeat("0", 64)}))(t)
	lost := ok(client.New(sandbox.url()+"/nowhere", client.Options{}))(t)
	if err := ends(c, s); !errors.Is(err, context.Canceled) {
		t.Errorf("the context's end: %v", err)
	}
	if err := ends(stranger, &client.Stream{Names: []string{client.MyTrades}}); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("a key of nobody: %v", err)
	}
	for _, name := range []string{client.BookOf("NO/SUCH"), "myDreams", ""} {
		if err := ends(c, &client.Stream{Names: []string{name}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the stream %q: %v", name, err)
		}
	}
	if err := ends(lost, s); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("no streams: %v", err)
	}
}

// TestManyStreams subscribes to more streams than a request may resume.
func TestManyStreams(t *testing.T) {
	c := sandbox.client(t, client.Options{})
	var names []string
	for market, err := range c.Markets(soon(t), client.Select{}) {
		must(t, err)
		pair := market.Pair
		names = append(names, client.TradesOf(pair), client.BookOf(pair), client.TickerOf(pair), client.TickerExOf(pair))
		for _, resolution := range []string{"1", "60", "1D"} {
			names = append(names, client.CandlesOf(pair, resolution))
		}
	}
	names = slices.Repeat(names, 1+64/len(names)) // named twice, a stream is sent once
	for event, err := range c.Follow(soon(t), &client.Stream{Names: names}) {
		must(t, err)
		if _, current := event.Message.(*client.Current); current {
			return
		}
	}
}

// TestCancelOnClose lets the exchange cancel when a loop ends.
func TestCancelOnClose(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	placed := ok(c.Place(ctx, limit("ATOM/USDT", client.Buy, "4", "10")))(t)
	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyOrders}, CancelOnClose: true}) {
		must(t, err)
		if _, current := event.Message.(*client.Current); current {
			break
		}
	}
	for event, err := range c.Follow(ctx, &client.Stream{Names: []string{client.MyOrders}}) {
		must(t, err)
		if o := ok(c.Order(ctx, placed.OrderID))(t); o.Status == client.Canceled {
			return
		}
		if m, told := event.Message.(*client.OrderEvent); told && m.OrderID == placed.OrderID && m.Status == client.Canceled {
			return
		}
	}
}

// TestSlow lets a loop fall behind: the exchange closes its connection, and no message is lost.
func TestSlow(t *testing.T) {
	const pair, orders = "ETH/USDT", 6000
	x := another(t)
	key := ok(x.open(rich))(t)
	c := ok(client.New(x.url(), client.Options{Key: key, Dial: x.dial}))(t)
	narrow := ok(client.New(x.url(), client.Options{Key: key, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := x.dial(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return conn, err
	}}))(t)

	f := &follower{
		t: t, book: client.Book{Pair: pair}, fills: map[string]int{}, orders: map[uint64]client.Order{},
		stream: client.Stream{Names: []string{client.BookOf(pair), client.MyOrders, client.MyBalances}},
	}
	slow, connections := false, 0
	for event, err := range narrow.Follow(soon(t), &f.stream) {
		must(t, err)
		f.take(event)
		switch m := event.Message.(type) {
		case *client.Dropped:
			var closed *client.ClosedError
			slow = slow || errors.As(m.Err, &closed) && closed.Code == 4408
		case *client.Current:
			connections++
			if connections == 1 {
				placeAndCancel(t, c, pair, orders)
			}
		}
		if connections == 2 {
			break
		}
	}
	if !slow {
		t.Error("the exchange did not close a slow connection")
	}
	f.check(c)
}

// placeAndCancel places so many orders at as many prices, and cancels them.
func placeAndCancel(t *testing.T, c *client.Client, pair string, orders int64) {
	t.Helper()
	var work sync.WaitGroup
	var next atomic.Int64
	for range 16 {
		work.Go(func() {
			for n := next.Add(1); n <= orders; n = next.Add(1) {
				o := limit(pair, client.Sell, client.Decimal(fmt.Sprint(3000+n)), "0.01")
				o.RespType = client.RespNone
				if _, err := c.Place(t.Context(), o); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	ok(c.CancelAll(t.Context(), ""))(t)
}
