package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"
)

// EntryReport is the result of `bench entry`: orders over one WebSocket that has logged on,
// which sends them without waiting for answers, beside orders over HTTP.
type EntryReport struct {
	// Rate is in acknowledged orders per second.
	Rate float64 `json:"rate"`
	Spent
	// RESTRate and RESTCPU are the rate and the CPU, without the history's, of the same orders
	// over HTTP, and Times is the ratio of the rates.
	RESTRate float64 `json:"rest_rate"`
	RESTCPU  float64 `json:"rest_own_cpu_us_per_op"`
	Times    float64 `json:"times_rest"`
}

// Entry measures an exchange of its own in a directory below dir: first orders over HTTP, then
// over one WebSocket.
func Entry(ctx context.Context, dir string, connections int, lasting time.Duration) (_ *EntryReport, err error) {
	const customers = 16
	x, err := startExchange(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.stop()) }()
	if err := x.open(ctx, customers); err != nil {
		return nil, err
	}

	clients, err := x.dialAll(connections, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	if _, err := load(clients, lasting/10); err != nil { // warm up
		return nil, err
	}
	rest, err := x.load(ctx, clients, lasting)
	if err != nil {
		return nil, err
	}
	if err := rest.catchUp(ctx, &x.Target, lasting); err != nil {
		return nil, err
	}
	r, err := x.enter(ctx, lasting)
	if err != nil {
		return nil, err
	}
	r.RESTRate, r.RESTCPU, r.Times = rest.Rate, rest.OwnCPU, r.Rate/rest.Rate
	return r, nil
}

// enter measures orders over one WebSocket.
func (x *exchange) enter(ctx context.Context, lasting time.Duration) (*EntryReport, error) {
	key, err := x.createSigner(ctx, 1, "hmac", "")
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", x.Address) //nolint:noctx // a moment, on this machine
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	in, err := upgrade(conn, "/binance/ws-api/v3?returnRateLimits=false")
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(logOn(key)); err != nil {
		return nil, err
	}
	if err := taken(in); err != nil {
		return nil, err
	}
	if _, err := pipeline(conn, in, lasting/10); err != nil { // warm up
		return nil, err
	}
	return x.pipelined(ctx, conn, in, lasting)
}

// pipelined measures orders over a connection that has logged on.
func (x *exchange) pipelined(
	ctx context.Context, conn net.Conn, in *bufio.Reader, lasting time.Duration,
) (*EntryReport, error) {
	m, err := x.meter(ctx, lasting)
	if err != nil {
		return nil, err
	}

	began := time.Now()
	n, err := pipeline(conn, in, lasting)
	if err != nil {
		return nil, err
	}

	seconds := time.Since(began).Seconds()
	spent, err := m.end(ctx, n)
	return &EntryReport{Rate: float64(n) / seconds, Spent: spent}, err
}

// logOn returns the frame of a request to log on.
func logOn(key signer) []byte {
	text := "apiKey=" + key.ID + "&timestamp=" + strconv.FormatInt(time.Now().UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(key.Secret))
	_, _ = mac.Write([]byte(text)) // a hash never fails
	_, stamp, _ := bytes.Cut([]byte(text), []byte("timestamp="))
	return masked(fmt.Appendf(nil, `{"id":0,"method":"session.logon","params":{"apiKey":%q,"timestamp":%s,"signature":%q}}`,
		key.ID, stamp, hex.EncodeToString(mac.Sum(nil))))
}

// masked returns the frame of a message, masked with zeros.
func masked(text []byte) []byte {
	const long = 126
	if len(text) < long {
		return append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
	}
	return append([]byte{0x81, 0x80 | long, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}, text...)
}

// together is the number of orders that are written at once.
const together = 64

// pipeline sends orders for a while without waiting for their answers, and returns how many
// were acknowledged.
func pipeline(conn net.Conn, in *bufio.Reader, lasting time.Duration) (int, error) {
	var batch []byte
	for i := range together {
		side := [...]string{"BUY", "SELL"}[i&1]
		batch = append(batch, masked(fmt.Appendf(nil, `{"id":%d,"method":"order.place","params":{"symbol":"BTCUSDT","side":%q,"type":"LIMIT","timeInForce":"GTC","price":"60000.00","quantity":"0.001","newOrderRespType":"ACK"}}`, i+1, side))...)
	}

	var over atomic.Bool
	timer := time.AfterFunc(lasting, func() { over.Store(true) })
	defer timer.Stop()
	sent := make(chan int, 1)
	go func() {
		n := 0
		for !over.Load() {
			if _, err := conn.Write(batch); err != nil {
				break
			}
			n += together
		}
		sent <- n
		_, _ = conn.Write(masked([]byte(`{"id":0,"method":"ping"}`))) // its answer comes last
	}()

	for n, total := 0, -1; ; n++ {
		if err := taken(in); err != nil {
			return 0, err
		}
		if total < 0 {
			select {
			case total = <-sent:
			default:
			}
		}
		if n == total {
			return n, nil
		}
	}
}

var accepted = []byte(`"status":200`)

// taken reads an answer, which must be a success.
func taken(in *bufio.Reader) error {
	size, text, err := frameSize(in)
	if err != nil {
		return err
	}
	frame, err := in.Peek(size)
	if err != nil {
		return err
	}
	if text && !bytes.Contains(frame, accepted) {
		return fmt.Errorf("an order was not taken: %s", frame)
	}
	_, err = in.Discard(size)
	if err == nil && !text {
		return taken(in) // a ping
	}
	return err
}
