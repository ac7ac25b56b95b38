package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
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

// collect returns the rows of a list.
func collect[R any](t *testing.T, list iter.Seq2[R, error]) (rows []R) {
	t.Helper()
	for row, err := range list {
		must(t, err)
		rows = append(rows, row)
	}
	return rows
}

// TestMarketData reads all that needs no key.
func TestMarketData(t *testing.T) {
	ctx := soon(t)
	c := ok(client.New(sandbox.url(), client.Options{}))(t)
	markets := collect(t, c.Markets(ctx, client.Select{Quote: "USDT"}))
	at := slices.IndexFunc(markets, func(m client.Market) bool { return m.Pair == "BTC/USDT" })
	if at < 0 || markets[at].Base != "BTC" || markets[at].PricePrecision != 2 || markets[at].MinOrder.IsZero() {
		t.Errorf("markets: %+v", markets)
	}
	if one := collect(t, c.Markets(ctx, client.Select{Pair: "ETH/BTC"})); len(one) != 1 || one[0].Quote != "BTC" {
		t.Errorf("one market: %+v", one)
	}
	if config := ok(c.Config(ctx))(t); !slices.Contains(config.Quotes, "USDT") || config.DefaultPair == "" {
		t.Errorf("config: %+v", config)
	}
	if now := ok(c.Time(ctx))(t); time.Since(now.Time).Abs() > time.Minute {
		t.Errorf("the exchange's time is %v", now)
	}
	assets := collect(t, c.Assets(ctx, ""))
	if !slices.ContainsFunc(assets, func(a client.Asset) bool { return a.Symbol == "BTC" && a.Name == "Bitcoin" }) {
		t.Errorf("assets: %+v", assets)
	}
	if networks := ok(c.Networks(ctx, "USDT"))(t); len(networks) == 0 || networks[0].Symbol == "" {
		t.Errorf("networks: %+v", networks)
	}
}

// TestOrders trades, and finds all of it in the lists, page after page.
func TestOrders(t *testing.T) {
	const pair, trades = "ETH/BTC", 60
	ctx := soon(t)
	c, other := sandbox.client(t, client.Options{}), sandbox.client(t, client.Options{})
	began := time.Now().Add(-time.Second)
	for i := range trades {
		sale := ok(other.Place(ctx, limit(pair, client.Sell, "0.05", client.Decimal(fmt.Sprintf("0.%03d", i+100)))))(t)
		o := limit(pair, client.Buy, "0.05", client.Decimal(fmt.Sprintf("0.%03d", i+100)))
		if o.ClientID = fmt.Sprint("n", i); i == 0 {
			o.RespType = client.RespACK
		}
		bought := ok(c.Place(ctx, o))(t)
		if i > 0 && (bought.Status != client.Filled || bought.Filled != o.Amount[:len(strings.TrimRight(string(o.Amount), "0"))]) {
			t.Fatalf("order %d: %+v after %+v", i, bought, sale)
		}
	}

	own := client.Past{Pair: pair}
	fills := collect(t, c.Fills(ctx, own))
	if len(fills) != trades || fills[0].Role != client.Taker || fills[0].Side != client.Buy || fills[0].Fee.IsZero() {
		t.Fatalf("%d fills, first %+v", len(fills), fills[0])
	}
	if all := collect(t, c.Fills(ctx, client.Past{From: began, To: time.Now().Add(time.Second)})); !slices.Equal(all, fills) {
		t.Errorf("%d fills of all pairs", len(all))
	}
	for i, tr := range collect(t, c.Trades(ctx, pair))[:trades] {
		if tr.TradeID != fills[i].TradeID || tr.Time != fills[i].Time || tr.Total != fills[i].Total || tr.Pair != pair {
			t.Fatalf("trade %+v, fill %+v", tr, fills[i])
		}
	}
	orders := collect(t, c.Orders(ctx, own))
	if len(orders) != trades || orders[0].ClientID != fmt.Sprint("n", trades-1) || len(orders[0].Trades) != 1 {
		t.Errorf("%d orders, first %+v", len(orders), orders[0])
	}
	if later := collect(t, c.Orders(ctx, client.Past{From: time.Now().Add(time.Hour)})); len(later) > 0 {
		t.Errorf("%d orders of the future", len(later))
	}
	if o := ok(c.OrderByClientID(ctx, "n7"))(t); o.Status != client.Filled || o.Trades[0].OrderID != o.OrderID {
		t.Errorf("order n7: %+v", o)
	}
	hours := collect(t, c.Candles(ctx, pair, "60", began.Add(-time.Hour), time.Now()))
	if last := hours[len(hours)-1]; last.Close != "0.05" || last.Volume.IsZero() {
		t.Errorf("candles: %+v", hours)
	}
	if fees := ok(c.Fees(ctx, pair))(t); fees.Taker.IsZero() {
		t.Errorf("fees: %+v", fees)
	}
}

