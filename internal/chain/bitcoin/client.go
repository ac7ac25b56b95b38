package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

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
	// Floor and Cap bound the fee rate, in units per 1,000 virtual bytes; zero for the
	// network's defaults.
	Floor, Cap uint64
	// Start is a block that the node's chain must have; nil for none. The chain before it is
	// believed.
	Start *chain.BlockRef
	// Cold is the exchange's cold storage; nil for none.
	Cold *Cold
	// Owners knows the exchange's addresses, and may be that of other clients with the same keys; nil for one of its own.
	Owners *hdkeys.Owners
	// Target is the number of blocks within which a payment is to be mined; zero for
	// DefaultTarget.
	Target int
}

// DefaultTarget is the number of blocks within which payments are to be mined.
const DefaultTarget = 3

// Client talks to a node. It implements [chain.Network].
type Client struct {
	*Codec
	options Options

	// rest is true once the node served a block by REST; noREST is true once it failed to, but served
	// one by JSON-RPC.
	rest, noREST atomic.Bool

	mu sync.Mutex
	// last is the header of the last block that Block returned, whose successor comes next.
	// Guarded by mu, like the fields below.
	last header
	// top is the height of the node's chain at the last Health, and next the block that is read ahead; nil for none.
	top  uint64
	next *ahead
}

var _ chain.Network = (*Client)(nil)

// NewClient returns a client of a node, for the exchange with these public keys.
func NewClient(p *Params, k *PublicKeys, o Options) (*Client, error) {
	if o.Floor == 0 {
		o.Floor = p.floor
	}
	if o.Cap == 0 {
		o.Cap = p.cap
	}
	if o.Target == 0 {
		o.Target = DefaultTarget
	}
	if o.Cap < o.Floor {
		return nil, errors.New("the fees' cap is below their floor")
	}
	if o.Owners == nil {
		o.Owners = NewOwners(k)
	}
	c := &Client{Codec: newCodec(p, k, o.Owners), options: o}
	if o.Cold != nil {
		c.Keep(o.Cold)
	}
	return c, nil
}

// Codes of a node's errors.
const (
	codeMisc     = -1
	codeMissing  = -5
	codeRange    = -8
	codeDecode   = -22
	codeVerify   = -25
	codeRejected = -26
	codeAlready  = -27
	codeWarmup   = -28
	codeMethod   = -32601
)

func odd(format string, args ...any) error {
	return fmt.Errorf("%w: %s", chain.ErrOdd, fmt.Sprintf(format, args...))
}

// otherChain is an odd answer of a node of another chain.
func otherChain(format string, args ...any) error {
	return fmt.Errorf("%w: %w: %s", chain.ErrOdd, chain.ErrOtherChain, fmt.Sprintf(format, args...))
}

// ask calls a method. A node that still starts is silent.
func (c *Client) ask(ctx context.Context, result any, method string, params ...any) error {
	err := c.options.Node.Call(ctx, result, method, params...)
	if node := new(rpc.Error); errors.As(err, &node) && node.Code == codeWarmup {
		return fmt.Errorf("%w: it is starting: %w", chain.ErrSilent, err)
	}
	return err
}

// sure makes an error of the node that no rule expects an odd answer.
func sure(err error) error {
	if node := new(rpc.Error); errors.As(err, &node) {
		return fmt.Errorf("%w: %w", chain.ErrOdd, err)
	}
	return err
}

// refused reports whether the node refused a call with one of these codes.
func refused(err error, codes ...int) (*rpc.Error, bool) {
	node := new(rpc.Error)
	if errors.As(err, &node) {
		for _, code := range codes {
			if node.Code == code {
				return node, true
			}
		}
	}
	return nil, false
}

// chainInfo is a node's view of its chain.
type chainInfo struct {
	Blocks  uint64 `json:"blocks"`
	Headers uint64 `json:"headers"`
	Best    string `json:"bestblockhash"`
	Syncing bool   `json:"initialblockdownload"`
	// PruneHeight is the first block that a pruned node has.
	Pruned      bool   `json:"pruned"`
	PruneHeight uint64 `json:"pruneheight"`
}

// Health reports whether the network is usable.
func (c *Client) Health(ctx context.Context) (chain.Health, error) {
	h, err := c.health(ctx)
	if err != nil {
		err = sure(err)
		h = chain.Health{Reason: err.Error()}
	}
	return h, err
}

// CheckChain checks that the node's chain is the one of the settings: its first block, and the block from
// which on it is read. A chain of another kind is chain.ErrOtherChain.
func (c *Client) CheckChain(ctx context.Context) error {
	genesis, err := c.blockHash(ctx, 0)
	switch {
	case err != nil:
		return err
	case genesis != c.params.Genesis:
		return otherChain("its first block is not that of %s", c.params.Name)
	}
	return c.checkStart(ctx)
}

