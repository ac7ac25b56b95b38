package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

const (
	// askWithin bounds a request with its answer, and before it a connection with its hello.
	askWithin = 3 * time.Second
	// restAfter is the time after a failure in which requests fail at once, without asking the
	// signer: the exchange's networks read blocks meanwhile.
	restAfter = time.Second
)

var (
	// ErrAway says that the signer did not answer. Whether it carried out the request is
	// unknown; its record tells.
	ErrAway   = errors.New("the signer does not answer")
	errAnswer = errors.New("the signer answers oddly")
	// errNoCold is the [ErrAway] of a signer that is of a build without cold storage. It reads no hello that has some.
	errNoCold = fmt.Errorf("%w a hello with the setting cold, and answers others: it is of an older build, update it first", ErrAway)
)

// Address is where a signer listens: a Unix socket, or an address of TCP with TLS.
type Address struct {
	// Socket is a path; empty for TCP.
	Socket string
	// TCP is HOST:PORT.
	TCP string
	// TLS is nil for a socket.
	TLS *tls.Config
}

func (a *Address) dial(ctx context.Context) (net.Conn, error) {
	if a.TLS == nil {
		return new(net.Dialer).DialContext(ctx, "unix", a.Socket)
	}
	return (&tls.Dialer{Config: a.TLS}).DialContext(ctx, "tcp", a.TCP)
}

// Options configure a client.
type Options struct {
	Address Address
	// Exchange and Epoch are those of this process.
	Exchange signer.Exchange
	Epoch    signer.Epoch
	// Networks are the connected networks by their ids in the exchange, which the signer does
	// not know.
	Networks map[bourse.NetworkID]signer.Account
	Now      func() time.Time
}

// Client asks a signer in another process. It implements [signer.Signer]. Safe for concurrent
// use: requests go one after the other.
type Client struct {
	options Options

	mu sync.Mutex
	// conn is nil while there is no connection whose hello was answered.
	conn  net.Conn
	asked uint64
	// lastErr is the error of the last request, if the signer did not answer it. Requests before
	// askAgain fail with it.
	lastErr  error
	askAgain time.Time
}

var _ signer.Signer = (*Client)(nil)

// NewClient returns a client. It connects when it is asked something.
func NewClient(o Options) *Client { return &Client{options: o} }

// Close closes the connection.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

// Accounts asks a signer for its networks, for an exchange that knows none of them yet.
func Accounts(ctx context.Context, o Options) (list []signer.Account, err error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	conn, greeting, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range greeting.Networks {
		list = append(list, signer.Account{Name: a.Name, Chain: a.Chain, Public: a.Keys, Cold: a.Cold})
	}
	return list, conn.Close()
}

