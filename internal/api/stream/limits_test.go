package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// freeze stops the server's clock, so that everything happens in one second.
func (x *exchange) freeze() time.Time {
	now := time.Now()
	x.frozen.Store(&now)
	return now
}

// times returns n copies of a masked frame.
func times(n int, f ws.Frame) []byte { return bytes.Repeat(ws.MustCompileFrame(ws.MaskFrame(f)), n) }

// flooded expects the connection to be closed with errFlood, and returns the number of
// frames before that.
func (c *client) flooded() (before int) {
	c.Helper()
	for {
		f, err := c.next()
		if err != nil {
			c.Fatalf("after %d frames: %v", before, err)
		}
		if f.Header.OpCode == ws.OpClose {
			c.isClose(f, ws.StatusPolicyViolation, "too many frames")
			return before
		}
		before++
	}
}

// TestFloodsOfFrames checks that a connection is closed above maxFrames a second, and
// that its neighbours are not affected.
func TestFloodsOfFrames(t *testing.T) {
	empty := ws.NewFrame(ws.OpContinuation, false, nil)
	first := ws.MustCompileFrame(ws.MaskFrame(ws.NewFrame(ws.OpText, false, []byte("{"))))
	long := ws.NewFrame(ws.OpText, false, bytes.Repeat([]byte{' '}, 15<<10)) // weighs 8
	for name, c := range map[string]struct {
		sent   []byte
		before int
	}{
		"pings":             {times(1001, ws.NewPingFrame(nil)), 1000},
		"pongs":             {times(1001, ws.NewPongFrame(nil)), 0},
		"empty fragments":   {append(first, times(1000, empty)...), 0},
		"requests":          {times(1001, ws.NewTextFrame([]byte(`{"op":"ping","id":1}`))), 1000},
		"requests and more": {append(times(1000, ws.NewPongFrame(nil)), times(1, long)...), 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := newExchange(t, 0)
			x.freeze()
			flood, honest := x.dial(), x.dial()
			flood.raw(c.sent)
			if before := flood.flooded(); before != c.before {
				t.Errorf("%d frames came before the end, want %d", before, c.before)
			}
			honest.ask(`{"op":"ping","id":1}`, resp(1))
		})
	}
}

// TestSecondsBeginAnew checks that the full limits apply in each second.
func TestSecondsBeginAnew(t *testing.T) {
	x := newExchange(t, 0)
	now := x.freeze()
	c := x.dial()
	for second := range 3 {
		at := now.Add(time.Duration(second) * time.Second)
		x.frozen.Store(&at)
		c.raw(times(1000, ws.NewPingFrame([]byte("x"))))
		for range 1000 {
			if f, err := c.next(); err != nil || f.Header.OpCode != ws.OpPong {
				t.Fatalf("%+v %v", f, err)
			}
		}
	}
}

// TestTooManyNames checks that subscriptions count by the streams that they name.
func TestTooManyNames(t *testing.T) {
	x := newExchange(t, 0)
	now := x.freeze()
	c := x.dial()
	names := strings.TrimSuffix(strings.Repeat(`"BTC/USDT@ticker",`, 512), ",")
	for i := range 8 {
		c.ask(fmt.Sprintf(`{"op":"%s","id":%d,"streams":[%s]}`, []string{"sub", "unsub"}[i%2], i, names), resp(i))
	}
	c.ask(`{"op":"sub","id":8,"streams":"BTC/USDT@ticker"}`, failed(8, "RATE_LIMIT", "Too many requests"))
	c.ask(`{"op":"unsub","id":9,"streams":"BTC/USDT@ticker"}`, failed(9, "RATE_LIMIT", "Too many requests"))
	c.ask(`{"op":"ping","id":10}`, resp(10))
	later := now.Add(time.Second)
	x.frozen.Store(&later)
	c.ask(`{"op":"sub","id":11,"streams":"BTC/USDT@ticker"}`, resp(11))
}

// limit sets limits for accounts and sources, with a frozen clock.
func (x *exchange) limit(l api.Limits) {
	now := x.freeze()
	x.server.Limits = api.NewLimiter(l, func() time.Time { return now })
}