// TestSelfTrade lists both fills of trades of an account with itself, over pages.
func TestSelfTrade(t *testing.T) {
	const trades = 40
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	for range trades {
		for _, side := range []client.Side{client.Buy, client.Sell} {
			o := limit("LTC/USDT", side, "60", "1")
			o.SelfTrade = client.SelfTradeAllow
			ok(c.Place(ctx, o))(t)
		}
	}
	for _, past := range []client.Past{{}, {Pair: "LTC/USDT"}} {
		fills, seen := collect(t, c.Fills(ctx, past)), map[string]bool{}
		for _, f := range fills {
			seen[fmt.Sprint(f.TradeID, f.Role)] = true
		}
		if len(fills) != 2*trades || len(seen) != len(fills) {
			t.Errorf("%+v: %d fills, %d of them different", past, len(fills), len(seen))
		}
	}
}

// TestCancels cancels by id, by name, all and after a time.
func TestCancels(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	const pair = "ATOM/USDT"
	place := func(name string) uint64 {
		o := limit(pair, client.Buy, "5", "10")
		o.ClientID, o.PostOnly = name, true
		return ok(c.Place(ctx, o))(t).OrderID
	}
	first := place("first")
	must(t, c.Cancel(ctx, first))
	if err := c.Cancel(ctx, first); !errors.Is(err, client.ErrOrderNotFound) {
		t.Errorf("the second cancel: %v", err)
	}
	place("second")
	must(t, c.CancelByClientID(ctx, "second"))

	third, fourth := place("third"), place("fourth")
	open := collect(t, c.OpenOrders(ctx, pair))
	if len(open) != 2 || open[0].OrderID != fourth || open[1].ClientID != "third" || open[0].Filled != "0" {
		t.Errorf("open: %+v", open)
	}
	if gone := ok(c.CancelAll(ctx, pair))(t); len(gone) != 2 || !slices.Contains(gone, third) {
		t.Errorf("canceled: %v", gone)
	}
	if o := ok(c.Order(ctx, third))(t); o.Status != client.Canceled || o.Price != "5" {
		t.Errorf("order: %+v", o)
	}

	expires := ok(c.CancelAfter(ctx, pair, time.Hour))(t)
	if left := time.Until(expires.Time); left < 59*time.Minute || left > 61*time.Minute {
		t.Errorf("expires %v", expires)
	}
	if disarmed := ok(c.CancelAfter(ctx, pair, 0))(t); !disarmed.IsZero() {
		t.Errorf("disarmed: %v", disarmed)
	}
}