// connect connects and says hello.
func (o *Options) connect(ctx context.Context) (net.Conn, *greeting, error) {
	conn, err := o.Address.dial(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	h := &hello{
		Exchange: o.Exchange.ID, Sandbox: o.Exchange.Sandbox, Incarnation: o.Epoch.Incarnation, Term: o.Epoch.Term,
		Networks: []account{},
	}
	for _, a := range o.Networks {
		h.Networks = append(h.Networks, account{a.Name, a.Chain, a.Public, a.Cold})
	}
	r, err := exchange(conn, &request{Hello: h}, o.Now().Add(askWithin))
	if err == nil && r.Greeting == nil {
		err = errAnswer
	}
	if errors.Is(err, ErrAway) && o.lacksCold(ctx) {
		err = errNoCold
	}
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, r.Greeting, nil
}

// lacksCold reports whether the signer answers and knows of no cold storage, while this exchange has some.
func (o *Options) lacksCold(ctx context.Context) bool {
	cold := false
	for _, a := range o.Networks {
		cold = cold || a.Cold != ""
	}
	if !cold {
		return false
	}
	status, err := Look(ctx, &o.Address, o.Now)
	return err == nil && !slices.ContainsFunc(status.Networks, func(n signer.NetworkStatus) bool { return n.Cold != "" })
}

// Look asks a signer which exchange it signs for and with which keys. It has no epoch, and changes nothing
// there.
func Look(ctx context.Context, a *Address, now func() time.Time) (*signer.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	conn, err := a.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	defer func() { _ = conn.Close() }() // the signer closes it too
	r, err := exchange(conn, &request{Look: &struct{}{}}, now().Add(askWithin))
	if err == nil && r.Looked == nil {
		err = errAnswer
	}
	if err != nil {
		return nil, err
	}
	return r.Looked, nil
}

// exchange sends a request and reads its reply. A reply that is an error is returned as one.
func exchange(c net.Conn, r *request, until time.Time) (*reply, error) {
	if err := c.SetDeadline(until); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	if err := writeFrame(c, r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	var a reply
	if err := readFrame(c, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	switch {
	case a.N != r.N:
		return nil, fmt.Errorf("%w: to request %d and not %d", errAnswer, a.N, r.N)
	case a.Error != nil:
		return nil, a.Error.err()
	}
	return &a, nil
}

// Greet says hello, unless that was done.
func (c *Client) Greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greet(ctx)
}

// greet has a connection whose hello was answered. The caller holds mu.
func (c *Client) greet(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	conn, _, err := c.options.connect(ctx)
	if err == nil {
		c.conn = conn
	}
	return err
}

// ask carries out one request. Any error but a refusal ends the connection, so that a late
// answer is never taken for another one's.
func (c *Client) ask(ctx context.Context, r *request) (*reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastErr != nil && c.options.Now().Before(c.askAgain) {
		return nil, c.lastErr
	}

	a, err := c.carryOut(ctx, r)
	refusal := new(RefusalError)
	if err == nil || errors.As(err, &refusal) && c.conn != nil {
		c.lastErr = nil
		return a, err
	}
	c.lastErr, c.askAgain = err, c.options.Now().Add(restAfter)
	if c.conn != nil {
		_ = c.conn.Close() // its state is unknown
		c.conn = nil
	}
	return nil, err
}

func (c *Client) carryOut(ctx context.Context, r *request) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if err := c.greet(ctx); err != nil {
		return nil, err
	}
	c.asked++
	r.N = c.asked
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	return exchange(conn, r, c.options.Now().Add(askWithin))
}

// name returns the name by which the signer knows a network.
func (c *Client) name(id bourse.NetworkID) bourse.Symbol { return c.options.Networks[id].Name }

// Sign has a transaction signed.
func (c *Client) Sign(ctx context.Context, u chain.Unsigned, e signer.Expect) (signer.Signed, error) {
	var with []part
	for _, p := range e.With {
		with = append(with, part{p.ID, units(p.Amount), p.To.Address})
	}
	r, err := c.ask(ctx, &request{Sign: &signRequest{
		With: with, Known: e.Known,
		Network: c.name(e.Network), Kind: e.Kind, ID: e.ID, Attempt: e.Attempt, Coin: e.Coin, Amount: units(e.Amount),
		Address: e.To.Address, Memo: e.To.Memo, CostCap: units(e.CostCap), Account: e.Account, Nonce: e.Nonce, Raw: u.Raw,
	}})
	switch {
	case err != nil:
		return signer.Signed{}, err
	case r.Made == nil || r.Made.Kind != e.Kind || r.Made.ID != e.ID:
		return signer.Signed{}, errAnswer
	}
	return r.Made.signed(), nil
}

func (m *made) signed() signer.Signed {
	s := signer.Signed{Raw: bytes.Clone(m.Raw), Hash: m.Hash, Record: m.Record, Chain: m.Chain}
	for _, p := range m.Shares {
		s.Shares = append(s.Shares, signer.Share{ID: p.ID, Amount: bourse.Amount(p.Amount)})
	}
	return s
}

// After returns entries of the record, in as many requests as their size takes.
func (c *Client) After(
	ctx context.Context, network bourse.NetworkID, record uint64,
) (chained chain.Hash, list []signer.Recorded, err error) {
	for more := true; more && len(list) < signer.MaxRecorded; {
		last := record + uint64(len(list))
		r, err := c.ask(ctx, &request{Signed: &signedRequest{Network: c.name(network), After: last}})
		switch {
		case err != nil:
			return chained, nil, err
		case r.Record == nil || r.Record.More && len(r.Record.Entries) == 0:
			return chained, nil, errAnswer
		case len(list) == 0:
			chained = r.Record.Chain
		case list[len(list)-1].Chain != r.Record.Chain:
			return chained, nil, errAnswer
		}
		for i := range r.Record.Entries {
			m := &r.Record.Entries[i]
			if last++; m.Record != last {
				return chained, nil, errAnswer
			}
			list = append(list, signer.Recorded{Signed: m.signed(), Kind: m.Kind, ID: m.ID})
		}
		more = r.Record.More
	}
	return chained, list[:min(len(list), signer.MaxRecorded)], nil
}

// Void ends a withdrawal.
func (c *Client) Void(ctx context.Context, network bourse.NetworkID, id bourse.WalletID) error {
	_, err := c.ask(ctx, &request{Void: &voidRequest{Network: c.name(network), ID: id}})
	return err
}
