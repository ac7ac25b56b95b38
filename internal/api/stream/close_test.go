package stream_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// closing authenticates a connection whose end cancels alice's orders.
const closing = `{"op":"auth","id":1,"api_key":"alice","cancel_on_close":true}`

func (x *exchange) openOrders() (n int) {
	x.between(func(e *engine.Engine) { n = e.OpenOrders() })
	return n
}

// TestCloseCancels ends connections in several ways. The server forgets a connection
// after its close is journaled.
func TestCloseCancels(t *testing.T) {
	for name, end := range map[string]func(x *exchange, c *client){
		"lost":    func(_ *exchange, c *client) { _ = c.conn.Close() },
		"closed":  func(_ *exchange, c *client) { c.raw([]byte{0x88, 0x80, 0, 0, 0, 0}) },
		"garbage": func(_ *exchange, c *client) { c.send("garbage") },
		"revoked": func(x *exchange, _ *client) { x.server.Revoke(1) },
		"busy": func(x *exchange, c *client) {
			x.refusals.Store(2)
			_ = c.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExchange(t, 0)
			watcher, plain, c := x.dial(), x.dial(), x.dial()
			watcher.ok(`{"op":"auth","id":1,"api_key":"alice again"}`)
			watcher.ok(`{"op":"sub","id":2,"streams":"myOrders"}`)
			plain.ok(`{"op":"auth","id":1,"api_key":"alice","cancel_on_close":false}`)
			c.ok(closing)
			c.ok(closing)
			x.place(alice, limit(bourse.Buy, 5900000, 1000))
			x.place(alice, limit(bourse.Buy, 5900001, 1000))
			x.place(bob, limit(bourse.Buy, 5900000, 1000))
			_ = plain.conn.Close()
			eventually(t, func() bool { return x.server.Len() == 2 })
			if n := x.openOrders(); n != 3 {
				t.Fatalf("%d open orders after the close of a plain connection", n)
			}
			watcher.drain()

			end(x, c)
			for range 2 {
				if m := watcher.receive(); !strings.Contains(m, `"status":"CANCELED"`) {
					t.Errorf("told %s", m)
				}
			}
			_ = c.conn.Close()
			eventually(t, func() bool { return x.server.Len() == 1 })
			x.between(func(e *engine.Engine) {
				if e.OpenOrders() != 1 || e.Connections() != 0 {
					t.Errorf("%d open orders, connection %d armed", e.OpenOrders(), e.Connections())
				}
			})
		})
	}
}

// TestCloseOfTheServer leaves the close of a connection to the next start if the exchange
// takes no commands any more.
func TestCloseOfTheServer(t *testing.T) {
	x := newExchange(t, 0)
	x.dial().ok(closing)
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	x.refusals.Store(math.MaxInt64)
	x.server.Close(t.Context())
	x.between(func(e *engine.Engine) {
		if e.OpenOrders() != 1 || e.Connections() != 1 {
			t.Errorf("%d open orders, connection %d armed", e.OpenOrders(), e.Connections())
		}
	})
}

// TestCloseIsNotForAll refuses cancel_on_close and leaves the connection without an
// account.
func TestCloseIsNotForAll(t *testing.T) {
	x := newExchange(t, 0)
	for range bourse.MaxConnections {
		x.do(bourse.Command{Kind: bourse.CommandCancelOnClose, Account: alice})
	}
	c := x.dial()
	c.ask(`{"op":"auth","id":1,"api_key":"alice again","cancel_on_close":true}`, failed(1, "FORBIDDEN", "Forbidden: the key has no scope trade"))
	c.ask(`{"op":"auth","id":2,"api_key":"alice","cancel_on_close":1}`, failed(2, "VALIDATION_ERROR", "cancel_on_close: must be true or false"))
	c.ask(`{"op":"auth","id":3,"api_key":"alice","cancel_on_close":true}`,
		failed(3, "NOT_ACCEPTABLE", "An account may have at most 50 connections with cancel_on_close"))
	x.refusals.Store(1)
	c.ask(`{"op":"auth","id":4,"api_key":"bob","cancel_on_close":true}`, failed(4, "RATE_LIMIT", "Too many requests"))
	c.ask(`{"op":"sub","id":5,"streams":"myOrders"}`, failed(5, "UNAUTHORIZED", "Unauthorized"))
	c.ok(`{"op":"auth","id":6,"api_key":"bob","cancel_on_close":true}`)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	end, every := time.NewTimer(patience), time.NewTicker(time.Millisecond)
	defer end.Stop()
	defer every.Stop()
	for !holds() {
		select {
		case <-end.C:
			t.Fatal("it never came to be")
		case <-every.C:
		}
	}
}
