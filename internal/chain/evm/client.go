package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Head names the block up to which a client believes a node.
type Head string

// The closed set of heads.
const (
	// Latest is the node's newest block.
	Latest Head = "latest"
	// Safe and Finalized are blocks that the network's validators have agreed on.
	Safe      Head = "safe"
	Finalized Head = "finalized"
)

// ParseHead reads the name of a head; empty is Latest.
func ParseHead(s string) (Head, error) {
	switch h := Head(s); h {
	case "":
		return Latest, nil
	case Latest, Safe, Finalized:
		return h, nil
	}
	return "", fmt.Errorf("read %q is not known; latest, safe and finalized are", s)
}

// Options configure a client.
type Options struct {
	// Node is the connection to the node.
	Node *rpc.Client
	// Clock measures the age of the head.
	Clock func() bourse.Time
	// Read is the block that counts as the head; empty is Latest.
	Read Head
	// Floor and Cap bound the price of gas, below 2^63; zero for DefaultFloor and DefaultCap.
	Floor, Cap uint64
	// Trace is true if what calls inside of transactions pay counts too.
	Trace bool
	// TraceWithin bounds a request for a block's traces; zero for DefaultTraceWithin.
	TraceWithin time.Duration
	// Start is a block that the node's chain must have; nil for none.
	Start *chain.BlockRef
	// Owners knows the exchange's addresses, and may be that of other clients with the same keys; nil for one of its own.
	Owners *hdkeys.Owners
}

const (
	// DefaultFloor is the least price of gas, in units of the native coin.
	DefaultFloor = 1_000_000
	// DefaultCap is the highest price of gas, in units of the native coin.
	DefaultCap = 500_000_000_000
	// DefaultTraceWithin is below the 30 s after which geth ends every request.
	DefaultTraceWithin = 25 * time.Second
	// priceEnd bounds all prices of gas, so that a price above one of them fits 64 bits.
	priceEnd = 1 << 63
	// MaxAnswer bounds a node's answer, in bytes: the receipts of a full block with logs alone, in
	// hexadecimal digits, twice.
	MaxAnswer = 64 << 20
)

// Client talks to a node. It implements [chain.Network].
type Client struct {
	*Codec
	options Options

	mu sync.Mutex
	// genesis is the first block of the node that was first asked. Guarded by mu, like the fields
	// below.
	genesis chain.Hash
	// asked has the contracts that have the decimals of their listing.
	asked map[address]bool
	// gas is the highest estimate of a payment, by coin.
	gas map[chain.CoinID]uint64
	// late counts how often the node did not trace a block in time.
	late map[chain.Hash]int
}

var _ chain.Network = (*Client)(nil)

// NewClient returns a client of a node, for the exchange with these public keys.
func NewClient(p *Params, k *hdkeys.Public, o Options) (*Client, error) {
	if o.Floor == 0 {
		o.Floor = DefaultFloor
	}
	if o.Cap == 0 {
		o.Cap = DefaultCap
	}
	if o.TraceWithin == 0 {
		o.TraceWithin = DefaultTraceWithin
	}
	if o.Read == "" {
		o.Read = Latest
	}
	if o.Cap < o.Floor {
		return nil, errors.New("the fees' cap is below their floor")
	}
	if o.Owners == nil {
		o.Owners = NewOwners(k)
	}
	codec, err := newCodec(p, k, o.Owners)
	if err != nil {
		return nil, err
	}
	return &Client{
		Codec: codec, options: o, gas: map[chain.CoinID]uint64{}, asked: map[address]bool{}, late: map[chain.Hash]int{},
	}, nil
}

func odd(format string, args ...any) error {
	return fmt.Errorf("%w: %s", chain.ErrOdd, fmt.Sprintf(format, args...))
}

// otherChain is an odd answer of a node of another chain.
func otherChain(format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", chain.ErrOdd, chain.ErrOtherChain, fmt.Sprintf(format, args...))
}

// ask calls a method. A refusal of the node that no rule expects is an odd answer.
func (c *Client) ask(ctx context.Context, result any, method string, params ...any) error {
	return unexpected(c.options.Node.Call(ctx, result, method, params...))
}

// unexpected has a node's refusal be an odd answer.
func unexpected(err error) error {
	if node := new(rpc.Error); errors.As(err, &node) {
		return fmt.Errorf("%w: %w", chain.ErrOdd, err)
	}
	return err
}

// askUint calls a method whose result is a number of 64 bits.
func (c *Client) askUint(ctx context.Context, method string, params ...any) (uint64, error) {
	var q quantity
	if err := c.ask(ctx, &q, method, params...); err != nil {
		return 0, err
	}
	n, fits := q.uint64()
	if !fits {
		return 0, odd("%s: a number that cannot be", method)
	}
	return n, nil
}

// block asks for the header of a block, by height or name; nil if the node has none.
func (c *Client) block(ctx context.Context, at string) (*header, error) {
	var h *header
	if err := c.ask(ctx, &h, "eth_getBlockByNumber", at, false); err != nil || h == nil {
		return nil, err
	}
	return h, h.check()
}

// head asks for the header of a named block.
func (c *Client) head(ctx context.Context, name Head) (*header, error) {
	h, err := c.block(ctx, string(name))
	if err == nil && h == nil {
		err = odd("there is no %s block", name)
	}
	return h, err
}

