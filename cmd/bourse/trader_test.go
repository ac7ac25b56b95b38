package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// trader is a client that remembers what was acknowledged to it.
type trader struct {
	key string
	rng *rand.Rand
	n   int
	// acked are its orders by obid, unknown the client ids whose outcome it
	// never learned.
	acked   map[uint64]*ackedOrder
	unknown []string
	problem error
}

type ackedOrder struct {
	clientID string
	status   string
	filled   string
	canceled bool
}

// trade posts orders and cancels until the exchange dies.
func (c *trader) trade(url string) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var open []uint64
	for {
		if len(open) > 0 && c.rng.IntN(3) == 0 {
			at := c.rng.IntN(len(open))
			id := open[at]
			open = append(open[:at], open[at+1:]...)
			a, err := post(client, url, "/spot/open_orders/cancel", map[string]any{"api_key": c.key, "obid": id})
			if err != nil {
				return
			}
			c.acked[id].canceled = a.Success
			continue
		}
		c.n++
		name := fmt.Sprintf("o%d", c.n)
		a, err := post(client, url, "/spot/open_orders/new", c.order(name))
		if err != nil {
			c.unknown = append(c.unknown, name)
			return
		}
		if !a.Success {
			c.problem = fmt.Errorf("order %s: %s", name, a.Error)
			return
		}
		c.acked[a.Obid] = &ackedOrder{clientID: name, status: a.Status, filled: a.Filled}
		if a.Status == "OPEN" {
			open = append(open, a.Obid)
		}
	}
}

func (c *trader) order(name string) map[string]any {
	side, price := "BUY", 60000-c.rng.IntN(20)
	if c.rng.IntN(2) == 0 {
		side, price = "SELL", 59990+c.rng.IntN(20)
	}
	return map[string]any{
		"api_key": c.key, "pair": "BTC/USDT", "side": side, "type": "LIMIT", "time_in_force": "GTC",
		"price": fmt.Sprint(price), "amount": fmt.Sprintf("0.00%d", 1+c.rng.IntN(9)), "resp_type": "RESULT", "client_id": name,
	}
}

// check asks for everything that was acknowledged.
func (c *trader) check(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for id, want := range c.acked {
		a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "obid": id})
		if err != nil || !a.Success {
			t.Fatalf("order %d (%s) was acknowledged and is gone: %v %s", id, want.clientID, err, a.Error)
		}
		row := string(a.Order)
		switch {
		case !strings.Contains(row, fmt.Sprintf(`"client_id":%q`, want.clientID)):
			t.Fatalf("order %d is not %s: %s", id, want.clientID, row)
		case want.canceled && strings.Contains(row, `"status":"OPEN"`):
			t.Fatalf("order %d was canceled and is open: %s", id, row)
		case want.status == "FILLED" && !strings.Contains(row, `"status":"FILLED"`):
			t.Fatalf("order %d was filled: %s", id, row)
		}
	}
	// What was not answered happened entirely or not at all: asking again with
	// the same fields is answered either way, and once.
	for _, name := range c.unknown {
		a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "client_id": name})
		if err != nil || !a.Success && a.Error != "Order not found" {
			t.Fatalf("order %s: %v %s", name, err, a.Error)
		}
	}
	clear(c.acked)
	c.unknown = nil
}