// TestAmend amends an order by id and by name, again, and to what it cannot be.
func TestAmend(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	o := limit("ATOM/USDT", client.Buy, "5", "10")
	o.ClientID = "amended"
	id := ok(c.Place(ctx, o))(t).OrderID
	for range 2 {
		now := ok(c.Amend(ctx, id, client.Amendment{Amount: "9"}))(t)
		if now.OrderID != id || now.Status != client.Open || now.Filled != "0" {
			t.Errorf("amended: %+v", now)
		}
	}
	ok(c.AmendByClientID(ctx, "amended", client.Amendment{Price: "4.9", Amount: "11"}))(t)
	if now := ok(c.Order(ctx, id))(t); now.Price != "4.9" || now.Amount != "11" || now.Status != client.Open ||
		len(now.Amendments) != 2 || now.Amendments[0].OldAmount != "9" {
		t.Errorf("order: %+v", now)
	} else if older := ok(c.Amendments(ctx, id, now.Amendments[0].AmendmentID))(t); len(older) != 1 || older[0] != now.Amendments[1] {
		t.Errorf("older amendments: %+v", older)
	}

	must(t, c.Cancel(ctx, id))
	if _, err := c.Amend(ctx, id, client.Amendment{Amount: "1"}); !errors.Is(err, client.ErrOrderNotFound) {
		t.Errorf("an amendment of a canceled order: %v", err)
	}
}

// TestReplace puts an order in place of another one, in both modes.
func TestReplace(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	o := limit("ATOM/USDT", client.Buy, "5", "10")
	first := ok(c.Place(ctx, o))(t).OrderID
	o.ClientID = "replaced"
	for range 2 {
		if now := ok(c.Replace(ctx, first, o, false))(t); now.Canceled != nil || now.Rejected != nil ||
			now.Placed.OrderID <= first || now.Placed.Status != client.Open {
			t.Errorf("replaced: %+v", now)
		}
	}

	o.ClientID, o.Amount = "", "1000000000"
	if _, err := c.Replace(ctx, first, o, false); !errors.Is(err, client.ErrOrderNotFound) {
		t.Errorf("in place of a canceled order: %v", err)
	}
	now := ok(c.Replace(ctx, first, o, true))(t)
	var refused *client.Error
	if !errors.Is(now.Canceled, client.ErrOrderNotFound) || !errors.As(now.Rejected, &refused) || refused.Code != "INSUF_FUNDS" {
		t.Errorf("anyway: %+v", now)
	}
	must(t, c.CancelByClientID(ctx, "replaced"))
}

// TestBatch places and cancels orders together.
func TestBatch(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	o, big := limit("ATOM/USDT", client.Buy, "5", "10"), limit("ATOM/USDT", client.Buy, "5", "1000000000")
	o.ClientID = "batched"
	first := ok(c.Place(ctx, limit("ATOM/USDT", client.Buy, "4", "10")))(t).OrderID
	for i := range 2 {
		got := ok(c.Batch(ctx, []client.BatchRequest{{Cancel: first}, {Place: o}, {Place: big}, {CancelClientID: "nobody"}}))(t)
		if len(got) != 4 || (got[0].Err == nil) != (i == 0) || got[1].Err != nil || got[1].Placed.OrderID <= first ||
			got[2].Err == nil || !errors.Is(got[3].Err, client.ErrOrderNotFound) {
			t.Errorf("results: %+v", got)
		}
	}
	must(t, c.CancelByClientID(ctx, "batched"))
}

// TestLists places two lists: of one an order trades in part, the other is canceled whole.
func TestLists(t *testing.T) {
	ctx, c, other := soon(t), sandbox.client(t, client.Options{}), sandbox.client(t, client.Options{})
	const pair = "ETH/BTC"
	up := limit(pair, client.Sell, "0.9", "2")
	down := limit(pair, client.Sell, "0.0001", "2")
	down.Type, down.Stop, down.ClientID = client.StopLimitOrder, "0.0002", "down"

	list := ok(c.PlaceOCOOnce(ctx, up, down))(t)
	again := ok(c.PlaceOCO(ctx, up, down))(t)
	if list.Type != client.OCO || len(list.Orders) != 2 || list.Orders[0].OrderID != list.ListID || again.ListID != list.ListID ||
		list.Orders[0].ClientID != up.ClientID || list.Orders[1].ClientID != "down" || list.Orders[1].Status != client.Open {
		t.Errorf("list: %+v, again: %+v", list, again)
	}
	open := collect(t, c.OpenOrders(ctx, pair))
	if len(open) != 2 || open[0].ListID != list.ListID || open[1].ListID != list.ListID {
		t.Errorf("open: %+v", open)
	}
	bought := limit(pair, client.Buy, "0.9", "1")
	bought.TimeInForce = client.FOK
	ok(other.Place(ctx, bought))(t)
	now := ok(c.List(ctx, list.ListID))(t)
	if now.Status != client.ListOpen || len(now.Orders) != 2 || now.Orders[0].Filled != "1" || now.Orders[1].Status != client.Killed {
		t.Errorf("list: %+v", now)
	}
	must(t, c.CancelList(ctx, list.ListID))
	if err := c.CancelList(ctx, list.ListID); !errors.Is(err, client.ErrListNotFound) {
		t.Errorf("the second cancel: %v", err)
	}
	if now := ok(c.List(ctx, list.ListID))(t); now.Status != client.ListDone {
		t.Errorf("list: %+v", now)
	}
	if _, err := c.List(ctx, list.Orders[1].OrderID); !errors.Is(err, client.ErrListNotFound) {
		t.Errorf("a list of another id: %v", err)
	}
}

