package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bourse-exchange/bourse/client"
)

// trader is a client that remembers what was acknowledged to it.
type trader struct {
	key string
	rng *rand.Rand
	n   int
	// acked are its orders of this life by obid, unknown the orders whose outcome
	// it never learned, kept the ids of all orders of earlier lives.
	acked   map[uint64]*ackedOrder
	unknown []asked
	// batch, if there is one, is the batch of this life whose outcome it never learned.
	batch   []*client.NewOrder
	kept    []uint64
	problem error
	// most is how many orders it places in a life; zero is no bound.
	most int
	// versatile ones amend and replace orders as well, and place them together.
	versatile bool
	// wary ones stop at a refusal, which is no problem of theirs.
	wary bool
	// orders, cancels and so on count what was acknowledged, lost what never was answered.
	orders, cancels, amended, replaced, batches, lost int
	// told, if not nil, is called for each acknowledgement.
	told func()
}

// asked is a request for an order, in place of the order replaces if that is not zero.
type asked struct {
	*client.NewOrder
	replaces uint64
}

// sent sends the request.
func (a *asked) sent(ctx context.Context, api *client.Client) (client.Placed, error) {
	if a.replaces == 0 {
		return api.Place(ctx, a.NewOrder)
	}
	became, err := api.Replace(ctx, a.replaces, a.NewOrder, true)
	return became.Placed, errors.Join(err, became.Rejected)
}

type ackedOrder struct {
	clientID string
	status   client.Status
	canceled bool
	// replaced is true if another order took its place, or was to.
	replaced bool
	// amount, if not empty, is what the order was amended to.
	amount client.Decimal
}

func newTrader(key string, rng *rand.Rand) *trader {
	return &trader{key: key, rng: rng, acked: map[uint64]*ackedOrder{}}
}

// at returns a client of the exchange at a URL, with connections of its own.
func (c *trader) at(url string) *client.Client {
	api, err := client.New(url, client.Options{Key: c.key})
	if err != nil {
		panic(err)
	}
	return api
}

// saidNo reports whether an error is the exchange's own: of a request that it took and refused.
func saidNo(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusOK
}

// trade posts orders and cancels until the exchange dies.
func (c *trader) trade(url string) {
	api := c.at(url)
	defer api.Close()
	var open []uint64
	for end := c.n + c.most; c.most == 0 || c.n < end; {
		if len(open) > 0 && c.rng.IntN(3) == 0 {
			at := c.rng.IntN(len(open))
			id := open[at]
			open = append(open[:at], open[at+1:]...)
			if c.cancel(api, id) != nil {
				return
			}
			continue
		}

		if c.versatile && c.rng.IntN(3) == 0 {
			if !c.change(api, &open) {
				return
			}
			continue
		}

		order := asked{NewOrder: c.next()}
		placed, err := order.sent(context.Background(), api)
		if err != nil {
			c.failed(order, err)
			return
		}
		c.took(order, placed)
		if placed.Status == client.Open {
			open = append(open, placed.OrderID)
		}
	}
}

// next returns the next order.
func (c *trader) next() *client.NewOrder {
	c.n++
	return c.order(fmt.Sprintf("o%d", c.n))
}

// change amends or replaces an open order, or places several together. It reports false if the
// exchange died.
func (c *trader) change(api *client.Client, open *[]uint64) bool {
	switch what := c.rng.IntN(3); {
	case what == 0:
		return c.together(api, open)
	case len(*open) == 0:
		return true
	case what == 1:
		return c.amend(api, (*open)[c.rng.IntN(len(*open))])
	}

	at := c.rng.IntN(len(*open))
	order := asked{c.next(), (*open)[at]}
	*open = append((*open)[:at], (*open)[at+1:]...)
	placed, err := order.sent(context.Background(), api)
	if err != nil {
		c.failed(order, err)
		return false
	}
	c.took(order, placed)
	c.replaced++
	return true
}

// amend amends an order to the least amount, unless it has filled that.
func (c *trader) amend(api *client.Client, id uint64) bool {
	const least = "0.001"
	_, err := api.Amend(context.Background(), id, client.Amendment{Amount: least})
	if err == nil {
		c.acked[id].amount = least
		c.amended++
	}
	return err == nil || saidNo(err)
}

// together places orders in a batch.
func (c *trader) together(api *client.Client, open *[]uint64) bool {
	var orders []*client.NewOrder
	var requests []client.BatchRequest
	for range 2 + c.rng.IntN(8) {
		orders = append(orders, c.next())
		requests = append(requests, client.BatchRequest{Place: orders[len(orders)-1]})
	}
	results, err := api.Batch(context.Background(), requests)
	if err != nil {
		c.batch = orders
		for _, order := range orders {
			c.failed(asked{NewOrder: order}, err)
		}
		return false
	}

	c.batches++
	for i, r := range results {
		if r.Err != nil {
			c.failed(asked{NewOrder: orders[i]}, r.Err)
			return false
		}
		c.took(asked{NewOrder: orders[i]}, r.Placed)
		if r.Placed.Status == client.Open {
			*open = append(*open, r.Placed.OrderID)
		}
	}
	return true
}

// failed remembers an order that was not acknowledged.
func (c *trader) failed(order asked, err error) {
	switch {
	case !saidNo(err):
		c.unknown = append(c.unknown, order)
		c.lost++
	case !c.wary:
		c.problem = fmt.Errorf("order %s: %w", order.ClientID, err)
	}
}

