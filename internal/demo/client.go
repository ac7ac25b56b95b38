package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// client trades, and remembers the answers.
type client struct {
	key  string
	name string
	rng  *rand.Rand
	http *http.Client
	// told are its acknowledged orders, by obid.
	told map[uint64]*order
	// open are the orders that it may cancel.
	open []uint64
	// unanswered is an order without an answer, canceling the obid of a cancel without
	// one.
	unanswered fields
	canceling  uint64
	orders     int
	// acknowledged counts the orders and cancels of all clients.
	acknowledged *atomic.Int64
}

// order is an order as last answered.
type order struct {
	name     string
	filled   string
	canceled bool
}

type fields map[string]any

// reply is the union of the endpoints' answers.
type reply struct {
	Success bool
	Error   string
	Obid    uint64
	Status  string
	Filled  string
	Order   struct {
		Obid     uint64
		ClientID string `json:"client_id"`
		Status   string
		Filled   string
	}
}

// join creates an account with a key and money.
func join(ctx context.Context, x *exchange, n int, acknowledged *atomic.Int64) (*client, error) {
	const seed = 17
	c := &client{
		name: fmt.Sprintf("client%d", n), told: map[uint64]*order{}, acknowledged: acknowledged,
		rng:  rand.New(rand.NewPCG(seed, uint64(n))), //nolint:gosec // a demo needs no secrets
		http: &http.Client{Transport: &http.Transport{}},
	}
	email := c.name + "@example.org"
	for _, ask := range []struct {
		verb string
		args fields
	}{
		{"account/create", fields{"email": email}},
		{"credit", fields{"account": email, "asset": "BTC", "amount": "1000"}},
		{"credit", fields{"account": email, "asset": "USDT", "amount": "100000000"}},
	} {
		if _, err := admin.Call(ctx, x.data(), ask.verb, ask.args); err != nil {
			return nil, err
		}
	}
	text, err := admin.Call(
		ctx, x.data(), "key/create", fields{"account": email, "name": "demo", "scopes": "read,trade"})
	if err != nil {
		return nil, err
	}

	var made struct {
		Secret string `json:"api_key"`
	}
	err = json.Unmarshal(text, &made)
	c.key = made.Secret
	return c, err
}

// errUnanswered means that the connection broke before the answer: the outcome is
// unknown.
var errUnanswered = errors.New("no answer came")

// ask sends a request to an endpoint.
func (c *client) ask(ctx context.Context, url, path string, f fields) (r reply, err error) {
	f["api_key"] = c.key
	text, err := json.Marshal(f)
	if err != nil {
		return r, err

	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, bytes.NewReader(text))
	if err != nil {
		return r, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return r, errUnanswered
	}
	defer func() { _ = res.Body.Close() }()

	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return r, errUnanswered
	}
	if res.StatusCode != http.StatusOK {
		return r, fmt.Errorf("%s: %s", path, res.Status)
	}
	return r, json.Unmarshal(answer, &r)
}

// trade places and cancels orders, one after the other, until an answer fails to come.
func (c *client) trade(ctx context.Context, url string) error {
	for {
		var err error
		if len(c.open) > 0 && c.rng.IntN(3) == 0 {
			err = c.cancel(ctx, url)
		} else {
			err = c.place(ctx, url)
		}
		if errors.Is(err, errUnanswered) {
			return nil
		}
		if err != nil {
			return err
		}
		c.acknowledged.Add(1)
	}
}

func (c *client) place(ctx context.Context, url string) error {
	const middle, spread = 60_000, 20

	c.orders++
	side, price := "BUY", middle-c.rng.IntN(spread)
	if c.rng.IntN(2) == 0 {
		side, price = "SELL", middle-spread/2+c.rng.IntN(spread)
	}

	o := fields{
		"pair": "BTC/USDT", "side": side, "type": "LIMIT", "time_in_force": "GTC", "price": fmt.Sprint(price),
		"amount": fmt.Sprintf("0.00%d", 1+c.rng.IntN(9)), "resp_type": "RESULT",
		"client_id": fmt.Sprintf("%s-%d", c.name, c.orders),
	}
	r, err := c.ask(ctx, url, "/spot/open_orders/new", o)
	if errors.Is(err, errUnanswered) {
		c.unanswered = o
	}
	if err == nil && !r.Success {
		err = fmt.Errorf("order %v was refused: %s", o["client_id"], r.Error)
	}
	if err != nil {
		return err
	}

	c.told[r.Obid] = &order{name: fmt.Sprint(o["client_id"]), filled: r.Filled}
	if r.Status == "OPEN" {
		c.open = append(c.open, r.Obid)
	}
	return nil
}

// cancel cancels an order; an order filled meanwhile stays as it is.
func (c *client) cancel(ctx context.Context, url string) error {
	at := c.rng.IntN(len(c.open))
	obid := c.open[at]
	c.open = append(c.open[:at], c.open[at+1:]...)
	r, err := c.ask(ctx, url, "/spot/open_orders/cancel", fields{"obid": obid})
	if errors.Is(err, errUnanswered) {
		c.canceling = obid
	}
	if err == nil && r.Success {
		c.told[obid].canceled = true
	}
	return err
}

// found is a client's result after a crash.
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

// look queries all acknowledged orders, and the outcome of the unanswered request.
func (c *client) look(ctx context.Context, url string) (f found, err error) {
	if c.unanswered != nil {
		took, err := c.again(ctx, url)
		if err != nil {
			return f, err
		}
		if took {
			f.took++
		} else {
			f.never++
		}
	}

	for obid, told := range c.told {
		r, err := c.ask(ctx, url, "/spot/order", fields{"obid": obid})
		if err != nil {
			return f, err
		}
		if obid == c.canceling {
			if r.Order.Status == "CANCELED" {
				f.took++
			} else {
				f.never++
			}
		}
		if told.holds(r) {
			f.there++
		} else {
			f.gone++
		}
	}
	return f, nil
}

// holds reports whether an order shows no less than its acknowledgement.
func (o *order) holds(r reply) bool {
	const scale = 18
	told, err := bourse.ParseAmount(o.filled, scale)
	shown, also := bourse.ParseAmount(r.Order.Filled, scale)
	return r.Success && errors.Join(err, also) == nil && r.Order.ClientID == o.name && shown.Cmp(told) >= 0 &&
		(!o.canceled || r.Order.Status == "CANCELED")
}

// again repeats the unanswered order with its client ID, and reports whether it had been
// placed. Either way it exists once afterwards.
func (c *client) again(ctx context.Context, url string) (took bool, err error) {
	name := c.unanswered["client_id"]
	before, err := c.ask(ctx, url, "/spot/order", fields{"client_id": name})
	if err != nil {
		return false, err
	}
	r, err := c.ask(ctx, url, "/spot/open_orders/new", c.unanswered)
	if err == nil && (!r.Success || before.Success && before.Order.Obid != r.Obid) {
		err = fmt.Errorf("%w: order %v was %d and is %d: %s", ErrBroken, name, before.Order.Obid, r.Obid, r.Error)
	}
	return before.Success, err
}