// TestRefusals wants an *Error for each kind of refusal.
func TestRefusals(t *testing.T) {
	ctx, c := soon(t), sandbox.client(t, client.Options{})
	o := limit("BTC/USDT", client.Buy, "50000", "1000000")
	o.ClientID = "too-much"
	_, err := c.PlaceOnce(ctx, o)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 200 || !strings.HasPrefix(refused.Message, "INSUF_FUNDS: ") {
		t.Errorf("too much: %v", err)
	}
	if row := ok(c.OrderByClientID(ctx, "too-much"))(t); row.Status != client.Rejected || row.Reason != "INSUF_FUNDS" {
		t.Errorf("the rejected order: %+v", row)
	}
	if _, err := c.OrderBook(ctx, "NO/SUCH", 0); !errors.As(err, &refused) || !strings.Contains(err.Error(), "NO/SUCH") {
		t.Errorf("unknown pair: %v", err)
	}

	stranger := ok(client.New(sandbox.url(), client.Options{Key: strings.Repeat("0", 64)}))(t)
	if _, err := stranger.Fees(ctx, ""); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("a key of nobody: %v", err)
	}
	lost := ok(client.New(sandbox.url()+"/nowhere", client.Options{}))(t)
	if _, err := lost.Config(ctx); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("no endpoint: %v", err)
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ws://127.0.0.1:8080", "http://"} {
		if _, err := client.New(address, client.Options{}); err == nil {
			t.Errorf("%q is an address", address)
		}
	}
}

// deaf is a connection that breaks after a request was sent, before its answer, as often as left
// says.
type deaf struct {
	net.Conn
	left *atomic.Int64
}

// Read breaks the connection.
func (d *deaf) Read(b []byte) (int, error) {
	n, err := d.Conn.Read(b)
	if err == nil && d.left.Add(-1) >= 0 {
		return 0, d.Close()
	}
	return n, err
}

// TestOnce loses the answers of requests: the order and the withdrawal are made once, and a plain
// request says that its outcome is unknown.
func TestOnce(t *testing.T) {
	ctx := soon(t)
	var left atomic.Int64
	c := sandbox.client(t, client.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := sandbox.dial(ctx, network, address)
		return &deaf{conn, &left}, err
	}})

	left.Store(3)
	placed := ok(c.PlaceOnce(ctx, limit("ATOM/USDT", client.Buy, "4", "10")))(t)
	if left.Load() >= 0 {
		t.Fatal("no answer was lost")
	}
	if open := collect(t, c.OpenOrders(ctx, "")); len(open) != 1 || open[0].OrderID != placed.OrderID {
		t.Errorf("placed %+v, open %+v", placed, open)
	}

	left.Store(1)
	o := limit("ATOM/USDT", client.Buy, "4", "10")
	o.ClientID = "plain"
	if _, err := c.Place(ctx, o); !errors.Is(err, client.ErrOutcomeUnknown) {
		t.Errorf("without an answer: %v", err)
	}
	if o := ok(c.OrderByClientID(ctx, "plain"))(t); o.Status != client.Open {
		t.Errorf("the order without an answer: %+v", o)
	}
	left.Store(1)
	if _, err := c.Order(ctx, placed.OrderID); err == nil || errors.Is(err, client.ErrOutcomeUnknown) {
		t.Errorf("a read without an answer: %v", err)
	}

	var to struct{ Address string }
	must(t, outside.Operate(sandbox.socket, "devnet/address", map[string]any{"network": "BTC"}, &to))
	terms := ok(c.WithdrawTerms(ctx, "BTC", "BTC"))(t)
	left.Store(2)
	id := ok(c.WithdrawOnce(ctx, &client.NewWithdrawal{
		Asset: "BTC", Network: "BTC", Address: to.Address, Amount: "0.5", Fee: terms.MinFee,
	}))(t)
	if rows := collect(t, c.Transactions(ctx, client.Movements{Asset: "BTC"})); len(rows) != 1 || rows[0].ID != id {
		t.Errorf("withdrawal %d, listed %+v", id, rows)
	}
}

