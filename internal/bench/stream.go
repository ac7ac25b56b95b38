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

// StreamReport is what `bench stream` measures: messages of an order book on
// their way to all who listen to it.
type StreamReport struct {
	Subscribers int `json:"subscribers"`
	// Burst is how many orders are placed at once; each makes one message. The
	// next ones follow when everybody has them all.
	Burst int `json:"burst"`
	// Rate is messages delivered a second, all subscribers together.
	Rate float64 `json:"messages_per_second"`
	// CPU is that of the server, for each message.
	CPU float64 `json:"cpu_us_per_message"`
}

// patience is how long subscribers may wait for what was sent.
const patience = 30 * time.Second

// Stream measures an exchange of its own in a directory below dir, or, if it is
// not nil, another server.
func Stream(ctx context.Context, dir string, other *Target, subscribers, burst int, lasting time.Duration) (_ *StreamReport, err error) {
	target, stop, err := measured(ctx, dir, other, 16)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	a := newAudience()
	defer a.leave()
	r := &StreamReport{Subscribers: subscribers, Burst: burst}
	if err := errors.Join(a.join(target, subscribers), a.subscribe()); err != nil {
		return nil, err
	}
	placers, err := target.dialAll(burst)
	if err != nil {
		return nil, err
	}
	defer closeAll(placers)
	before, err := cpuOf(target.PID)
	if err != nil {
		return nil, err
	}
	began, sent := time.Now(), 0
	for time.Since(began) < lasting {
		if err := a.round(placers, subscribers); err != nil {
			return nil, err
		}
		sent += burst * subscribers
	}
	spent := time.Since(began)
	after, err := cpuOf(target.PID)
	if err != nil {
		return nil, err
	}
	r.Rate, r.CPU = float64(sent)/spent.Seconds(), micros(after-before)/float64(sent)
	return r, nil
}

// audience are all who listen.
type audience struct {
	conns   []net.Conn
	readers []*bufio.Reader
	// total counts the messages that arrived; reached receives when they are as
	// many as awaited.
	total, awaited atomic.Int64
	reached        chan struct{}
	failed         chan error
	leaving        atomic.Bool
}

func newAudience() *audience {
	return &audience{reached: make(chan struct{}, 1), failed: make(chan error, 1)}
}

// join connects so many.
func (a *audience) join(t *Target, n int) error {
	for range n {
		conn, err := net.Dial("tcp", t.Address) //nolint:noctx // a moment, on this machine
		if err != nil {
			return err
		}
		a.conns = append(a.conns, conn)
		r, err := upgrade(conn)
		if err != nil {
			return err
		}
		a.readers = append(a.readers, r)
	}
	return nil
}

// subscribe has everybody listen.
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

// round has each placer place an order, and waits until everybody knows of all of
// them.
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

// count takes all whole text frames that have arrived, and at least one frame.
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

// frameSize looks at the header of the next frame and returns the bytes of all of
// it.
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

// upgrade turns a connection into a stream.
func upgrade(conn net.Conn) (*bufio.Reader, error) {
	const request = "GET /stream HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
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

// subscribe listens to the book, and waits for the answer.
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