// took remembers an order that was acknowledged.
func (c *trader) took(order asked, placed client.Placed) {
	if old := c.acked[order.replaces]; old != nil {
		old.replaced = true
	}
	c.orders++
	c.acked[placed.OrderID] = &ackedOrder{clientID: order.ClientID, status: placed.Status}
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

// cancel cancels an order, unless it is filled. An error means that nothing is known of the request.
func (c *trader) cancel(api *client.Client, id uint64) error {
	err := api.Cancel(context.Background(), id)
	if err == nil {
		c.acked[id].canceled = true
		c.cancels++
		c.wasTold()
	}
	if saidNo(err) {
		return nil
	}
	return err
}

func (c *trader) order(name string) *client.NewOrder {
	side, price := client.Buy, 60000-c.rng.IntN(20)
	if c.rng.IntN(2) == 0 {
		side, price = client.Sell, 59990+c.rng.IntN(20)
	}
	order := &client.NewOrder{
		Pair: "BTC/USDT", Side: side, Type: client.LimitOrder, TimeInForce: client.GTC, ClientID: name,
		Price: client.Decimal(fmt.Sprint(price)), Amount: client.Decimal(fmt.Sprintf("0.00%d", 1+c.rng.IntN(9))),
	}
	if c.rng.IntN(4) == 0 {
		c.behindStop(order)
	}
	return order
}

// behindStop lets an order wait for a stop near the last price, under any of the types that do.
func (c *trader) behindStop(order *client.NewOrder) {
	types := [...]client.OrderType{
		client.StopLimitOrder, client.StopMarketOrder, client.TakeProfitLimitOrder, client.TakeProfitMarketOrder,
	}
	order.Type, order.Stop = types[c.rng.IntN(len(types))], client.Decimal(fmt.Sprint(59990+c.rng.IntN(20)))
	if order.Type == client.StopLimitOrder || order.Type == client.TakeProfitLimitOrder {
		return
	}
	order.Price = ""
	if order.Side == client.Buy && c.rng.IntN(2) == 0 {
		order.Amount, order.Total = "", client.Decimal(fmt.Sprint(60*(1+c.rng.IntN(9))))
	}
}

// oldOnes is how many orders of earlier lives are looked at after each.
const oldOnes = 10

// check asks for everything that was acknowledged in this life, and for some of
// what was before.
func (c *trader) check(t *testing.T, url string) {
	t.Helper()
	api := c.at(url)
	defer api.Close()
	if c.problem != nil {
		t.Error(c.problem)
	}
	for range min(oldOnes, len(c.kept)) {
		id := c.kept[c.rng.IntN(len(c.kept))]
		if _, err := api.Order(t.Context(), id); err != nil {
			t.Errorf("order %d was there after an earlier crash and is gone: %v", id, err)
		}
	}
	c.whole(t, api)
	for _, order := range c.unknown {
		c.again(t, api, order)
	}
	for id, want := range c.acked {
		there(t, api, id, want)
		c.kept = append(c.kept, id)
	}
	clear(c.acked)
	c.unknown, c.batch = nil, nil
}

// whole asks for the orders of the batch whose answer never came: all are there or none is.
func (c *trader) whole(t *testing.T, api *client.Client) {
	t.Helper()
	found := 0
	for _, order := range c.batch {
		_, err := api.OrderByClientID(t.Context(), order.ClientID)
		switch {
		case err == nil:
			found++
		case !errors.Is(err, client.ErrOrderNotFound):
			t.Errorf("order %s: %v", order.ClientID, err)
		}
	}
	if found != 0 && found != len(c.batch) {
		t.Errorf("of a batch of %d orders there are %d", len(c.batch), found)
	}
}

// there asks for an order that was acknowledged.
func there(t *testing.T, api *client.Client, id uint64, want *ackedOrder) {
	t.Helper()
	o, err := api.Order(t.Context(), id)
	switch {
	case err != nil:
		t.Errorf("order %d (%s) was acknowledged and is gone: %v", id, want.clientID, err)
	case o.OrderID != id || o.ClientID != want.clientID:
		t.Errorf("order %d is not %s: %+v", id, want.clientID, o)
	case want.replaced && o.Status == client.Open:
		t.Errorf("order %d was replaced: %+v", id, o)
	case want.amount != "" && o.Amount != want.amount:
		t.Errorf("order %d was amended to %s: %+v", id, want.amount, o)
	case want.canceled && o.Status != client.Canceled:
		t.Errorf("order %d was canceled: %+v", id, o)
	case want.status != client.Open && o.Status != want.status:
		t.Errorf("order %d was %s: %+v", id, want.status, o)
	}
}

// again asks a second time for an order whose answer never came: it happened
// entirely or not at all, and is taken once.
func (c *trader) again(t *testing.T, api *client.Client, order asked) {
	t.Helper()
	found, err := api.OrderByClientID(t.Context(), order.ClientID)
	if err != nil && !errors.Is(err, client.ErrOrderNotFound) {
		t.Errorf("order %s: %v", order.ClientID, err)
		return
	}
	placed, again := order.sent(t.Context(), api)
	if again != nil {
		t.Errorf("order %s again: %v", order.ClientID, again)
		return
	}
	if err == nil && found.OrderID != placed.OrderID {
		t.Errorf("order %s is %+v, and asked for again it is %d", order.ClientID, found, placed.OrderID)
	}
	c.took(order, placed)
}