// TestConnectionsShareALimit checks that all connections of a source share its limit:
// requests above it are refused and floods closed, but no neighbour that sends little.
func TestConnectionsShareALimit(t *testing.T) {
	x := newExchange(t, 0)
	x.limit(api.Limits{Source: api.SourceRates{Frames: api.Rate{PerSecond: 1, Burst: 50}}})
	one, two, quiet := x.dial(), x.dial(), x.dial()
	for i := range 25 {
		one.ask(fmt.Sprintf(`{"op":"ping","id":%d}`, i), resp(i))
		two.ask(fmt.Sprintf(`{"op":"ping","id":%d}`, i), resp(i))
	}
	quiet.ask(`{"op":"ping","id":1}`, failed(1, "RATE_LIMIT", "Too many requests"))
	for i := range 100 {
		one.raw(times(1, ws.NewPingFrame(nil)))
		if f, err := one.next(); err != nil || f.Header.OpCode == ws.OpClose {
			if err == nil && i < 45 {
				t.Errorf("ended after %d pings beyond the limit", i)
			}
			break
		} else if i == 99 {
			t.Error("a flood of pings has no end")
		}
	}
	quiet.ask(`{"op":"ping","id":2}`, failed(2, "RATE_LIMIT", "Too many requests"))
	quiet.raw(times(1, ws.NewPingFrame([]byte("x"))))
	if f, err := quiet.next(); err != nil || f.Header.OpCode != ws.OpPong {
		t.Errorf("a neighbour's ping: %+v %v", f, err)
	}
}

// TestAccountsPayThemselves checks that an authenticated connection leaves its source's
// limit, and that connections of an account share the account's.
func TestAccountsPayThemselves(t *testing.T) {
	x := newExchange(t, 0)
	x.limit(api.Limits{
		Source:  api.SourceRates{Frames: api.Rate{PerSecond: 1, Burst: 5}, Subscriptions: api.Rate{PerSecond: 1, Burst: 1}},
		Account: api.Rates{Subscriptions: api.Rate{PerSecond: 1, Burst: 3}},
	})
	one, two, stranger := x.dial(), x.dial(), x.dial()
	one.ok(`{"op":"auth","id":1,"api_key":"alice"}`)
	two.ok(`{"op":"auth","id":1,"api_key":"alice again"}`)
	stranger.ok(`{"op":"sub","id":1,"streams":"BTC/USDT@ticker"}`)
	stranger.ask(`{"op":"sub","id":2,"streams":"BTC/USDT@ticker"}`, failed(2, "RATE_LIMIT", "Too many requests"))
	stranger.ok(`{"op":"ping","id":3}`)
	stranger.ask(`{"op":"ping","id":4}`, failed(4, "RATE_LIMIT", "Too many requests"))

	one.ok(`{"op":"sub","id":2,"streams":["BTC/USDT@ticker","myOrders"]}`)
	two.ok(`{"op":"sub","id":2,"streams":"myTrades"}`)
	one.ask(`{"op":"unsub","id":3,"streams":"myOrders"}`, failed(3, "RATE_LIMIT", "Too many requests"))
	two.ask(`{"op":"sub","id":3,"streams":"myOrders"}`, failed(3, "RATE_LIMIT", "Too many requests"))
}

// TestConnectionsOfASource checks that the connections of a source are bounded, and that
// closing one makes room.
func TestConnectionsOfASource(t *testing.T) {
	x := newExchange(t, 0)
	x.server.PerSource = 2
	var from atomic.Value
	from.Store(netip.MustParseAddr("192.0.2.1"))
	x.server.From = func(*http.Request) netip.Addr { return from.Load().(netip.Addr) }
	one, _ := x.dial(), x.dial()
	_, _, _, err := ws.Dial(t.Context(), x.url)
	if status := ws.StatusError(0); !errors.As(err, &status) || int(status) != http.StatusTooManyRequests {
		t.Errorf("the third: %v", err)
	}
	from.Store(netip.MustParseAddr("192.0.2.2"))
	x.dial().ok(`{"op":"ping","id":1}`)

	from.Store(netip.MustParseAddr("192.0.2.1"))
	_ = one.conn.Close()
	deadline := time.Now().Add(patience)
	for {
		if conn, _, _, err := ws.Dial(t.Context(), x.url); err == nil {
			_ = conn.Close()
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("there is no room when one has gone: %v", err)
		}
	}
}

// TestConnectionsOfANetwork checks that a /48 network has the connections of four
// sources, whatever its addresses.
func TestConnectionsOfANetwork(t *testing.T) {
	x := newExchange(t, 0)
	x.server.PerSource = 1
	var from atomic.Value
	x.server.From = func(*http.Request) netip.Addr { return from.Load().(netip.Addr) }
	for i := range 4 {
		from.Store(netip.MustParseAddr(fmt.Sprintf("2001:db8:0:%x::1", i)))
		x.dial().ok(`{"op":"ping","id":1}`)
	}
	from.Store(netip.MustParseAddr("2001:db8:0:4::1"))
	_, _, _, err := ws.Dial(t.Context(), x.url)
	if status := ws.StatusError(0); !errors.As(err, &status) || int(status) != http.StatusTooManyRequests {
		t.Errorf("the fifth: %v", err)
	}
	from.Store(netip.MustParseAddr("2001:db8:1::1"))
	x.dial().ok(`{"op":"ping","id":1}`)
}

