package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// chainNode is the node of an embedded network, with its controls: in this process, or at a Host in
// another one.
type chainNode interface {
	// Call carries a client's request.
	Call(ctx context.Context, request []byte) ([]byte, error)
	// Tick makes a block if one is due. That of a Host does nothing: the host makes blocks.
	Tick() (bool, error)
	Head() (chain.BlockRef, error)
	Mine(count int) (chain.BlockRef, error)
	Reorg(depth int, drop bool) (chain.BlockRef, error)
	Send(pay chain.Pay) (chain.Hash, error)
	NewAddress() (string, error)
	Balance(address string, coin chain.CoinID) (bourse.Amount, error)
	Lag(blocks uint64) error
	// Stop makes the node silent, or lets it answer again.
	Stop(stopped bool) error
	io.Closer
}

// verb is a control of a network's node.
type verb string

const (
	verbHead    verb = "head"
	verbMine    verb = "mine"
	verbReorg   verb = "reorg"
	verbSend    verb = "send"
	verbAddress verb = "address"
	verbBalance verb = "balance"
	verbLag     verb = "lag"
	verbStop    verb = "stop"
)

// control is a request to a Host, beside the requests of clients. Each verb has its own members.
type control struct {
	Verb    verb      `json:"verb"`
	Count   int       `json:"count,omitzero"`
	Drop    bool      `json:"drop,omitzero"`
	Stopped bool      `json:"stopped,omitzero"`
	Blocks  uint64    `json:"blocks,omitzero"`
	Pay     chain.Pay `json:"pay,omitzero"`
}

// controlled is the answer to a control: what its verb returns, or the error.
type controlled struct {
	Block   bourse.BlockRef `json:"block,omitzero"`
	Hash    chain.Hash      `json:"hash,omitzero"`
	Address string          `json:"address,omitzero"`
	Amount  bourse.Amount   `json:"amount,omitzero"`
	Code    bourse.Code     `json:"code,omitzero"`
	Error   string          `json:"error,omitzero"`
}

// do carries out a control.
func (c *control) do(n chainNode) (a controlled, err error) {
	switch c.Verb {
	case verbHead:
		a.Block, err = n.Head()
	case verbMine:
		a.Block, err = n.Mine(c.Count)
	case verbReorg:
		a.Block, err = n.Reorg(c.Count, c.Drop)
	case verbSend:
		a.Hash, err = n.Send(c.Pay)
	case verbAddress:
		a.Address, err = n.NewAddress()
	case verbBalance:
		a.Amount, err = n.Balance(c.Pay.To.Address, c.Pay.Coin)
	case verbLag:
		err = n.Lag(c.Blocks)
	case verbStop:
		err = n.Stop(c.Stopped)
	default:
		err = fmt.Errorf("no control %q", c.Verb)
	}
	return a, err
}

// Paths of a Host, below its network's.
const (
	callPath    = "/call"
	controlPath = "/control"
)

// maxControl bounds a request to a Host, and maxAnswer its answer, in bytes.
const (
	maxControl = 8 << 20
	maxAnswer  = 64 << 20
)

// outside is a network's node at a Host in another process.
type outside struct {
	client  *http.Client
	network bourse.Symbol
	// disk is the network's directory.
	disk io.Closer
}

// newOutside returns the node of a network at the Host behind a Unix socket. Close closes the network's directory.
func newOutside(socket string, network bourse.Symbol, d io.Closer) *outside {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		DisableCompression: true,
	}
	return &outside{&http.Client{Transport: t, Timeout: seenWithin}, network, d}
}

// post carries a request to the host. The error is a bourse.Error with CodeUnavailable if the host did not get the
// request, or did not take it. After any other one it may have carried it out.
func (o *outside) post(ctx context.Context, path string, body []byte) (_ []byte, err error) {
	at := "http://networks/" + string(o.network) + path
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body)) //nolint:gosec // the host is a socket
	if err != nil {
		return nil, err
	}
	r, err := o.client.Do(q) //nolint:gosec // the host is a socket
	if dialed := (*net.OpError)(nil); errors.As(err, &dialed) && dialed.Op == "dial" {
		return nil, bourse.Errorf(bourse.CodeUnavailable, "%v", err)
	} else if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Body.Close()) }()
	if r.StatusCode != http.StatusOK {
		return nil, bourse.Errorf(bourse.CodeUnavailable, "network %s: its host answers %s", o.network, r.Status)
	}
	return io.ReadAll(io.LimitReader(r.Body, maxAnswer))
}

// Call carries a client's request.
func (o *outside) Call(ctx context.Context, request []byte) ([]byte, error) {
	return o.post(ctx, callPath, request)
}

// control carries out a control at the host.
func (o *outside) control(c *control) (a controlled, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return a, err
	}
	answer, err := o.post(context.Background(), controlPath, text)
	if known := (*bourse.Error)(nil); err != nil && !errors.As(err, &known) {
		err = bourse.Errorf(bourse.CodeUnknown, "Outcome unknown: %v", err)
	}
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(answer, &a, json.RejectUnknownMembers(true)); err != nil {
		return a, fmt.Errorf("network %s: %w", o.network, err)
	}
	switch {
	case a.Error == "":
		return a, nil
	case a.Code != 0:
		return a, bourse.Errorf(a.Code, "%s", a.Error)
	}
	return a, errors.New(a.Error)
}

// Tick does nothing.
func (*outside) Tick() (bool, error) { return false, nil }

// Head returns the chain's last block.
func (o *outside) Head() (chain.BlockRef, error) {
	a, err := o.control(&control{Verb: verbHead})
	return a.Block, err
}

// Mine adds blocks.
func (o *outside) Mine(count int) (chain.BlockRef, error) {
	a, err := o.control(&control{Verb: verbMine, Count: count})
	return a.Block, err
}

// Reorg replaces the last blocks.
func (o *outside) Reorg(depth int, drop bool) (chain.BlockRef, error) {
	a, err := o.control(&control{Verb: verbReorg, Count: depth, Drop: drop})
	return a.Block, err
}

// Send pays from the outside world.
func (o *outside) Send(pay chain.Pay) (chain.Hash, error) {
	a, err := o.control(&control{Verb: verbSend, Pay: pay})
	return a.Hash, err
}

// NewAddress returns an unused address of the outside world.
func (o *outside) NewAddress() (string, error) {
	a, err := o.control(&control{Verb: verbAddress})
	return a.Address, err
}

// Balance returns the balance of an address.
func (o *outside) Balance(address string, coin chain.CoinID) (bourse.Amount, error) {
	a, err := o.control(&control{Verb: verbBalance, Pay: chain.Pay{To: chain.Destination{Address: address}, Coin: coin}})
	return a.Amount, err
}

// Lag hides the last blocks.
func (o *outside) Lag(blocks uint64) error {
	_, err := o.control(&control{Verb: verbLag, Blocks: blocks})
	return err
}

// Stop makes the node silent, or lets it answer again.
func (o *outside) Stop(stopped bool) error {
	_, err := o.control(&control{Verb: verbStop, Stopped: stopped})
	return err
}

// Close ends the connections, and closes the network's directory.
func (o *outside) Close() error {
	o.client.CloseIdleConnections()
	return o.disk.Close()
}
