package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// trader trades, and remembers the answers.
type trader struct {
	key  string
	name string
	rng  *rand.Rand
	// told are its acknowledged orders, by obid.
	told map[uint64]*order
	// open are the orders that it may cancel.
	open []uint64
	// unanswered is an order without an answer, canceling the obid of a cancel without
	// one.
	unanswered *client.NewOrder
	canceling  uint64
	orders     int
	// acknowledged counts the orders and cancels of all traders.
	acknowledged *atomic.Int64
}

// order is an order as last answered.
type order struct {
	name     string
	filled   client.Decimal
	canceled bool
}

// join creates an account with a key and money.
func join(ctx context.Context, x *exchange, n int, acknowledged *atomic.Int64) (*trader, error) {
	const seed = 17
	t := &trader{
		name: fmt.Sprintf("client%d", n), told: map[uint64]*order{}, acknowledged: acknowledged,
		rng: rand.New(rand.NewPCG(seed, uint64(n))), //nolint:gosec // a demo needs no secrets
	}
	email := t.name + "@example.org"
	for _, ask := range []struct {
		verb string
		args map[string]any
	}{
		{"account/create", map[string]any{"email": email}},
		{"credit", map[string]any{"account": email, "asset": "BTC", "amount": "1000"}},
		{"credit", map[string]any{"account": email, "asset": "USDT", "amount": "100000000"}},
	} {
		if _, err := admin.Call(ctx, x.data(), ask.verb, ask.args); err != nil {
			return nil, err
		}
	}
	text, err := admin.Call(
		ctx, x.data(), "key/create", map[string]any{"account": email, "name": "demo", "scopes": "read,trade"})
	if err != nil {
		return nil, err
	}

	var made struct {
		Secret string `json:"api_key"`
	}
	err = json.Unmarshal(text, &made)
	t.key = made.Secret
	return t, err
}

// at returns a client of the exchange at an address.
func (t *trader) at(url string) (*client.Client, error) {
	return client.New(url, client.Options{Key: t.key})
}

// answered reports whether an exchange has answered a request that ended with an error.
// Otherwise the connection broke before: the outcome is unknown.
func answered(err error) bool { return err == nil || errors.As(err, new(*client.Error)) }

// trade places and cancels orders, one after the other, until an answer fails to come.
func (t *trader) trade(ctx context.Context, url string) error {
	c, err := t.at(url)
	if err != nil {
		return err
	}
	defer c.Close()

	for {
		if len(t.open) > 0 && t.rng.IntN(3) == 0 {
			err = t.cancel(ctx, c)
		} else {
			err = t.place(ctx, c)
		}
		if !answered(err) {
			return nil
		}
		if err != nil {
			return err
		}
		t.acknowledged.Add(1)
	}
}

func (t *trader) place(ctx context.Context, c *client.Client) error {
	const middle, spread = 60_000, 20

	t.orders++
	side, price := client.Buy, middle-t.rng.IntN(spread)
	if t.rng.IntN(2) == 0 {
		side, price = client.Sell, middle-spread/2+t.rng.IntN(spread)
	}

	o := &client.NewOrder{
		Pair: "BTC/USDT", Side: side, Type: client.LimitOrder, TimeInForce: client.GTC,
		Price:    client.Decimal(fmt.Sprint(price)),
		Amount:   client.Decimal(fmt.Sprintf("0.00%d", 1+t.rng.IntN(9))),
		ClientID: fmt.Sprintf("%s-%d", t.name, t.orders),
	}
	placed, err := c.Place(ctx, o)
	if !answered(err) {
		t.unanswered = o
	}
	if err != nil {
		return err
	}

	t.told[placed.OrderID] = &order{name: o.ClientID, filled: placed.Filled}
	if placed.Status == client.Open {
		t.open = append(t.open, placed.OrderID)
	}
	return nil
}

// cancel cancels an order; an order filled meanwhile stays as it is.
func (t *trader) cancel(ctx context.Context, c *client.Client) error {
	at := t.rng.IntN(len(t.open))
	obid := t.open[at]
	t.open = append(t.open[:at], t.open[at+1:]...)

	err := c.Cancel(ctx, obid)
	switch {
	case err == nil:
		t.told[obid].canceled = true
	case errors.Is(err, client.ErrOrderNotFound):
		return nil
	case !answered(err):
		t.canceling = obid
	}
	return err
}

// found is a trader's result after a crash.
type found struct {
	// there and gone count acknowledged orders that exist, or do not.
	there, gone int
	// took and never count requests without an answer: those carried out, and others.
	took, never int
}

func (f *found) add(g found) {
	f.there += g.there
	f.gone += g.gone
	f.took += g.took
	f.never += g.never
}

// unanswered counts a request without an answer.
func (f *found) unanswered(took bool) {
	if took {
		f.took++
	} else {
		f.never++
	}
}

// look queries all acknowledged orders, and the outcome of the unanswered request.
func (t *trader) look(ctx context.Context, url string) (f found, err error) {
	c, err := t.at(url)
	if err != nil {
		return f, err
	}
	defer c.Close()

	if t.unanswered != nil {
		took, err := t.again(ctx, c)
		if err != nil {
			return f, err
		}
		f.unanswered(took)
	}

	for obid, told := range t.told {
		o, err := c.Order(ctx, obid)
		if !answered(err) {
			return f, err
		}
		if obid == t.canceling {
			f.unanswered(o.Status == client.Canceled)
		}
		if err == nil && told.isIn(&o) {
			f.there++
		} else {
			f.gone++
		}
	}
	return f, nil
}

// isIn reports whether an order shows no less than its acknowledgement.
func (o *order) isIn(shown *client.Order) bool {
	return shown.ClientID == o.name && shown.Filled.Cmp(o.filled) >= 0 &&
		(!o.canceled || shown.Status == client.Canceled)
}

// again repeats the unanswered order with its client ID, and reports whether it had been
// placed. Either way it exists once afterwards.
func (t *trader) again(ctx context.Context, c *client.Client) (took bool, err error) {
	before, err := c.OrderByClientID(ctx, t.unanswered.ClientID)
	if !answered(err) {
		return false, err
	}
	took = err == nil

	placed, err := c.Place(ctx, t.unanswered)
	if answered(err) && (err != nil || took && before.OrderID != placed.OrderID) {
		err = errors.Join(fmt.Errorf("%w: order %s was %d and is %d",
			ErrBroken, t.unanswered.ClientID, before.OrderID, placed.OrderID), err)
	}
	return took, err
}