// TestOnceEnds wants PlaceOnce to end with its context, with ErrOutcomeUnknown only if a request
// was sent.
func TestOnceEnds(t *testing.T) {
	o := limit("ATOM/USDT", client.Buy, "4", "10")
	for refuses, unknown := range map[bool]bool{true: false, false: true} {
		ctx, cancel := context.WithCancel(t.Context())
		var dials atomic.Int64
		c := sandbox.client(t, client.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) > 2 {
				cancel()
			}
			if refuses {
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:1")
			}
			conn, err := sandbox.dial(ctx, network, address)
			left := new(atomic.Int64)
			left.Store(1)
			return &deaf{conn, left}, err
		}})
		if _, err := c.PlaceOnce(ctx, o); err == nil || errors.Is(err, client.ErrOutcomeUnknown) != unknown {
			t.Errorf("with refusals %t: %v", refuses, err)
		}
	}
}

// TestLimits exceeds a limit: a client says so, and one that is asked to waits.
func TestLimits(t *testing.T) {
	x, ctx := another(t, "--limits=production"), soon(t)
	for waits, requests := range map[bool]int{false: 300, true: 130} { // a burst has 100
		c := x.client(t, client.Options{WaitForLimits: waits})
		var work sync.WaitGroup
		var limited atomic.Int64
		for range requests {
			work.Go(func() {
				_, err := c.Order(ctx, 1)
				var refused *client.Error
				switch {
				case errors.Is(err, client.ErrOrderNotFound):
				case errors.Is(err, client.ErrTooManyRequests) && errors.As(err, &refused) && refused.RetryAfter > 0:
					limited.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		work.Wait()
		if n := limited.Load(); (n > 0) == waits {
			t.Errorf("waiting %t, %d of %d requests were refused", waits, n, requests)
		}
	}
}

// TestLimitsAreListed lists the limits of an account, of an address, and of an exchange without any.
func TestLimitsAreListed(t *testing.T) {
	x, ctx := another(t, "--limits=production"), soon(t)
	nobody, without := ok(client.New(x.url(), client.Options{}))(t), ok(client.New(sandbox.url(), client.Options{}))(t)
	for scope, c := range map[string]*client.Client{"account": x.client(t, client.Options{}), "source": nobody} {
		counted := map[string]client.Limit{"account": {100, 99, time.Second}, "source": {200, 199, time.Second}}[scope]
		list := ok(c.Limits(ctx))(t)
		if !slices.ContainsFunc(list, func(l client.ClassLimit) bool { return l.Limit == counted }) {
			t.Errorf("%s: none of %+v counted the request", scope, list)
		}
		for _, l := range list {
			if l.Class == "" || l.Scope != scope || l.Limit.Limit == 0 {
				t.Errorf("%s: %+v", scope, l)
			}
		}
	}
	if list := ok(without.Limits(ctx))(t); len(list) > 0 {
		t.Errorf("without limits: %+v", list)
	}
}