func (c *Client) health(ctx context.Context) (chain.Health, error) {
	if err := c.CheckChain(ctx); err != nil {
		return chain.Health{}, err
	}

	info, head, err := c.head(ctx)
	if err != nil {
		return chain.Health{}, err
	}
	if err := c.params.checkWork(&head); err != nil {
		return chain.Health{}, describe(info.Blocks, err)
	}

	c.mu.Lock()
	c.top = info.Blocks
	c.mu.Unlock()
	h := chain.Health{Head: chain.BlockRef{Height: info.Blocks, Hash: head.hash}, HeadTime: head.when()}
	indexed, err := c.indexed(ctx)
	if err != nil {
		return chain.Health{}, err
	}
	age := bourse.Time(0)
	if c.params.maxAge > 0 {
		age = c.options.Clock() - h.HeadTime
	}
	switch {
	case info.Headers > info.Blocks:
		h.Reason = fmt.Sprintf("the node is %d blocks behind", info.Headers-info.Blocks)
	case info.Syncing:
		h.Reason = "the node still downloads the chain"
	case !indexed:
		h.Reason = "the node has no complete index of transactions; it needs txindex=1"
	case age > c.params.maxAge:
		h.Reason = "the last block is too old"
	default:
		h.Operating = true
	}
	return h, nil
}

// head asks for the node's view of its chain, and for the header of its last block.
func (c *Client) head(ctx context.Context) (info chainInfo, head header, err error) {
	if err := c.ask(ctx, &info, "getblockchaininfo"); err != nil {
		return info, head, err
	}
	best, ok := parseHash(info.Best)
	if !ok {
		return info, head, odd("the best block has no hash")
	}
	head, err = c.header(ctx, best)
	return info, head, err
}

// indexed reports whether the node can look up every transaction. A node that has no method to
// ask for its indexes (btcd) is asked for a transaction that cannot be; without an index it says so.
func (c *Client) indexed(ctx context.Context) (bool, error) {
	var indexes struct {
		Txs struct {
			Synced bool `json:"synced"`
		} `json:"txindex"`
	}
	err := c.ask(ctx, &indexes, "getindexinfo")
	if _, unknown := refused(err, codeMethod); !unknown {
		return indexes.Txs.Synced, err
	}

	err = c.ask(ctx, nil, "getrawtransaction", formatHash(chain.Hash{}), 0)
	if node, none := refused(err, codeMissing); none {
		return !lacksIndex(node), nil
	}
	if err == nil {
		err = odd("a transaction that cannot be")
	}
	return false, err
}

// lacksIndex reports whether a node did not find a transaction because it does not index all of them.
func lacksIndex(e *rpc.Error) bool {
	return strings.Contains(e.Message, "index must be enabled") || strings.Contains(e.Message, "Use -txindex") ||
		strings.Contains(e.Message, "process of being indexed")
}

// checkStart checks that the node's chain has the block from which on it is read. A chain that is not
// so high may still become the right one.
func (c *Client) checkStart(ctx context.Context) error {
	start := c.options.Start
	if start == nil {
		return nil
	}
	hash, err := c.blockHash(ctx, start.Height)
	switch {
	case errors.Is(err, chain.ErrNoBlock):
		return odd("the node's chain does not reach block %d of the setting start", start.Height)
	case err != nil:
		return err
	case hash != start.Hash:
		return otherChain("its block %d is not that of the setting start", start.Height)
	}
	return nil
}

// when returns a header's time.
func (h *header) when() bourse.Time { return bourse.Time(h.time) * bourse.Second }

// blockHash returns the hash of the block at a height; chain.ErrNoBlock above the head.
func (c *Client) blockHash(ctx context.Context, height uint64) (chain.Hash, error) {
	var text string
	err := c.ask(ctx, &text, "getblockhash", height)
	if node, ok := refused(err, codeRange, codeMisc); ok && strings.Contains(node.Message, "out of range") {
		return chain.Hash{}, chain.ErrNoBlock
	}
	if err != nil {
		return chain.Hash{}, sure(err)
	}
	hash, ok := parseHash(text)
	if !ok {
		return chain.Hash{}, odd("block %d has no hash", height)
	}
	return hash, nil
}

// header returns the header with a hash.
func (c *Client) header(ctx context.Context, hash chain.Hash) (header, error) {
	raw, err := c.askHex(ctx, "getblockheader", formatHash(hash), false)
	if err != nil {
		return header{}, sure(err)
	}
	h, ok := parseHeader(raw)
	if !ok || h.hash != hash {
		return header{}, odd("a header that is not the one asked for")
	}
	return h, nil
}

// askHex calls a method whose result is bytes in hexadecimal digits.
func (c *Client) askHex(ctx context.Context, method string, params ...any) ([]byte, error) {
	var text string
	if err := c.ask(ctx, &text, method, params...); err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, odd("%s: no hexadecimal digits", method)
	}
	return raw, nil
}
