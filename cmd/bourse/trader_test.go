package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// trader is a client that remembers what was acknowledged to it.
type trader struct {
	key string
	rng *rand.Rand
	n   int
	// acked are its orders of this life by obid, unknown the orders whose outcome
	// it never learned, kept the ids of all orders of earlier lives.
	acked   map[uint64]*ackedOrder
	unknown []map[string]any
	kept    []uint64
	problem error
	// most is how many orders it places in a life; zero is no bound.
	most int
	// wary ones stop at a refusal, which is no problem of theirs.
	wary bool
	// orders and cancels count what was acknowledged, lost what never was answered.
	orders, cancels, lost int
	// told, if not nil, is called for each acknowledgement.
	told func()
}

type ackedOrder struct {
	clientID string
	status   string
	filled   string
	canceled bool
}

func newTrader(key string, rng *rand.Rand) *trader {
	return &trader{key: key, rng: rng, acked: map[uint64]*ackedOrder{}}
}

// trade posts orders and cancels until the exchange dies.
func (c *trader) trade(url string) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var open []uint64
	for end := c.n + c.most; c.most == 0 || c.n < end; {
		if len(open) > 0 && c.rng.IntN(3) == 0 {
			at := c.rng.IntN(len(open))
			id := open[at]
			open = append(open[:at], open[at+1:]...)
			if c.cancel(client, url, id) != nil {
				return
			}
			continue
		}
		c.n++
		order := c.order(fmt.Sprintf("o%d", c.n))
		a, err := post(client, url, "/spot/open_orders/new", order)
		if err != nil {
			c.unknown = append(c.unknown, order)
			c.lost++
			return
		}
		if !a.Success && c.wary {
			return
		}
		if !a.Success {
			c.problem = fmt.Errorf("order %s: %s", order["client_id"], a.Error)
			return
		}
		c.took(order, a)
		if a.Status == "OPEN" {
			open = append(open, a.Obid)
		}
	}
}

// took remembers an order that was acknowledged.
func (c *trader) took(order map[string]any, a answer) {
	c.orders++
	c.acked[a.Obid] = &ackedOrder{clientID: order["client_id"].(string), status: a.Status, filled: a.Filled}
	c.wasTold()
}

func (c *trader) wasTold() {
	if c.told != nil {
		c.told()
	}
}

// tradeOn trades on a goroutine of its own, and returns once so many orders and
// cancels are acknowledged: from then on what happens to the exchange happens
// while it trades, however fast it is. ended is closed when the trader has ended.
func (c *trader) tradeOn(t *testing.T, url string, acknowledged int) (ended chan struct{}) {
	t.Helper()
	reached := make(chan struct{})
	left := acknowledged
	c.told = func() {
		if left--; left == 0 {
			close(reached)
		}
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		c.trade(url)
	}()
	if acknowledged == 0 {
		return ended
	}

	select {
	case <-reached:
	case <-ended:
		t.Fatalf("the trader ended %d acknowledgements early: %v", left, c.problem)
	}
	return ended
}

// tradeTogether lets clients trade, each on a goroutine, until so many orders and cancels are
// acknowledged to them together. They go on until the exchange ends.
func tradeTogether(t *testing.T, url string, traders []*trader, acknowledged int64) *sync.WaitGroup {
	t.Helper()
	reached, ended := make(chan struct{}), make(chan struct{})
	var left atomic.Int64
	left.Store(acknowledged)
	work := new(sync.WaitGroup)
	for _, c := range traders {
		c.told = func() {
			if left.Add(-1) == 0 {
				close(reached)
			}
		}
		work.Go(func() { c.trade(url) })
	}
	go func() {
		work.Wait()
		close(ended)
	}()

	select {
	case <-reached:
	case <-ended:
		t.Fatalf("the traders ended %d acknowledgements early", left.Load())
	}
	return work
}

func (c *trader) cancel(client *http.Client, url string, id uint64) error {
	a, err := post(client, url, "/spot/open_orders/cancel", map[string]any{"api_key": c.key, "obid": id})
	if err == nil && a.Success {
		c.acked[id].canceled = true
		c.cancels++
		c.wasTold()
	}
	return err
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

// oldOnes is how many orders of earlier lives are looked at after each.
const oldOnes = 10

// check asks for everything that was acknowledged in this life, and for some of
// what was before.
func (c *trader) check(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	if c.problem != nil {
		t.Error(c.problem)
	}
	for range min(oldOnes, len(c.kept)) {
		id := c.kept[c.rng.IntN(len(c.kept))]
		if a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "obid": id}); err != nil || !a.Success {
			t.Errorf("order %d was there after an earlier crash and is gone: %v %s", id, err, a.Error)
		}
	}
	for _, order := range c.unknown {
		c.again(t, client, url, order)
	}
	for id, want := range c.acked {
		c.there(t, client, url, id, want)
		c.kept = append(c.kept, id)
	}
	clear(c.acked)
	c.unknown = nil
}

// there asks for an order that was acknowledged.
func (c *trader) there(t *testing.T, client *http.Client, url string, id uint64, want *ackedOrder) {
	t.Helper()
	a, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "obid": id})
	row := string(a.Order)
	switch {
	case err != nil || !a.Success:
		t.Errorf("order %d (%s) was acknowledged and is gone: %v %s", id, want.clientID, err, a.Error)
	case !strings.Contains(row, fmt.Sprintf(`"client_id":%q`, want.clientID)):
		t.Errorf("order %d is not %s: %s", id, want.clientID, row)
	case want.canceled && !strings.Contains(row, `"status":"CANCELED"`):
		t.Errorf("order %d was canceled: %s", id, row)
	case want.status == "FILLED" && !strings.Contains(row, `"status":"FILLED"`):
		t.Errorf("order %d was filled: %s", id, row)
	}
}

// again asks a second time for an order whose answer never came: it happened
// entirely or not at all, and is taken once.
func (c *trader) again(t *testing.T, client *http.Client, url string, order map[string]any) {
	t.Helper()
	name := order["client_id"]
	found, err := post(client, url, "/spot/order", map[string]any{"api_key": c.key, "client_id": name})
	if err != nil || !found.Success && found.Error != "Order not found" {
		t.Errorf("order %s: %v %s", name, err, found.Error)
		return
	}
	a, err := post(client, url, "/spot/open_orders/new", order)
	if err != nil || !a.Success {
		t.Errorf("order %s again: %v %s", name, err, a.Error)
		return
	}
	if found.Success && !strings.Contains(string(found.Order), fmt.Sprintf(`"obid":%d,`, a.Obid)) {
		t.Errorf("order %s is %s, and asked for again it is %d", name, found.Order, a.Obid)
	}
	c.took(order, a)
}