// TestUpgradesAreRequests checks that a source opens connections at the rate of its
// requests, whether they stay open or not, and that another source is not affected.
func TestUpgradesAreRequests(t *testing.T) {
	x := newExchange(t, 0)
	x.limit(api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 3}}})
	var from atomic.Value
	from.Store(netip.MustParseAddr("192.0.2.1"))
	x.server.From = func(*http.Request) netip.Addr { return from.Load().(netip.Addr) }
	for range 3 {
		_ = x.dial().conn.Close()
	}
	_, _, _, err := ws.Dial(t.Context(), x.url)
	if status := ws.StatusError(0); !errors.As(err, &status) || int(status) != http.StatusTooManyRequests {
		t.Errorf("the fourth: %v", err)
	}
	x.refused(`{"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`)
	if x.server.Limits.Admit(api.Reads, api.Payer{Source: from.Load().(netip.Addr)}) {
		t.Error("the source still has a request")
	}
	from.Store(netip.MustParseAddr("192.0.2.2"))
	x.dial().ok(`{"op":"ping","id":1}`)
}

// refused wants the refusal of an upgrade to have a body.
func (x *exchange) refused(body string) {
	x.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(x.Context(), http.MethodGet, "/stream", http.NoBody)
	x.server.ServeHTTP(w, r)
	if w.Code != http.StatusTooManyRequests || w.Body.String() != body || w.Header().Get("Retry-After") != "1" {
		x.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// TestConnectionsOfASourceAreRefusedByName opens one connection more than a source may have.
func TestConnectionsOfASourceAreRefusedByName(t *testing.T) {
	x := newExchange(t, 0)
	x.server.PerSource = 1
	x.dial().ok(`{"op":"ping","id":1}`)
	x.refused(`{"success":false,"error":"Too many connections of this address","code":"RATE_LIMIT"}`)
}

// TestExpiredKey checks that a connection is closed when its key expires, and no other.
func TestExpiredKey(t *testing.T) {
	x := newExchange(t, 0)
	now := x.freeze()
	expires := bourse.TimeOf(now) + bourse.Minute
	x.keys.keys["short"] = account.Identity{Account: alice, Key: 7, Scopes: account.ScopeRead, Expires: expires}
	short, renewed, other := x.dial(), x.dial(), x.dial()
	short.ok(`{"op":"auth","id":1,"api_key":"short"}`)
	short.ok(`{"op":"sub","id":2,"streams":"myOrders"}`)
	renewed.ok(`{"op":"auth","id":1,"api_key":"short"}`)
	renewed.ok(`{"op":"auth","id":2,"api_key":"alice"}`)
	other.ok(`{"op":"auth","id":1,"api_key":"alice"}`)

	before := now.Add(time.Minute - time.Microsecond)
	x.frozen.Store(&before)
	x.server.Expire()
	for _, c := range []*client{short, renewed, other} {
		c.ok(`{"op":"ping","id":3}`)
	}
	after := now.Add(time.Minute)
	x.frozen.Store(&after)
	x.server.Expire()
	short.ended(ws.StatusPolicyViolation, "key expired")
	renewed.ok(`{"op":"ping","id":4}`)
	other.ok(`{"op":"ping","id":4}`)
}

// TestResumingIsCounted checks that resumed streams count as reads, by number and size.
func TestResumingIsCounted(t *testing.T) {
	x := newExchange(t, 0)
	for i := range 200 {
		x.place(alice, limit(bourse.Sell, 6100000+bourse.Price(i), lots))
	}
	x.limit(api.Limits{Source: api.SourceRates{Requests: api.Rate{PerSecond: 1, Burst: 4}}})
	const ask = `{"op":"sub","id":%d,"streams":[%s],"since":{%s}}`
	c := x.dial()                                                               // an upgrade counts as one
	c.ok(fmt.Sprintf(ask, 1, `"BTC/USDT@orderBook"`, `"BTC/USDT@orderBook":0`)) // the book's size counts as another
	if got := c.receive(); !strings.HasPrefix(got, `{"class":"reset"`) || len(got) < 8<<10 || len(got) > 16<<10 {
		t.Errorf("the state has %d bytes", len(got))
	}
	c.ok(fmt.Sprintf(ask, 2, `"BTC/USDT@ticker"`, `"BTC/USDT@ticker":0`))
	c.receive()
	c.ask(fmt.Sprintf(ask, 3, `"BTC/USDT@tickerEx"`, `"BTC/USDT@tickerEx":0`), failed(3, "RATE_LIMIT", "Too many requests"))
	c.ok(`{"op":"sub","id":4,"streams":["BTC/USDT@tickerEx"]}`)
}
