package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// StreamReport is the result of `bench stream`: order book messages delivered to all
// subscribers.
type StreamReport struct {
	Subscribers int `json:"subscribers"`
	// Burst is the number of orders placed at once; each makes one message. The next
	// burst follows when every subscriber has all messages.
	Burst int `json:"burst"`
	// Rate is the messages delivered per second to all subscribers together.
	Rate float64 `json:"messages_per_second"`
	// CPU is the server's CPU time per message.
	CPU float64 `json:"cpu_us_per_message"`
}

// patience bounds the wait for the messages of a burst.
const patience = 30 * time.Second

// StreamPlan is the number of connections that subscribe, the number of orders placed at
// once, and the duration.
type StreamPlan struct {
	Subscribers, Burst int
	For                time.Duration
}

// Stream measures other, or, if that is nil, an exchange of its own in a directory below
// dir.
func Stream(ctx context.Context, dir string, other *Target, plan StreamPlan) (_ *StreamReport, err error) {
	target, stop, err := measured(ctx, dir, other, 16)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()

	a := newAudience()
	defer a.leave()
	r := &StreamReport{Subscribers: plan.Subscribers, Burst: plan.Burst}
	if err := errors.Join(a.join(target, plan.Subscribers), a.subscribe()); err != nil {
		return nil, err
	}

	placers, err := target.dialAll(plan.Burst, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(placers)

	before, err := cpuOf(target.PID)
	if err != nil {
		return nil, err
	}
	began, sent := time.Now(), 0
	for time.Since(began) < plan.For {
		if err := a.round(placers, plan.Subscribers); err != nil {
			return nil, err
		}
		sent += plan.Burst * plan.Subscribers
	}

	spent := time.Since(began)
	after, err := cpuOf(target.PID)
	if err != nil {
		return nil, err
	}

	r.Rate, r.CPU = float64(sent)/spent.Seconds(), micros(after-before)/float64(sent)
	return r, nil
}

// audience is all subscribers.
type audience struct {
	conns   []net.Conn
	readers []*bufio.Reader
	// total counts the messages received; reached receives when it equals awaited.
	total, awaited atomic.Int64
	reached        chan struct{}
	failed         chan error
	leaving        atomic.Bool
}

func newAudience() *audience {
	return &audience{reached: make(chan struct{}, 1), failed: make(chan error, 1)}
}

// join opens n connections.
func (a *audience) join(t *Target, n int) error {
	for range n {
		conn, err := net.Dial("tcp", t.Address) //nolint:noctx // a moment, on this machine
		if err != nil {
			return err
		}
		a.conns = append(a.conns, conn)
		r, err := upgrade(conn, "/stream")
		if err != nil {
			return err
		}
		a.readers = append(a.readers, r)
	}
	return nil
}

// subscribe subscribes every connection.
func (a *audience) subscribe() error {
	for i, r := range a.readers {
		if err := subscribe(a.conns[i], r); err != nil {
			return err
		}
		go a.listen(r)
	}
	return nil
}

func (a *audience) leave() {
	a.leaving.Store(true)
	for _, c := range a.conns {
		_ = c.Close()
	}
}

// round makes each placer place an order, and waits until every subscriber has all
// messages.
func (a *audience) round(placers []*client, subscribers int) error {
	a.awaited.Add(int64(len(placers) * subscribers))

	var running sync.WaitGroup
	failed := make([]error, len(placers))
	for i, p := range placers {
		running.Go(func() { failed[i] = p.order() })
	}
	running.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}

	select {
	case <-a.reached:
		return nil
	case err := <-a.failed:
		return err
	case <-time.After(patience):
		return fmt.Errorf("%d of %d messages arrived", a.total.Load(), a.awaited.Load())
	}
}

// listen counts the messages of a connection until it ends.
func (a *audience) listen(r *bufio.Reader) {
	for {
		n, err := count(r)
		if err != nil {
			if !a.leaving.Load() {
				select {
				case a.failed <- fmt.Errorf("a subscriber was cut: %w", err):
				default:
				}
			}
			return
		}
		if a.total.Add(int64(n)) == a.awaited.Load() {
			a.reached <- struct{}{}
		}
	}
}

// count reads all whole frames that have arrived, at least one, and counts the text
// frames.
func count(r *bufio.Reader) (texts int, err error) {
	for {
		size, text, err := frameSize(r)
		if err != nil {
			return 0, err
		}
		if _, err := r.Discard(size); err != nil {
			return 0, err
		}
		if text {
			texts++
		}
		if r.Buffered() == 0 {
			return texts, nil
		}
	}
}

// frameSize reads the header of the next frame and returns the frame's size.
func frameSize(r *bufio.Reader) (size int, text bool, err error) {
	const short, opText, plain = 126, 0x81, 2
	h, err := r.Peek(plain)
	if err != nil {
		return 0, false, err
	}
	text = h[0] == opText
	switch n := int(h[1]); {
	case n < short:
		return plain + n, text, nil
	case n > short:
		return 0, false, errors.New("a message is longer than any of an order book")
	}
	if h, err = r.Peek(plain + 2); err != nil {
		return 0, false, err
	}
	return plain + 2 + int(binary.BigEndian.Uint16(h[plain:])), text, nil
}

// upgrade turns a connection into a WebSocket of a path.
func upgrade(conn net.Conn, path string) (*bufio.Reader, error) {
	request := "GET " + path + " HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, 16<<10)
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil:
			return nil, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 101")):
			return nil, fmt.Errorf("no stream there: %s", line)
		case len(line) == len("\r\n"):
			return r, nil
		}
	}
}

// subscribe subscribes to the book, and waits for the answer.
func subscribe(conn net.Conn, r *bufio.Reader) error {
	text := []byte(`{"op":"sub","id":1,"streams":"BTC/USDT@orderBook"}`)
	frame := append([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...) // masked with zeros
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	n, err := count(r)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d answers to a subscription", n)
	}
	return err
}
