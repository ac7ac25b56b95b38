package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// DefaultTimeout bounds a request, so that a silent node shows within three seconds.
	DefaultTimeout = 3 * time.Second
	// DefaultMaxAnswer bounds an answer, in bytes: a block of 4 MB in hexadecimal digits, twice.
	DefaultMaxAnswer = 16 << 20
	// maxIdle is the number of open connections to a node that wait for the next request.
	maxIdle = 4
)

// Options configure a client.
type Options struct {
	// URL is the node's address, without user and password.
	URL string
	// User authenticates to the node; none if empty.
	User string
	// Password returns the user's password. It is called for the first request, and again after
	// the node refused a password, because some nodes write a new one at each start.
	Password func() (string, error)
	// Timeout bounds a request; zero is DefaultTimeout.
	Timeout time.Duration
	// MaxAnswer bounds an answer in bytes; zero is DefaultMaxAnswer.
	MaxAnswer int64
}

// Client asks one node. Safe for concurrent use.
type Client struct {
	options Options
	http    http.Client
	asked   atomic.Uint64

	mu sync.Mutex
	// password is the last read one. Guarded by mu.
	password string
	// fresh is true if password was read and not refused since. Guarded by mu.
	fresh bool
}

// New returns a client. It does not connect.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("a node's URL is like http://127.0.0.1:8332")
	case u.User != nil:
		return nil, errors.New("a node's URL has no user and no password; they are settings of their own")
	case o.User != "" && o.Password == nil:
		return nil, errors.New("a node's user has no password")
	}

	o.URL = strings.TrimSuffix(o.URL, "/")
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxAnswer == 0 {
		o.MaxAnswer = DefaultMaxAnswer
	}
	return &Client{options: o, http: http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call calls a method and decodes its result; a nil result is ignored. The error is the
// node's own as an [*Error], or wraps [chain.ErrSilent] or [chain.ErrOdd].
func (c *Client) Call(ctx context.Context, result any, method string, params ...any) error {
	return c.CallWithin(ctx, c.options.Timeout, result, method, params...)
}

// CallWithin is Call with a timeout of its own.
func (c *Client) CallWithin(
	ctx context.Context, timeout time.Duration, result any, method string, params ...any,
) error {
	if params == nil {
		params = []any{}
	}
	id := c.asked.Add(1)
	text, err := json.Marshal(&request{"2.0", id, method, params})
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, status, err := c.send(ctx, http.MethodPost, "", text)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if refused := status == http.StatusUnauthorized || status == http.StatusForbidden; refused {
		return odd("%s: the node refuses the user or the password (HTTP %d)", method, status)
	}
	if status == http.StatusServiceUnavailable {
		return fmt.Errorf("%s: %w: it is too busy (HTTP %d)", method, chain.ErrSilent, status)
	}
	if status == http.StatusGatewayTimeout {
		return fmt.Errorf("%s: %w: %w (HTTP %d)", method, chain.ErrSilent, context.DeadlineExceeded, status)
	}
	return decode(reply, id, method, result)
}

// Get reads a resource below the URL. ok is false if the node has none there, or serves no
// resources at all.
func (c *Client) Get(ctx context.Context, path string) (body []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	body, status, err := c.send(ctx, http.MethodGet, path, nil)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("GET %s: %w", path, err)
	case status == http.StatusServiceUnavailable:
		return nil, false, fmt.Errorf("GET %s: %w: it is too busy (HTTP %d)", path, chain.ErrSilent, status)
	}
	return body, status == http.StatusOK, nil
}

// send sends one HTTP request and reads its answer to the end.
func (c *Client) send(ctx context.Context, method, path string, text []byte) ([]byte, int, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.options.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	if err := c.authorize(r); err != nil {
		return nil, 0, err
	}
	if text != nil {
		r.Header.Set("Content-Type", "application/json")
	}

	answer, err := c.http.Do(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", chain.ErrSilent, cause(err))
	}
	defer func() { _ = answer.Body.Close() }()
	c.refresh(answer.StatusCode)

	return c.read(answer)
}

// read reads an answer's body. One that ends before its announced length is half an answer.
func (c *Client) read(answer *http.Response) ([]byte, int, error) {
	var body bytes.Buffer
	if n := answer.ContentLength; n > 0 && n <= c.options.MaxAnswer {
		body.Grow(int(n) + bytes.MinRead)
	}
	n, err := body.ReadFrom(io.LimitReader(answer.Body, c.options.MaxAnswer+1))
	switch {
	case n > c.options.MaxAnswer:
		return nil, 0, odd("more than %d bytes", c.options.MaxAnswer)
	case err != nil:
		return nil, 0, fmt.Errorf("%w: %w", chain.ErrSilent, cause(err))
	}
	return body.Bytes(), answer.StatusCode, nil
}

// cause returns an error of the HTTP client without the request's URL, which the operator
// knows and others need not.
func cause(err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// authorize adds user and password to a request.
func (c *Client) authorize(r *http.Request) error {
	if c.options.User == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fresh {
		password, err := c.options.Password()
		if err != nil {
			return fmt.Errorf("%w: no password for the node: %w", chain.ErrSilent, err)
		}
		c.password, c.fresh = strings.TrimRight(password, "\r\n"), true
	}
	r.SetBasicAuth(c.options.User, c.password)
	return nil
}

// refresh has a refused password read again for the next request.
func (c *Client) refresh(status int) {
	if status == http.StatusUnauthorized {
		c.mu.Lock()
		c.fresh = false
		c.mu.Unlock()
	}
}

// String names the client by its node's address.
func (c *Client) String() string { return strconv.Quote(c.options.URL) }
