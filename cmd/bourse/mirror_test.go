package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

const mirrored = "BTC/USDT"

// mostStop bounds a stop while connections are dropped: nothing waits for a client that is gone.
const mostStop = 5 * time.Second

// mirror keeps the state of an account and a market by their streams alone. It equals REST's
// answers, whenever and however often the mirror's connection is cut.
type mirror struct {
	*follower
	book   client.Book
	trades map[uint64]client.Trade
	// orders are the open ones: filled and amount.
	orders    map[uint64]string
	balances  map[string]client.Balance
	transfers map[uint64]string
}

func newMirror(f *follower) *mirror {
	m := &mirror{follower: f, book: client.Book{Pair: mirrored}}
	m.clear(client.MyOrders, client.MyBalances, client.MyTransfers, client.TradesOf(mirrored))
	f.took = m.take
	return m
}

func (m *mirror) clear(streams ...string) {
	for _, stream := range streams {
		switch stream {
		case client.MyOrders:
			m.orders = map[uint64]string{}
		case client.MyBalances:
			m.balances = map[string]client.Balance{}
		case client.MyTransfers:
			m.transfers = map[uint64]string{}
		case client.TradesOf(mirrored):
			m.trades = map[uint64]client.Trade{}
		}
	}
}

// take applies an event. Fills are the follower's.
func (m *mirror) take(e client.Event) error {
	m.book.Apply(e)
	switch message := e.Message.(type) {
	case *client.OrderEvent:
		m.order(message)
	case *client.Balance:
		m.balance(*message)
	case *client.Transaction:
		m.transfer(message)
	case *client.Trade:
		m.trades[message.TradeID] = *message
	case *client.Reset:
		if e.Stream == client.TradesOf(mirrored) {
			return fmt.Errorf("%s was reset", e.Stream) // the history has all trades
		}
		m.reset(e.Stream, message)
	}
	return nil
}

func (m *mirror) reset(stream string, state *client.Reset) {
	m.clear(stream)
	for _, o := range state.Orders {
		m.orders[o.OrderID] = progress(&o)
	}
	for _, b := range state.Balances {
		m.balance(b)
	}
	for _, row := range state.Transactions {
		m.transfer(&row)
	}
}

func progress(o *client.Order) string { return string(o.Filled + " of " + o.Amount) }

func (m *mirror) order(e *client.OrderEvent) {
	switch {
	case e.Event == client.OrderAccepted:
		m.orders[e.OrderID] = progress(&e.Order)
	case e.Event == client.OrderUpdate && e.Status != "":
		delete(m.orders, e.OrderID)
	case e.Event == client.OrderUpdate:
		_, amount, _ := strings.Cut(m.orders[e.OrderID], " of ")
		m.orders[e.OrderID] = string(e.Filled) + " of " + amount
	}
}

func (m *mirror) balance(b client.Balance) {
	b.Time = client.Time{}
	m.balances[b.Asset] = b
}

func (m *mirror) transfer(row *client.Transaction) {
	m.transfers[row.ID] = fmt.Sprint(row.Type, row.Asset, row.Amount, row.Status)
}

// check compares the mirror with REST, and its fills with the journal.
func (m *mirror) check(t *testing.T, c *client.Client, journaled map[string]client.Fill) {
	t.Helper()
	ctx := t.Context()
	rest := newMirror(&follower{})
	for row, err := range c.OpenOrders(ctx, "") {
		must(t, err)
		rest.orders[row.OrderID] = progress(&row)
	}
	for row, err := range c.Balances(ctx) {
		must(t, err)
		rest.balance(row)
	}
	for row, err := range c.Transactions(ctx, client.Movements{}) {
		must(t, err)
		rest.transfer(&row)
	}
	for row, err := range c.Trades(ctx, mirrored) {
		must(t, err)
		rest.trades[row.TradeID] = row
	}
	book, err := c.OrderBook(ctx, mirrored, 0)
	must(t, err)

	equal(t, "fills", m.fills, restFills(t, c, nil))
	equal(t, "fills by the journal", untimed(m.fills), journaled)
	equal(t, "trades", m.trades, rest.trades)
	equal(t, "orders", m.orders, rest.orders)
	equal(t, "balances", m.balances, rest.balances)
	equal(t, "transfers", m.transfers, rest.transfers)
	equal(t, "bids", levels(m.book.Bids()), levels(book.Bids))
	equal(t, "asks", levels(m.book.Asks()), levels(book.Asks))
	if len(m.fills) == 0 || len(m.orders) == 0 || len(m.balances) == 0 || len(m.book.Bids()) == 0 {
		t.Errorf("a mirror has %d fills, %d orders, %d balances and %d bids",
			len(m.fills), len(m.orders), len(m.balances), len(m.book.Bids()))
	}
}

func levels(rows []client.Row) map[string]client.Decimal {
	list := map[string]client.Decimal{}
	for _, row := range rows {
		list[string(row.Price)] = row.Amount
	}
	return list
}

// TestMirrorsLoseNothing lets clients follow their streams through drops, kill -9 and
// restarts while they trade. In the end each has the orders, fills, balances, transfers and
// book that REST answers.
func TestMirrorsLoseNothing(t *testing.T) {
	// How much a read takes, and so how soon it is the last, depends on the machine.
	const lives, mostLives, perLife, enoughDrops = 6, 60, 150, 100
	s := start(t, t.TempDir(), "--bots=false", "--segment-size=256KiB", "--snapshot-every=300")
	up := &uplink{up: make(chan struct{})}
	up.serve(s.url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var traders []*trader
	var mirrors []*mirror
	for i := range uint64(2) {
		account, key := s.customer(fmt.Sprintf("m%d", i))
		traders = append(traders, newTrader(key, rand.New(rand.NewPCG(i, 1))))
		for k := range uint64(2) {
			m := newMirror(newFollower(up, account, key, rand.New(rand.NewPCG(i, k+2)), 20<<(3*k)))
			m.follow(ctx, client.MyOrders, client.MyTrades, client.MyBalances, client.MyTransfers,
				client.BookOf(mirrored), client.TradesOf(mirrored))
			mirrors = append(mirrors, m)
		}
	}

	for life := 0; life < lives || life < mostLives && drops(mirrors) < enoughDrops; life++ {
		traded := tradeTogether(t, s.url, traders, perLife)
		up.down()
		if life%2 == 0 {
			s.kill()
		} else if code, took := s.stop(); code != 0 || took > mostStop {
			t.Errorf("exit %d, %v after the signal", code, took)
		}
		traded.Wait()
		s.start()
		up.serve(s.url)
		for _, c := range traders {
			c.check(t, s.url)
		}
	}

	resets, journaled := 0, s.journaled()
	for i, m := range mirrors {
		must(t, m.end())
		must(t, m.settle(ctx))
		m.check(t, traders[i/2].at(s.url), journaled[m.account])
		resets += m.resets
	}
	t.Logf("%d drops, %d resets", drops(mirrors), resets)
	if drops(mirrors) < enoughDrops || resets == 0 {
		t.Errorf("%d drops, %d resets: too few to show anything", drops(mirrors), resets)
	}
}

// drops counts the connections of mirrors that ended.
func drops(mirrors []*mirror) (n int) {
	for _, m := range mirrors {
		m.mu.Lock()
		n += m.drops
		m.mu.Unlock()
	}
	return n
}
