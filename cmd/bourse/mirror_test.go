package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// mirror is a client of the streams that follows the recipe of their documentation: what it
// keeps is what REST answers, whenever and however often it is cut off.
type mirror struct {
	key string
	rng *rand.Rand
	// since has the number of the last message of each stream.
	since map[string]uint64
	// fills and trades are by trade_id and, for fills, role: what their rows say.
	fills, trades map[string]string
	// orders are the open ones, by obid: filled and left.
	orders map[uint64]string
	// balances are by asset, levels by side and price, transfers by xid.
	balances, levels map[string]string
	transfers        map[uint64]string
	// drops counts the connections, resets the states that replaced what it knew.
	drops, resets int
}

const mirrored = "BTC/USDT"

// mirroredStreams are the streams that a mirror keeps.
var mirroredStreams = []string{
	"myOrders", "myTrades", "myBalances", "myTransfers", mirrored + "@orderBook", mirrored + "@marketTrade",
}

func newMirror(key string, rng *rand.Rand) *mirror {
	m := &mirror{
		key: key, rng: rng, since: map[string]uint64{}, fills: map[string]string{}, trades: map[string]string{},
		orders: map[uint64]string{}, balances: map[string]string{}, levels: map[string]string{}, transfers: map[uint64]string{},
	}
	for _, name := range mirroredStreams {
		m.since[name] = 0
	}
	return m
}

// told is a message of a stream. It has the fields of all streams, and of the rows of all
// states.
type told struct {
	Class, Stream, Event, Error string
	Success                     bool
	ID, Seq                     uint64
	State                       struct {
		Orders, Trades, Transactions []told
		Balances                     map[string]told
		Bids, Asks                   []told
	}
	Obid, Xid                        uint64
	TradeID                          uint64 `json:"trade_id"`
	Pair, Side, Role, Price, Amount  string
	Fee, Status, Filled, Left        string
	Asset, Total, Locked, Avbl, Type string
}

func (m *told) fill() (key, row string) {
	return fmt.Sprintf("%d %s", m.TradeID, m.Role), fmt.Sprint(m.Obid, m.Side, m.Price, m.Amount, m.Total, m.Fee)
}

func (m *told) trade() (key, row string) {
	return fmt.Sprint(m.TradeID), fmt.Sprint(m.Side, m.Price, m.Amount, m.Total)
}

func (m *told) balance() string { return m.Total + " " + m.Locked + " " + m.Avbl }

func (m *told) transfer() string { return fmt.Sprint(m.Type, m.Asset, m.Amount, m.Status) }

// follow keeps the mirror until the context ends, over connections that it drops after so
// many messages at most.
func (m *mirror) follow(ctx context.Context, url string, most int) error {
	for ctx.Err() == nil {
		left := 1 + m.rng.IntN(most)
		if err := m.connect(ctx, url, func() bool { left--; return left > 0 }); err != nil {
			return err
		}
	}
	return nil
}

// errGap means that a stream skipped or repeated a message.
var errGap = errors.New("gap in a stream")

// connect follows one connection until more reports false, the context ends, or the
// exchange does. Only a defect of the exchange is an error.
func (m *mirror) connect(ctx context.Context, url string, more func() bool) error {
	conn, early, _, err := ws.Dial(ctx, "ws"+strings.TrimPrefix(url, "http")+"/stream")
	if err != nil {
		return nil // the exchange is down
	}
	m.drops++
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	from := io.ReadWriter(conn)
	if early != nil {
		from = struct {
			io.Reader
			io.Writer
		}{early, conn}
	}
	if !m.subscribe(conn) {
		return nil
	}
	for more() {
		text, err := wsutil.ReadServerText(from)
		if err != nil {
			return nil // the connection ended
		}
		if err := m.take(text); err != nil {
			return err
		}
	}
	return nil
}

// subscribe logs in and resumes all streams. The ping behind it is answered when all that
// was missed has come.
func (m *mirror) subscribe(conn net.Conn) bool {
	for _, request := range []map[string]any{
		{"op": "auth", "id": 1, "api_key": m.key},
		{"op": "sub", "id": 2, "streams": mirroredStreams, "since": m.since},
		{"op": "ping", "id": 3},
	} {
		text, err := json.Marshal(request)
		if err != nil || wsutil.WriteClientText(conn, text) != nil {
			return false
		}
	}
	return true
}

