package cosmos

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Options configure a client.
type Options struct {
	// Node is the connection to the node.
	Node *rpc.Client
	// Clock measures the age of the head.
	Clock func() bourse.Time
	// Floor and Cap bound the price of a million units of gas, in units of the native coin and below [PriceEnd]; zero for
	// DefaultFloor and DefaultCap.
	Floor, Cap uint64
	// Start is a block that the node's chain must have; nil for none.
	Start *chain.BlockRef
}

const (
	// DefaultFloor is the least price of a million units of gas, in units of the native coin.
	DefaultFloor = 25_000
	// DefaultCap is the highest price of a million units of gas, in units of the native coin.
	DefaultCap = 1_000_000
	// PriceEnd bounds all prices of gas.
	PriceEnd = 1 << 40
	// MaxAnswer bounds a node's answer, in bytes: the events of a full block.
	MaxAnswer = 64 << 20
)

// Client talks to a node. It implements [chain.Network].
type Client struct {
	*Codec
	options Options

	mu sync.Mutex
	// account is the number that the chain gave the hot wallet, which never changes. Guarded by mu.
	account *uint64
}

var _ chain.Network = (*Client)(nil)

// NewClient returns a client of a node, for the exchange with these public keys.
func NewClient(p *Params, k *hdkeys.Public, o Options) (*Client, error) {
	if o.Floor == 0 {
		o.Floor = DefaultFloor
	}
	if o.Cap == 0 {
		o.Cap = max(DefaultCap, o.Floor)
	}
	if o.Cap < o.Floor {
		return nil, errors.New("the fees' cap is below their floor")
	}
	codec, err := NewCodec(p, k)
	if err != nil {
		return nil, err
	}
	return &Client{Codec: codec, options: o}, nil
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
	err := c.options.Node.Call(ctx, result, method, params...)
	if node := new(rpc.Error); errors.As(err, &node) {
		return fmt.Errorf("%w: %w", chain.ErrOdd, err)
	}
	return err
}

// status is a node's answer about itself.
type status struct {
	Node struct {
		Network string `json:"network"`
		Version string `json:"version"`
		Other   struct {
			Index string `json:"tx_index"`
		} `json:"other"`
	} `json:"node_info"`
	Sync struct {
		Latest     number `json:"latest_block_height"`
		Earliest   number `json:"earliest_block_height"`
		CatchingUp *bool  `json:"catching_up"`
	} `json:"sync_info"`
}

// status asks the node about itself.
func (c *Client) status(ctx context.Context) (s status, err error) {
	err = c.ask(ctx, &s, "status")
	if err == nil && (s.Node.Network == "" || s.Sync.CatchingUp == nil) {
		err = odd("status: no answer")
	}
	return s, err
}

// height asks for the height of the last block that the chain's program has finished: its results and its state are there.
func (c *Client) height(ctx context.Context) (number, error) {
	var info struct {
		Response struct {
			Height number `json:"last_block_height"`
		} `json:"response"`
	}
	err := c.ask(ctx, &info, "abci_info")
	if err == nil && info.Response.Height == 0 {
		err = odd("there is no block yet")
	}
	return info.Response.Height, err
}

// header asks for the header of a block, and checks it against its hash; nil if the node has none.
func (c *Client) header(ctx context.Context, height number) (*header, error) {
	var answer struct {
		Last   number `json:"last_height"`
		Blocks []struct {
			ID     blockID `json:"block_id"`
			Header header  `json:"header"`
		} `json:"block_metas"`
	}
	if err := c.at(ctx, &answer, "blockchain", uint64(height), height.String()); err != nil {
		return nil, err
	}
	switch {
	case answer.Last == 0 || len(answer.Blocks) > 1:
		return nil, describe(uint64(height), "no answer")
	case len(answer.Blocks) == 0:
		return nil, nil
	}
	h := &answer.Blocks[0].Header
	if h.Height != height || h.Chain != c.params.Chain {
		return nil, describe(uint64(height), "it is another one")
	}
	return h, h.check(&answer.Blocks[0].ID)
}

