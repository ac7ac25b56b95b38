package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds of an answer.
const (
	// maxAnswer bounds its size, in bytes: the whole book of a busy market is the largest.
	maxAnswer = 64 << 20
	// dialWithin bounds the time to connect.
	dialWithin = 10 * time.Second
	// answerWithin bounds the time for an answer; a context may end it earlier. The exchange
	// answers what takes longer with Outcome unknown.
	answerWithin = 60 * time.Second
)

// Options configure a client. The zero Options are for market data alone.
type Options struct {
	// Key is the secret of an API key, or the id of one that signs.
	Key string
	// Sign signs requests for a key of the kind hmac or ed25519, in place of a secret that
	// crosses the wire: SignHMAC or SignEd25519. Nil sends Key as the secret.
	Sign Signer
	// Exchange is the id of the exchange that requests are signed for, from Config or its
	// operator. A request that is signed for one exchange is good for no other, so it must
	// not be asked of an address that is not trusted.
	Exchange string
	// WaitForLimits makes requests beyond a limit wait and repeat, instead of failing. The
	// exchange carries out nothing of such a request.
	WaitForLimits bool
	// HTTP sends the requests. Nil is a client of this package's own, by Dial and TLS.
	HTTP *http.Client
	// Dial makes the connections of streams, and of requests if HTTP is nil. Nil dials the
	// address.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// TLS configures https. Nil is the system's configuration.
	TLS *tls.Config
}

// Client asks one exchange, for one account. Safe for concurrent use.
type Client struct {
	// base is the address without a trailing slash.
	base string
	o    Options
	http *http.Client
	// requests is the number of requests that were signed.
	requests atomic.Uint64
}

// New returns a client of the exchange at an address such as http://127.0.0.1:8080.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no address such as http://127.0.0.1:8080", address)
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: dialWithin}).DialContext
	}

	if o.Sign != nil {
		if err := checkExchange(o.Exchange); err != nil {
			return nil, err
		}
	}

	c := &Client{base: strings.TrimSuffix(address, "/"), o: o, http: o.HTTP}
	if c.http == nil {
		c.http = &http.Client{Timeout: answerWithin, Transport: &http.Transport{
			DialContext: o.Dial, TLSClientConfig: o.TLS, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
		}}
	}
	return c, nil
}

// Close closes the idle connections of requests.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// fields are the fields of a request.
type fields map[string]any

// text adds a field unless it is empty.
func (f fields) text(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

// number adds a field unless it is zero.
func (f fields) number(name string, value uint64) fields {
	if value != 0 {
		f[name] = value
	}
	return f
}

// seconds adds a time unless it is zero.
func (f fields) seconds(name string, t time.Time) fields {
	if !t.IsZero() {
		f[name] = t.Unix()
	}
	return f
}

// purpose is the purpose of a request.
type purpose int

const (
	// looking is the purpose of a request for public data, without a key.
	looking purpose = iota
	// reading is that of a request for data of the account.
	reading
	// changing is that of a request that changes something.
	changing
)

// look reads public data.
func look[A any](ctx context.Context, c *Client, path string, f fields) (answer A, err error) {
	err = c.ask(ctx, path, f, &answer, looking)
	return answer, err
}

// read reads data of the account.
func read[A any](ctx context.Context, c *Client, path string, f fields) (answer A, err error) {
	err = c.ask(ctx, path, f, &answer, reading)
	return answer, err
}

// change changes something of the account. Without an answer the error is ErrOutcomeUnknown.
func change[A any](ctx context.Context, c *Client, path string, f fields) (answer A, err error) {
	err = c.ask(ctx, path, f, &answer, changing)
	return answer, err
}

// nothing is the answer of an endpoint that returns no data.
type nothing struct{}

// ask sends a request. With WaitForLimits it repeats one that a limit refused, after a pause.
func (c *Client) ask(ctx context.Context, path string, f fields, into any, why purpose) error {
	if why != looking && c.o.Sign == nil {
		f["api_key"] = c.o.Key
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	for {
		err := c.send(ctx, path, text, into, why)
		var limited *Error
		switch {
		case err == nil:
			return nil
		case c.o.WaitForLimits && errors.As(err, &limited) && limited.Is(ErrTooManyRequests):
			if pause(ctx, max(limited.RetryAfter, leastPause)) == nil {
				continue
			}
		case why == changing && mayHaveHappened(err) && !errors.Is(err, ErrOutcomeUnknown):
			return fmt.Errorf("%s: %w: %w", path, ErrOutcomeUnknown, err)
		}
		return err
	}
}

// unsentError is the error of a request that never had a connection.
type unsentError struct{ error }

// Unwrap returns why there was no connection.
func (e *unsentError) Unwrap() error { return e.error }

// mayHaveHappened reports whether the exchange may have carried out a request that ended with
// an error.
func mayHaveHappened(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status >= http.StatusInternalServerError
	}
	return !errors.As(err, new(*unsentError))
}

// send sends a request once, signed if its key signs, and reads its answer.
func (c *Client) send(ctx context.Context, path string, text []byte, into any, why purpose) error {
	asked, connected := false, false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked = true },
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if why != looking && c.o.Sign != nil {
		c.signRequest(req, text)
	}

	res, err := c.http.Do(req)
	if err != nil && asked && !connected {
		err = &unsentError{err}
	}
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("%s: the answer has more than %d bytes", path, maxAnswer)
	}
	if err := refusal(path, res, body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: the answer is none of V1: %w", path, err)
	}
	return nil
}

// leastPause is the shortest pause before a request is repeated.
const leastPause = 50 * time.Millisecond

// pause waits for d. If the context ends first, the error is its cause.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