// take applies a message.
func (m *mirror) take(text []byte) error {
	var t told
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	switch {
	case t.Class == "resp" && !t.Success:
		return fmt.Errorf("request %d: %s", t.ID, t.Error)
	case t.Class == "resp":
		return nil
	case t.Class == "reset":
		m.resets++
		m.since[t.Stream] = t.Seq
		return m.reset(&t)
	case t.Seq <= m.since[t.Stream]:
		return nil // in the state already
	case t.Seq != m.since[t.Stream]+1:
		return fmt.Errorf("%w: %s goes from %d to %d", errGap, t.Stream, m.since[t.Stream], t.Seq)
	}
	m.since[t.Stream] = t.Seq
	m.apply(&t)
	return nil
}

func (m *mirror) apply(t *told) {
	switch t.Stream {
	case "myOrders":
		m.order(t)
	case "myTrades":
		key, row := t.fill()
		m.fills[key] = row
	case "myBalances":
		m.balances[t.Asset] = t.balance()
	case "myTransfers":
		m.transfers[t.Xid] = t.transfer()
	case mirrored + "@marketTrade":
		key, row := t.trade()
		m.trades[key] = row
	case mirrored + "@orderBook":
		m.level(t.Side, t)
	}
}

func (m *mirror) order(t *told) {
	switch {
	case t.Event == "orderAccepted":
		m.orders[t.Obid] = t.Filled + " of " + t.Amount
	case t.Event == "orderUpdate" && t.Status != "":
		delete(m.orders, t.Obid)
	case t.Event == "orderUpdate":
		_, amount, _ := strings.Cut(m.orders[t.Obid], " of ")
		m.orders[t.Obid] = t.Filled + " of " + amount
	}
}

func (m *mirror) level(side string, t *told) {
	key := side + " " + t.Price
	if m.levels[key] = t.Amount; t.Amount == "0" {
		delete(m.levels, key)
	}
}

// reset replaces what is known of a stream. Fills and trades are all in the history, so
// that a reset of them is a defect here.
func (m *mirror) reset(t *told) error {
	switch t.Stream {
	case "myOrders":
		clear(m.orders)
		for _, o := range t.State.Orders {
			m.orders[o.Obid] = o.Filled + " of " + o.Amount
		}
	case "myBalances":
		clear(m.balances)
		for asset, b := range t.State.Balances {
			m.balances[asset] = b.balance()
		}
	case "myTransfers":
		clear(m.transfers)
		for _, row := range t.State.Transactions {
			m.transfers[row.Xid] = row.transfer()
		}
	case mirrored + "@orderBook":
		clear(m.levels)
		for _, l := range t.State.Bids {
			m.level("BUY", &l)
		}
		for _, l := range t.State.Asks {
			m.level("SELL", &l)
		}
	default:
		return fmt.Errorf("%s was reset", t.Stream)
	}
	return nil
}

// settle follows until everything that happened has come: the answer to the ping and, as
// nothing happens any more, a second of silence.
func (m *mirror) settle(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return m.connect(ctx, url, func() bool { return true })
}