// head asks for the header of the last finished block.
func (c *Client) head(ctx context.Context) (*header, error) {
	height, err := c.height(ctx)
	if err != nil {
		return nil, err
	}
	h, err := c.header(ctx, height)
	if err == nil && h == nil {
		err = odd("there is no block %s", height)
	}
	return h, err
}

// CheckChain checks that the node's chain is the one of the settings. Another one is chain.ErrOtherChain.
func (c *Client) CheckChain(ctx context.Context) error {
	s, err := c.status(ctx)
	if err != nil {
		return err
	}
	return c.checkChain(ctx, &s)
}

func (c *Client) checkChain(ctx context.Context, s *status) error {
	start := c.options.Start
	switch {
	case s.Node.Network != c.params.Chain:
		return otherChain("its id is %.50q, not %s", s.Node.Network, c.params.Chain)
	case start == nil:
		return nil
	case uint64(s.Sync.Latest) < start.Height:
		return odd("the node's chain does not reach block %d of the setting start", start.Height)
	case uint64(s.Sync.Earliest) > start.Height:
		return nil // it has thrown the block away; whether that matters shows in the blocks that are read
	}
	h, err := c.header(ctx, number(start.Height))
	switch {
	case err != nil:
		return err
	case h == nil:
		return odd("the node does not have block %d of the setting start", start.Height)
	case h.ref() != *start:
		return otherChain("its block %d is not that of the setting start", start.Height)
	}
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
	s, err := c.status(ctx)
	if err != nil {
		return h, err
	}
	if err := c.checkChain(ctx, &s); err != nil {
		return h, err
	}
	head, err := c.head(ctx)
	if err != nil {
		return h, err
	}

	h = chain.Health{Head: head.ref(), HeadTime: head.when()}
	age, most := bourse.Time(0), c.params.maxAge()
	if most > 0 {
		age = c.options.Clock() - head.when()
	}
	switch {
	case *s.Sync.CatchingUp:
		h.Reason = fmt.Sprintf("the node downloads blocks, and has %s", s.Sync.Latest)
	case age > most:
		h.Reason = "the last block is too old"
	default:
		h.Operating = true
	}
	return h, nil
}

// Block returns the block at a height of the node's chain. The chain begins with block 1.
func (c *Client) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	head, err := c.height(ctx)
	switch {
	case err != nil:
		return nil, err
	case height > uint64(head) || height == 0:
		return nil, chain.ErrNoBlock
	}

	b, err := c.full(ctx, height)
	if err != nil {
		return nil, err
	}
	var r results
	if err := c.at(ctx, &r, "block_results", height); err != nil {
		return nil, err
	}
	if uint64(r.Height) != height {
		return nil, describe(height, "the results are another block's")
	}
	var outcomes []outcome
	if r.Outcomes != nil {
		outcomes = *r.Outcomes
	}
	return c.read(b, outcomes)
}

// full returns the block at a height with its transactions, checked against its header.
func (c *Client) full(ctx context.Context, height uint64) (*fullBlock, error) {
	b := new(fullBlock)
	if err := c.at(ctx, b, "block", height); err != nil {
		return nil, err
	}
	if h := &b.Block.Header; uint64(h.Height) != height || h.Chain != c.params.Chain {
		return nil, describe(height, "it is another one")
	}
	return b, b.check()
}

// codeInternal is that of a refused call; nodes give the reason beside it.
const codeInternal = -32603

// at asks for a part of a block. A node that has thrown it away refuses.
func (c *Client) at(ctx context.Context, result any, method string, height uint64, more ...any) error {
	err := c.options.Node.Call(ctx, result, method, append([]any{number(height).String()}, more...)...)
	if node := new(rpc.Error); errors.As(err, &node) {
		if node.Code == codeInternal {
			return fmt.Errorf("%w: %s of block %d: %w: %s", chain.ErrOdd, method, height, chain.ErrPruned, node.Details())
		}
		return fmt.Errorf("%w: %w", chain.ErrOdd, err)
	}
	return err
}
