package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
)

// Bounds of an exchange's delays and answers.
const (
	dialWithin = 10 * time.Second
	maxAnswer  = 64 << 20 // a whole book
	maxMessage = 16 << 10
)

// message is a message on a stream: an answer, a level or a trade.
type message struct {
	Class, Stream       string
	Success             bool
	Error               string
	Price, Amount, Side string
	Seq                 uint64
	Time                int64
	// price and amount are the values of Price and Amount.
	price, amount number
}

// client is a connection to an exchange's streams.
type client struct {
	base, pair string
	http       *http.Client
	conn       net.Conn
	reader     *bufio.Reader
}

// dial connects to the exchange at an address such as http://127.0.0.1:8080.
func dial(ctx context.Context, address, pair string) (*client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no address such as http://127.0.0.1:8080", address)
	}
	c := &client{base: strings.TrimSuffix(address, "/"), pair: pair, http: &http.Client{Timeout: dialWithin}}

	dialer := ws.Dialer{Timeout: dialWithin}
	conn, buffered, _, err := dialer.Dial(ctx, "ws"+strings.TrimPrefix(c.base, "http")+"/stream")
	if err != nil {
		return nil, fmt.Errorf("no exchange answers at %s: %w", address, err)
	}
	c.conn, c.reader = conn, buffered
	if buffered == nil {
		c.reader = bufio.NewReader(conn)
	}
	return c, nil
}

func (c *client) close() error { return c.conn.Close() }

// subscribe subscribes to the book and the trades. Their messages follow the answer.
func (c *client) subscribe() error {
	ask, err := json.Marshal(map[string]any{
		"op": "sub", "id": 1, "streams": []string{c.pair + "@orderBook", c.pair + "@marketTrade"},
	})
	if err != nil {
		return err
	}
	if err := wsutil.WriteClientText(c.conn, ask); err != nil {
		return err
	}

	m, err := c.next()
	if err == nil && !m.Success {
		err = fmt.Errorf("the exchange answers: %q", m.Error)
	}
	return err
}

// next waits for the next message.
func (c *client) next() (*message, error) {
	answers := struct {
		io.Reader
		io.Writer
	}{c.reader, c.conn}
	control := wsutil.ControlFrameHandler(c.conn, ws.StateClientSide)
	frames := wsutil.Reader{
		Source: answers, State: ws.StateClientSide, CheckUTF8: true, MaxFrameSize: maxMessage, OnIntermediate: control,
	}

	for {
		h, err := frames.NextFrame()
		if err != nil {
			return nil, err
		}
		if h.OpCode.IsControl() {
			if err := control(h, &frames); err != nil {
				return nil, err
			}
			continue
		}

		text, err := io.ReadAll(io.LimitReader(&frames, maxMessage))
		if err != nil {
			return nil, err
		}
		return parse(text)
	}
}

// parse reads a message. Numbers are checked, because they are shown.
func parse(text []byte) (*message, error) {
	m := new(message)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("the exchange sent no message: %w", err)
	}
	if m.Class != "data" {
		return m, nil
	}

	var err, also error
	m.price, err = parseNumber(m.Price)
	m.amount, also = parseNumber(m.Amount)
	if m.Side != "BUY" && m.Side != "SELL" {
		err = fmt.Errorf("the exchange sent %.40q where a side is expected", m.Side)
	}
	return m, errors.Join(err, also)
}

// load requests the current book.
func (c *client) load(ctx context.Context) (*book, error) {
	at := c.base + "/spot/orderbook?" + url.Values{"pair": {c.pair}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()

	var answer struct {
		Success    bool
		Error      string
		Bids, Asks []struct{ Price, Amount string }
		Seq        uint64
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the exchange answers %s", res.Status)
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(&answer); err != nil {
		return nil, err
	}
	if !answer.Success {
		return nil, fmt.Errorf("the exchange answers: %q", answer.Error)
	}

	b := &book{seq: answer.Seq}
	for _, side := range []struct {
		name   string
		levels []struct{ Price, Amount string }
	}{{"BUY", answer.Bids}, {"SELL", answer.Asks}} {
		for _, l := range side.levels {
			price, err := parseNumber(l.Price)
			if err != nil {
				return nil, err
			}
			amount, err := parseNumber(l.Amount)
			if err != nil {
				return nil, err
			}
			if err := b.set(side.name, price, amount); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}
