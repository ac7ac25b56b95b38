package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// RESTReport is the result of `bench rest`: orders over HTTP; each connection waits for
// an answer before the next request.
type RESTReport struct {
	Connections int `json:"connections"`
	// Batch is the number of orders in a request, for which P50 and P99 are.
	Batch int `json:"batch"`
	// Rate is in acknowledged orders per second.
	Rate float64 `json:"rate"`
	P50  float64 `json:"p50_us"`
	P99  float64 `json:"p99_us"`
	Spent
	// CatchUp is the time in which the history caught up, and Sustained the rate over both.
	CatchUp   float64 `json:"history_catch_up_s"`
	Sustained float64 `json:"sustained_rate"`
}

// RESTPlan is the load of a measurement: Connections, each of which sends requests of Batch
// orders for a while.
type RESTPlan struct {
	Connections, Batch int
	// Sign is the kind of keys that sign each request, hmac or ed25519; empty for requests that
	// show their key.
	Sign string
	For  time.Duration
}

// REST measures other, or, if that is nil, an exchange of its own in a directory below
// dir.
func REST(ctx context.Context, dir string, other *Target, plan RESTPlan) (_ *RESTReport, err error) {
	target, stop, err := measured(ctx, dir, other, min(plan.Connections, mostCustomers))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	r, err := target.loaded(ctx, plan)
	if err == nil && other == nil {
		err = r.catchUp(ctx, target, plan.For)
	}
	return r, err
}

// mostCustomers bounds the accounts that share a load's connections.
const mostCustomers = 16

// loaded measures a load on connections of its own.
func (t *Target) loaded(ctx context.Context, plan RESTPlan) (*RESTReport, error) {
	clients, err := t.dialAll(plan.Connections, plan.Batch)
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	if plan.Sign != "" {
		if err := t.signAll(ctx, clients, plan.Sign); err != nil {
			return nil, err
		}
	}
	if _, err := load(clients, plan.For/10); err != nil { // warm up
		return nil, err
	}
	return t.load(ctx, clients, plan.For)
}

// load measures orders for a while.
func (t *Target) load(ctx context.Context, clients []*client, lasting time.Duration) (*RESTReport, error) {
	m, err := t.meter(ctx, lasting)
	if err != nil {
		return nil, err
	}

	began := time.Now()
	took, err := load(clients, lasting)
	if err != nil {
		return nil, err
	}

	seconds := time.Since(began).Seconds()
	n := len(took) * clients[0].batch
	spent, err := m.end(ctx, n)
	slices.Sort(took)
	return &RESTReport{
		Connections: len(clients), Batch: clients[0].batch, Rate: float64(n) / seconds, Spent: spent,
		P50: micros(took[len(took)/2]), P99: micros(took[len(took)*99/100]),
	}, err
}

// catchUp waits until the history has caught up.
func (r *RESTReport) catchUp(ctx context.Context, t *Target, lasting time.Duration) error {
	began := time.Now()
	for lag := r.Lag; lag > 0; {
		time.Sleep(10 * time.Millisecond)
		var err error
		if lag, err = t.lag(ctx); err != nil {
			return err
		}
	}
	waited := time.Since(began)
	r.CatchUp = waited.Seconds()
	r.Sustained = r.Rate * lasting.Seconds() / (lasting + waited).Seconds()
	return nil
}

// client is a connection that sends two orders in turn.
type client struct {
	conn net.Conn
	r    *bufio.Reader
	// requests are sent in turn: orders, and as many that match them.
	requests [2][]byte
	// batch is the number of orders in a request.
	batch int
	// signer makes the requests, if they are signed.
	signer *restSigner
	turn   int
	took   []time.Duration
}

func (t *Target) dialAll(n, batch int) ([]*client, error) {
	clients := make([]*client, 0, n)
	for i := range n {
		c, err := t.dial(i, batch)
		if err != nil {
			closeAll(clients)
			return nil, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		_ = c.conn.Close()
	}
}

// dial connects the client of this number, which sends requests of batch orders. Odd ones
// begin with a sale, so that buys and sales balance.
func (t *Target) dial(number, batch int) (*client, error) {
	conn, err := net.Dial("tcp", t.Address) //nolint:noctx // a moment, on this machine
	if err != nil {
		return nil, err
	}
	key := "none"
	if n := len(t.keys); n > 0 {
		key = t.keys[number%n]
	}
	c := &client{conn: conn, r: bufio.NewReaderSize(conn, longest), batch: batch, turn: number & 1}
	for i, side := range [...]string{"BUY", "SELL"} {
		path, fields := "new", orderFields(side)
		if batch > 1 {
			place := `{"place":{` + fields + `}}`
			path, fields = "batch", `"requests":[`+place+strings.Repeat(","+place, batch-1)+`]`
		}
		body := fmt.Sprintf(`{"api_key":%q,%s}`, key, fields)
		c.requests[i] = fmt.Appendf(nil, "POST /spot/open_orders/%s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	}
	return c, nil
}

// orderFields are the fields of an order of a side.
func orderFields(side string) string {
	return fmt.Sprintf(`"pair":"BTC/USDT","side":%q,"type":"LIMIT","time_in_force":"GTC","price":"60000","amount":"0.001","resp_type":"ACK"`, side)
}

// longest bounds an answer in bytes.
const longest = 16 << 10

// load makes all clients send orders for a while, and returns the latencies.
func load(clients []*client, lasting time.Duration) ([]time.Duration, error) {
	var over atomic.Bool
	timer := time.AfterFunc(lasting, func() { over.Store(true) })
	defer timer.Stop()

	var running sync.WaitGroup
	failed := make([]error, len(clients))
	for i, c := range clients {
		c.took = c.took[:0]
		running.Go(func() {
			for failed[i] == nil && !over.Load() {
				failed[i] = c.order()
			}
		})
	}

	running.Wait()
	var took []time.Duration
	for _, c := range clients {
		took = append(took, c.took...)
	}

	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, errors.New("no order was answered in time")
	}
	return took, nil
}

var (
	contentLength = []byte("Content-Length: ")
	statusOK      = []byte("HTTP/1.1 200")
	successful    = []byte(`"success":true`)
)

// order sends the next orders and reads their answer, which must be a success.
func (c *client) order() error {
	request := c.requests[c.turn&1]
	if c.signer != nil {
		request = c.signer.request(c.turn)
	}
	c.turn++
	began := time.Now()
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	status, body, err := c.answer()
	if err != nil {
		return err
	}
	good := bytes.Count(body, successful)
	if !bytes.HasPrefix(status, statusOK) || good == 0 || c.batch > 1 && good <= c.batch {
		return fmt.Errorf("%s: %s", bytes.TrimSpace(status), body)
	}
	c.took = append(c.took, time.Since(began))
	return nil
}

// answer reads an answer, valid until the next one.
func (c *client) answer() (status, body []byte, err error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, nil, err
	}

	status = bytes.Clone(line)
	length := 0
	for len(line) > len("\r\n") {
		if line, err = c.r.ReadSlice('\n'); err != nil {
			return nil, nil, err
		}
		if n, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(n))); err != nil {
				return nil, nil, err
			}
		}
	}

	if body, err = c.r.Peek(length); err != nil {
		return nil, nil, err
	}
	_, err = c.r.Discard(length)
	return status, body, err
}