// Identity returns the node's chain id and the hash of its first block, which tell chains apart.
func (c *Client) Identity(ctx context.Context) (id uint64, genesis chain.Hash, err error) {
	if id, err = c.askUint(ctx, "eth_chainId"); err != nil {
		return 0, genesis, err
	}
	h, err := c.block(ctx, ofUint(0).String())
	switch {
	case err != nil:
		return 0, genesis, err
	case h == nil || h.height() != 0:
		return 0, genesis, odd("there is no first block")
	}
	return id, chain.Hash(h.Hash), nil
}

// CheckChain checks that the node's chain is the one of the settings, and the one of the earlier
// answers. A chain of another kind is chain.ErrOtherChain.
func (c *Client) CheckChain(ctx context.Context) error {
	id, genesis, err := c.Identity(ctx)
	switch {
	case err != nil:
		return err
	case id != c.params.Chain:
		return otherChain("its id is %d, not %d", id, c.params.Chain)
	}

	c.mu.Lock()
	known := c.genesis
	if known == (chain.Hash{}) {
		c.genesis, known = genesis, genesis
	}
	c.mu.Unlock()
	if known != genesis {
		return otherChain("it has another first block than before")
	}
	return c.checkStart(ctx)
}

// checkStart checks that the node's chain has the block from which on it is read.
func (c *Client) checkStart(ctx context.Context) error {
	start := c.options.Start
	if start == nil {
		return nil
	}
	h, err := c.block(ctx, ofUint(start.Height).String())
	switch {
	case err != nil:
		return err
	case h == nil:
		return odd("the node's chain does not reach block %d of the setting start", start.Height)
	case h.ref() != *start:
		return otherChain("its block %d is not that of the setting start", start.Height)
	}
	return nil
}

// checkContracts asks each listed contract whether it has the decimals of its listing, until it does. A
// payment with other decimals would be another amount. Where there is no contract, there are no payments.
func (c *Client) checkContracts(ctx context.Context) (reason string, err error) {
	for a, coin := range c.contracts {
		c.mu.Lock()
		known := c.asked[a]
		c.mu.Unlock()
		if known {
			continue
		}

		word, err := c.call(ctx, a, selectDecimals)
		switch {
		case err != nil:
			return "", err
		case len(word) == 0:
			continue
		case len(word) != wordSize || !bytes.Equal(trim(word), ofUint(uint64(coin.Decimals))):
			return fmt.Sprintf("the contract %s does not have the %d decimals of its listing", coin.ID, coin.Decimals), nil
		}
		c.mu.Lock()
		c.asked[a] = true
		c.mu.Unlock()
	}
	return "", nil
}

// callParams are those of a call that changes nothing.
type callParams struct {
	From  data   `json:"from,omitzero"`
	To    data   `json:"to"`
	Value string `json:"value,omitzero"`
	Input data   `json:"data,omitzero"`
}

// call calls a contract's function as of the head.
func (c *Client) call(ctx context.Context, to address, input []byte) (data, error) {
	var result data
	err := c.ask(ctx, &result, "eth_call", callParams{To: to[:], Input: input}, string(c.options.Read))
	return result, err
}

// syncing is a node's answer about its download of the chain.
type syncing struct {
	active           bool
	current, highest uint64
}

// UnmarshalJSON reads false, or an object with heights.
func (s *syncing) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == jsontext.KindFalse {
		return nil
	}
	var heights struct {
		Current *quantity `json:"currentBlock"`
		Highest *quantity `json:"highestBlock"`
	}
	if err := json.Unmarshal(text, &heights); err != nil {
		return err
	}
	if heights.Current == nil || heights.Highest == nil {
		return errHex
	}
	s.active = true
	s.current, _ = heights.Current.uint64()
	s.highest, _ = heights.Highest.uint64()
	return nil
}

// Health reports whether the network is usable.
func (c *Client) Health(ctx context.Context) (chain.Health, error) {
	h, err := c.health(ctx)
	if err != nil {
		h = chain.Health{Reason: err.Error()}
	}
	return h, err
}

func (c *Client) health(ctx context.Context) (h chain.Health, err error) {
	if err := c.CheckChain(ctx); err != nil {
		return h, err
	}
	var s *syncing
	if err := c.ask(ctx, &s, "eth_syncing"); err != nil {
		return h, err
	}
	if s == nil {
		return h, odd("eth_syncing: no answer")
	}
	newest, err := c.head(ctx, Latest)
	if err != nil {
		return h, err
	}
	head, err := c.head(ctx, c.options.Read)
	if err != nil {
		return h, err
	}

	h = chain.Health{Head: head.ref(), HeadTime: head.when()}
	age, most := bourse.Time(0), c.params.maxAge()
	if most > 0 {
		age = c.options.Clock() - newest.when()
	}
	switch {
	case s.active:
		h.Reason = fmt.Sprintf("the node downloads block %d of %d", s.current, s.highest)
	case age > most:
		h.Reason = "the last block is too old"
	default:
		if h.Reason, err = c.checkContracts(ctx); err != nil {
			return chain.Health{}, err
		}
		h.Operating = h.Reason == ""
	}
	return h, nil
}