// check compares the mirror with REST.
func (m *mirror) check(t *testing.T, url string) {
	t.Helper()
	rest := newMirror(m.key, nil)
	for _, row := range listedRows(t, url, "/spot/open_orders", m.key, "orders") {
		rest.orders[row.Obid] = row.Filled + " of " + row.Amount
	}
	for _, row := range listedRows(t, url, "/spot/trades_history", m.key, "trades") {
		key, text := row.fill()
		if _, twice := rest.fills[key]; twice {
			t.Errorf("fill %s is twice in REST", key)
		}
		rest.fills[key] = text
	}
	for _, row := range listedRows(t, url, "/spot/trades", "", "trades") {
		key, text := row.trade()
		rest.trades[key] = text
	}
	for _, row := range listedRows(t, url, "/wallet/transactions", m.key, "transactions") {
		rest.transfers[row.Xid] = row.transfer()
	}

	for more := true; more; {
		page, err := ask[struct {
			Balances map[string]told
		}](http.DefaultClient, url, "/wallet/balances", map[string]any{"api_key": m.key, "offset": len(rest.balances)})
		must(t, err)
		for asset, b := range page.Balances {
			rest.balances[asset] = b.balance()
		}
		more = len(page.Balances) > 0
	}
	book, err := ask[struct{ Bids, Asks []told }](http.DefaultClient, url, "/spot/orderbook", map[string]any{"pair": mirrored})
	must(t, err)
	for side, list := range map[string][]told{"BUY": book.Bids, "SELL": book.Asks} {
		for _, l := range list {
			rest.level(side, &l)
		}
	}

	equal(t, "orders", m.orders, rest.orders)
	equal(t, "fills", m.fills, rest.fills)
	equal(t, "trades", m.trades, rest.trades)
	equal(t, "balances", m.balances, rest.balances)
	equal(t, "levels", m.levels, rest.levels)
	equal(t, "transfers", m.transfers, rest.transfers)
}

// listedRows reads all pages of a list.
func listedRows(t *testing.T, url, path, key, name string) (list []told) {
	t.Helper()
	for {
		body := map[string]any{"offset": len(list)}
		if key != "" {
			body["api_key"] = key
		} else {
			body["pair"] = mirrored
		}
		page, err := ask[map[string]json.RawMessage](http.DefaultClient, url, path, body)
		must(t, err)
		var more []told
		must(t, json.Unmarshal(page[name], &more))
		if len(more) == 0 {
			return list
		}
		list = append(list, more...)
	}
}

// equal compares a part of a mirror with REST.
func equal[K ~string | ~uint64](t *testing.T, what string, got, want map[K]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %v is %q, REST has %q", what, key, got[key], want[key])
			break
		}
	}
	t.Errorf("%s: the mirror has %d, REST %d", what, len(got), len(want))
}

// TestMirrorsLoseNothing lets clients follow their streams through drops, kill -9 and
// restarts while they trade. In the end each has the orders, fills, balances, transfers and
// book that REST answers.
func TestMirrorsLoseNothing(t *testing.T) {
	const lives, perLife = 6, 150
	s := start(t, t.TempDir(), "--bots=false", "--segment-size=256KiB", "--snapshot-every=300")
	var traders []*trader
	var mirrors []*mirror
	for i := range uint64(2) {
		_, key := s.customer(fmt.Sprintf("m%d", i))
		traders = append(traders, newTrader(key, rand.New(rand.NewPCG(i, 1))))
		for k := range uint64(2) {
			mirrors = append(mirrors, newMirror(key, rand.New(rand.NewPCG(i, k+2))))
		}
	}

	for life := range lives {
		ctx, cancel := context.WithCancel(t.Context())
		ends := make(chan error, len(mirrors))
		for i, m := range mirrors {
			go func() { ends <- m.follow(ctx, s.url, 100<<(2*i)) }()
		}
		var traded []chan struct{}
		for _, c := range traders {
			traded = append(traded, c.tradeOn(t, s.url, perLife))
		}
		if life%2 == 0 {
			s.kill()
		} else {
			s.stop()
		}
		cancel()
		for range mirrors {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		for _, ended := range traded {
			<-ended
		}
		s.start()
		for _, c := range traders {
			c.check(t, s.url)
		}
	}

	drops, resets := 0, 0
	for _, m := range mirrors {
		must(t, m.settle(t.Context(), s.url))
		m.check(t, s.url)
		drops, resets = drops+m.drops, resets+m.resets
		if len(m.fills) == 0 || len(m.orders) == 0 || len(m.levels) == 0 || len(m.balances) == 0 {
			t.Errorf("a mirror has %d fills, %d orders, %d levels and %d balances", len(m.fills), len(m.orders),
				len(m.levels), len(m.balances))
		}
	}
	t.Logf("%d drops, %d resets", drops, resets)
	if drops < 100 || resets == 0 {
		t.Errorf("%d drops, %d resets: too few to show anything", drops, resets)
	}
}
