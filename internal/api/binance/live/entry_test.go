package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// TestSession logs on and off. Requests of the session need no signature.
func TestSession(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3")
	c.fails(http.StatusBadRequest, -1102, "order.place", limit("BUY", "60000.00", "0.001"))
	c.fails(http.StatusBadRequest, -1102, "session.logon", nil)
	wrong := params{}.signed(aliceKey)
	wrong["signature"] = strings.Repeat("0", 64)
	c.fails(http.StatusBadRequest, -1022, "session.logon", wrong)

	p := params{}.signed(aliceKey)
	if got := c.ok("session.logon", p); !strings.Contains(got, `"apiKey":"`+aliceKey+`"`) {
		t.Errorf("logged on: %s", got)
	}
	c.fails(http.StatusBadRequest, -1021, "session.logon", p) // taken once
	c.ok("order.place", limit("BUY", "60000.00", "0.001"))
	c.ok("v3/account.status", params{"timestamp": time.Now().UnixMilli()})
	old := time.Now().Add(-time.Minute).UnixMilli()
	c.fails(http.StatusBadRequest, -1021, "order.place", limit("BUY", "60000.00", "0.001").with(params{"timestamp": old}))

	if got := c.ok("session.logout", nil); !strings.Contains(got, `"apiKey":null`) {
		t.Errorf("logged out: %s", got)
	}
	c.fails(http.StatusBadRequest, -1102, "order.place", limit("BUY", "60000.00", "0.001"))
	c.ok("order.place", limit("BUY", "59000.00", "0.001").signed(bobKey))
	c.fails(http.StatusUnauthorized, -2015, "order.place", limit("BUY", "59000.00", "0.001").signed(readKey))
}

// TestPipeline sends orders while the journal commits nothing: all are taken, in order, before
// the first has its answer, and then answered in order. A read behind them sees them.
func TestPipeline(t *testing.T) {
	const orders = 300
	var taken atomic.Int64
	x := newExchange(t, func(o *binance.Options) {
		o.Turn = func(*api.Limiter, bourse.AccountID, *bourse.NewOrder) (func(), error) {
			taken.Add(1)
			return func() {}, nil
		}
	})
	c, other := x.dial("/ws-api/v3?returnRateLimits=false"), x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	x.place(alice, bourse.Buy, 4_900_000, 1000)
	x.log.Hold()
	first := c.next + 1
	for i := range orders {
		c.request("order.place", limit("BUY", fmt.Sprintf("%d.00", 50000+i), "0.001").with(params{"newOrderRespType": "RESULT"}))
	}
	c.request("openOrders.status", params{"symbol": "BTCUSDT"})
	c.request("openOrders.cancelAll", params{"symbol": "BTCUSDT"})
	c.request("openOrders.status", params{"symbol": "BTCUSDT"})
	x.await(func() bool { return taken.Load() == orders })
	for range 100 {
		other.ok("time", nil) // meanwhile the reader has come to the cancel
	}
	x.log.Release()

	last := 0
	for i := range orders {
		a := c.answered()
		var o struct {
			OrderID int
			Price   string
		}
		if err := json.Unmarshal(a.Result, &o); err != nil || a.ID != float64(first+i) || a.RateLimits != nil {
			t.Fatalf("answer %d: %+v %v", i, a, err)
		}
		if o.OrderID <= last || o.Price != fmt.Sprintf("%d.00", 50000+i) {
			t.Fatalf("order %d was taken out of order: %+v", i, o)
		}
		last = o.OrderID
	}
	for i, want := range [...]int{orders + 1, orders + 1, 0} {
		var list []any
		if a := c.answered(); json.Unmarshal(a.Result, &list) != nil || len(list) != want {
			t.Errorf("read %d: %d orders, want %d: %+v", i, len(list), want, a.Error)
		}
	}
}

