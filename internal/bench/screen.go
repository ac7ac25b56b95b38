package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ScreenReport is the result of `bench screen`: the same changes of a book without subscribers,
// and told by each of the streams of a book.
type ScreenReport struct {
	Subscribers int          `json:"subscribers"`
	Streams     []ScreenLine `json:"streams"`
}

// ScreenLine is the measurement of a stream.
type ScreenLine struct {
	// Stream is empty for the line without subscribers.
	Stream string `json:"stream"`
	// Changes is the rate of the changes of levels.
	Changes float64 `json:"changes_per_second"`
	// Messages and Bytes are what each subscriber gets per second.
	Messages float64 `json:"messages_per_second"`
	Bytes    float64 `json:"bytes_per_second"`
	// CPU is the server's CPU time per change, for orders and all subscribers.
	CPU float64 `json:"cpu_us_per_change"`
}

// ScreenPlan is the number of connections that subscribe, the changes of levels per second, and
// the duration for each stream.
type ScreenPlan struct {
	Subscribers, Rate int
	For               time.Duration
}

// screenBatch is the number of orders in a request, each of which changes a level of its own.
const screenBatch = 50

// Screen measures an exchange of its own in a directory below dir.
func Screen(ctx context.Context, dir string, plan ScreenPlan) (_ *ScreenReport, err error) {
	target, stop, err := measured(ctx, dir, nil, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()

	placer, err := target.dial(0, screenBatch)
	if err != nil {
		return nil, err
	}
	defer closeAll([]*client{placer})
	placer.requests = wideRequests(target.keys[0])

	r := &ScreenReport{Subscribers: plan.Subscribers}
	for _, stream := range []string{"", "BTC/USDT@book", "BTC/USDT@orderBook"} {
		line, err := target.screen(placer, stream, plan)
		if err != nil {
			return nil, err
		}
		r.Streams = append(r.Streams, *line)
	}
	return r, nil
}

// wideRequests returns a request of bids at prices of their own, and one of sales that take them
// one by one.
func wideRequests(key string) (requests [2][]byte) {
	for i, side := range [...]string{"BUY", "SELL"} {
		places := make([]string, screenBatch)
		for j := range places {
			price := 59000 + j
			if side == "SELL" {
				price = 59000
			}
			places[j] = fmt.Sprintf(`{"place":{"pair":"BTC/USDT","side":%q,"type":"LIMIT","time_in_force":"GTC","price":"%d",`+
				`"amount":"0.001","self_trade":"NONE","resp_type":"ACK"}}`, side, price)
		}
		body := fmt.Sprintf(`{"api_key":%q,"requests":[%s]}`, key, strings.Join(places, ","))
		requests[i] = fmt.Appendf(nil, "POST /spot/open_orders/batch HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return requests
}

// screen changes the book at a rate, and measures what subscribers get.
func (t *Target) screen(placer *client, stream string, plan ScreenPlan) (*ScreenLine, error) {
	w := new(watchers)
	defer w.leave()
	if stream != "" {
		if err := w.join(t, stream, plan.Subscribers); err != nil {
			return nil, err
		}
	}

	cpu, err := cpuOf(t.PID)
	if err != nil {
		return nil, err
	}
	messages, bytes := w.messages.Load(), w.bytes.Load()
	began, changes := time.Now(), 0
	for spent := time.Duration(0); spent < plan.For; spent = time.Since(began) {
		if err := placer.order(); err != nil {
			return nil, err
		}
		changes += screenBatch
		time.Sleep(time.Until(began.Add(time.Duration(changes) * time.Second / time.Duration(plan.Rate))))
	}

	spent := time.Since(began).Seconds()
	after, err := cpuOf(t.PID)
	if err != nil {
		return nil, err
	}
	each := spent * float64(max(len(w.conns), 1))
	return &ScreenLine{
		Stream: stream, Changes: float64(changes) / spent, CPU: micros(after-cpu) / float64(changes),
		Messages: float64(w.messages.Load()-messages) / each, Bytes: float64(w.bytes.Load()-bytes) / each,
	}, w.err()
}

// watchers are connections that read a stream.
type watchers struct {
	conns           []net.Conn
	reading         sync.WaitGroup
	messages, bytes atomic.Int64
	leaving         atomic.Bool
	failed          atomic.Pointer[error]
}

// join opens n connections, and waits for the answers to their subscriptions.
func (w *watchers) join(t *Target, stream string, n int) error {
	text := fmt.Appendf(nil, `{"op":"sub","id":1,"streams":%q}`, stream)
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // masked with zeros
	for range n {
		conn, err := net.Dial("tcp", t.Address) //nolint:noctx // a moment, on this machine
		if err != nil {
			return err
		}
		w.conns = append(w.conns, conn)
		r, err := upgrade(conn, "/stream")
		if err != nil {
			return err
		}
		if _, err := conn.Write(frame); err != nil {
			return err
		}
		if _, err := w.read(r); err != nil {
			return err
		}
		w.reading.Go(func() { w.listen(r) })
	}
	return nil
}

// read reads a frame and returns its size.
func (w *watchers) read(r *bufio.Reader) (int, error) {
	size, _, err := frameSize(r)
	if err != nil {
		return 0, err
	}
	return r.Discard(size)
}

// listen counts the messages of a connection until it ends.
func (w *watchers) listen(r *bufio.Reader) {
	for {
		n, err := w.read(r)
		if err != nil {
			if !w.leaving.Load() {
				err = fmt.Errorf("a subscriber was cut: %w", err)
				w.failed.Store(&err)
			}
			return
		}
		w.messages.Add(1)
		w.bytes.Add(int64(n))
	}
}

// err returns the error of a connection that was cut.
func (w *watchers) err() error {
	if failed := w.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

func (w *watchers) leave() {
	w.leaving.Store(true)
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.reading.Wait()
}