// await waits until a condition holds.
func (x *exchange) await(so func() bool) {
	x.Helper()
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			x.Fatal("what was awaited did not come")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestFlyingRequestsAreBounded sends more orders than may be without an answer, while the
// journal commits nothing. Another connection is served meanwhile.
func TestFlyingRequestsAreBounded(t *testing.T) {
	const orders, most = 700, 512
	var taken atomic.Int64
	x := newExchange(t, func(o *binance.Options) {
		o.Turn = func(*api.Limiter, bourse.AccountID, *bourse.NewOrder) (func(), error) {
			taken.Add(1)
			return func() {}, nil
		}
	})
	c, other := x.dial("/ws-api/v3?returnRateLimits=false"), x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	x.log.Hold()
	for range orders {
		c.request("order.place", limit("BUY", "50000.00", "0.001").with(params{"newOrderRespType": "ACK"}))
	}
	x.await(func() bool { return taken.Load() >= most })
	for range 100 {
		other.ok("depth", params{"symbol": "BTCUSDT"})
	}
	if n := taken.Load(); n != most {
		t.Errorf("%d orders were taken without an answer, and not %d", n, most)
	}

	x.log.Release()
	for i := range orders {
		if a := c.answered(); a.Status != http.StatusOK {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
}

// TestCancelOfAnOrderOnItsWay cancels an order by its name before it has an answer.
func TestCancelOfAnOrderOnItsWay(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	for i := range 50 {
		name := fmt.Sprint("order-", i)
		c.request("order.place", limit("BUY", "50000.00", "0.001").with(params{"newClientOrderId": name}))
		c.request("order.cancel", params{"symbol": "BTCUSDT", "origClientOrderId": name})
	}
	for i := range 100 {
		if a := c.answered(); a.Status != http.StatusOK {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
}

// TestUnreadAnswers sends requests and reads no answers: the connection is not read any more
// once its queues are full, and goes on when the client reads.
func TestUnreadAnswers(t *testing.T) {
	const requests = 5000
	x := newExchange(t)
	for i := range 500 {
		x.place(alice, bourse.Buy, 5_000_000+bourse.Price(i), 1000)
	}
	x.offset.Store(int64(time.Hour)) // no deadline passes
	c := x.dial("/ws-api/v3?returnRateLimits=false")
	sent := make(chan error, 1)
	frame := ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte(`{"id":1,"method":"depth","params":{"symbol":"BTCUSDT","limit":500}}`))))
	go func() {
		for range requests {
			_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
			if _, err := c.conn.Write(frame); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range requests {
		if a := c.answered(); a.Status != http.StatusOK {
			t.Fatalf("answer %d: %+v", i, a)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestMalformedRequests checks the answers to what is no request, and that a flood of them
// ends the connection.
func TestMalformedRequests(t *testing.T) {
	x := newExchange(t)
	c := x.dial("/ws-api/v3")
	for text, want := range map[string]string{
		`[]`:                            `{"id":null,"status":400,"error":{"code":-1100`,
		`{"id":1}`:                      `{"id":1,"status":400,"error":{"code":-1100`,
		`{"id":1.5,"method":"ping"}`:    `{"id":null,"status":400,"error":{"code":-1100`,
		`{"id":"a","method":"nothing"}`: `{"id":"a","status":400,"error":{"code":-1020`,
		`{"id":2,"method":"ping","params":{"a":{}}}`:              `{"id":2,"status":400,"error":{"code":-1100`,
		`{"id":3,"method":"ping","params":[]}`:                    `{"id":3,"status":400,"error":{"code":-1100`,
		`{"id":4,"method":"ping","params":{"a":1,"a":2}}`:         `{"id":4,"status":400,"error":{"code":-1100`,
		`{"id":5,"method":"depth","params":{"symbol":"NOTHING"}}`: `{"id":5,"status":400,"error":{"code":-1121`,
	} {
		c.send(text)
		if got := c.receive(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	var many strings.Builder
	for i := range 65 {
		fmt.Fprintf(&many, `,"p%d":1`, i)
	}
	long := `{"id":6,"method":"ping","params":{` + many.String()[1:] + `}}`
	c.ask(long, `{"id":6,"status":400,"error":{"code":-1101,"msg":"Too many parameters sent for this endpoint."}}`)
	x.frozen.Store(true)
	for _, text := range [...]string{`{}`, `{"method":"nothing"}`, long} {
		x.dial("/ws-api/v3").floods(text)
	}
}

// floods sends a text again and again, and expects the connection to be closed. The clock must
// stand, so that the limit is passed however long that takes.
func (c *client) floods(text string) {
	c.Helper()
	frame := ws.MustCompileFrame(ws.MaskFrame(ws.NewTextFrame([]byte(text))))
	go func() {
		_ = c.conn.SetWriteDeadline(time.Now().Add(patience))
		for range 20_000 {
			if _, err := c.conn.Write(frame); err != nil {
				return
			}
		}
	}()
	c.ended(ws.StatusPolicyViolation)
}

// TestRefusedRequestsEnd sends requests beyond a limit: they are refused, and one that goes on
// is closed. Another account is served meanwhile.
func TestRefusedRequestsEnd(t *testing.T) {
	x := newExchange(t, func(o *binance.Options) {
		rate := api.Rate{PerSecond: 0.001, Burst: 5}
		o.Limits = api.NewLimiter(api.Limits{Account: api.Rates{Orders: rate}}, o.Clock)
	})
	c, other := x.dial("/ws-api/v3"), x.dial("/ws-api/v3")
	c.ok("session.logon", params{}.signed(aliceKey))
	other.ok("session.logon", params{}.signed(bobKey))
	for range 5 {
		c.ok("order.place", limit("BUY", "50000.00", "0.001"))
	}
	c.fails(http.StatusTooManyRequests, -1015, "order.place", limit("BUY", "50000.00", "0.001"))
	text, err := json.Marshal(map[string]any{"id": 1, "method": "order.place", "params": limit("BUY", "50000.00", "0.001")})
	if err != nil {
		t.Fatal(err)
	}
	x.frozen.Store(true)
	c.floods(string(text))
	other.ok("order.place", limit("BUY", "50000.00", "0.001"))
}

// TestKeysEndConnections revokes the key of a session, and that of a subscription.
func TestKeysEndConnections(t *testing.T) {
	x := newExchange(t)
	session, listening := x.dial("/ws-api/v3"), x.dial("/ws-api/v3")
	session.ok("session.logon", params{}.signed(aliceKey))
	listening.ok("userDataStream.subscribe.signature", params{}.signed(readKey))
	x.keys.revoke(readKey)
	x.server.Revoke(3)
	listening.ended(ws.StatusPolicyViolation)
	session.ok("order.place", limit("BUY", "50000.00", "0.001"))
	x.keys.revoke(aliceKey)
	session.fails(http.StatusUnauthorized, -2015, "order.place", limit("BUY", "50000.00", "0.001"))
	x.server.Revoke(1)
	session.ended(ws.StatusPolicyViolation)
}
