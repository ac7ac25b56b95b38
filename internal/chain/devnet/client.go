package devnet

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// maxAnswer bounds a node's answer, in bytes.
const maxAnswer = 64 << 20

// maxNonce exceeds the payments that one address can ever make.
const maxNonce = 1 << 40

// DefaultTimeout bounds a request, so that a silent node shows within three seconds.
const DefaultTimeout = time.Second

// ClientOptions configure a client.
type ClientOptions struct {
	// Timeout bounds one request; zero is DefaultTimeout.
	Timeout time.Duration
	// Clock measures the age of the head.
	Clock func() bourse.Time
	// MaxAge bounds the age of the head of an operating network; zero for no bound.
	MaxAge bourse.Time
}

// Client talks to a node. It implements [chain.Network].
type Client struct {
	*Codec
	transport Transport
	options   ClientOptions
	asked     atomic.Uint64
}

var _ chain.Network = (*Client)(nil)

// NewClient returns a client of the node behind a transport, for the exchange with this
// public key.
func NewClient(p *Params, key PublicKey, t Transport, o ClientOptions) *Client {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	return &Client{Codec: NewCodec(p, key), transport: t, options: o}
}

func odd(format string, args ...any) error {
	return fmt.Errorf("%w: %s", chain.ErrOdd, fmt.Sprintf(format, args...))
}

// ask sends one request and decodes the answer into result.
func (c *Client) ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()

	inner, err := json.Marshal(params)
	if err != nil {
		return err
	}
	id := c.asked.Add(1)
	text, err := json.Marshal(&request{id, method, inner})
	if err != nil {
		return err
	}
	reply, err := c.transport.Call(ctx, text)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", chain.ErrSilent, method, err)
	case len(reply) > maxAnswer:
		return odd("%s: %d bytes", method, len(reply))
	}
	return read(reply, id, method, result)
}

// read decodes an answer and checks all of it.
func read(reply []byte, id uint64, method string, result any) error {
	var a answer
	if err := decodeExact(reply, &a); err != nil {
		return odd("%s: %v", method, err)
	}
	switch {
	case a.ID != id:
		return odd("%s: the answer to %d, not to %d", method, a.ID, id)
	case a.Error != nil && a.Result == nil && a.Error.Code == codeNoBlock && method == MethodBlock:
		return chain.ErrNoBlock
	case a.Error != nil || a.Result == nil:
		return odd("%s: an error instead of a result", method)
	}
	if err := decodeExact(a.Result, result); err != nil {
		return odd("%s: %v", method, err)
	}
	return nil
}

// Health reports whether the network is usable.
func (c *Client) Health(ctx context.Context) (chain.Health, error) {
	var r headResult
	err := c.ask(ctx, MethodHead, none{}, &r)
	if err == nil && (r.Known < r.Height || r.Time < 0 || r.Network != c.params.Symbol || r.seal() != r.Hash) {
		err = odd("head %d of %d at %d is not what it says", r.Height, r.Known, r.Time)
	}
	if err != nil {
		return chain.Health{Reason: reasonOf(err)}, err
	}
	h := chain.Health{
		Head:     chain.BlockRef{Height: r.Height, Hash: chain.Hash(r.Hash)},
		HeadTime: bourse.Time(r.Time),
	}

	switch {
	case r.Known > r.Height:
		h.Reason = fmt.Sprintf("the node is %d blocks behind", r.Known-r.Height)
	case c.options.MaxAge > 0 && c.options.Clock()-h.HeadTime > c.options.MaxAge:
		h.Reason = "the last block is too old"
	default:
		h.Operating = true
	}
	return h, nil
}

func reasonOf(err error) string {
	if errors.Is(err, chain.ErrSilent) {
		return chain.ErrSilent.Error()
	}
	return err.Error()
}

// Block returns the block at a height, checked against its hash.
func (c *Client) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	var b block
	if err := c.ask(ctx, MethodBlock, blockParams{height}, &b); err != nil {
		return nil, err
	}
	if b.Network != c.params.Symbol || b.Height != height || b.Time < 0 || !b.sealed() {
		return nil, odd("block %d is not what it says", height)
	}

	out := &chain.Block{BlockRef: b.ref(), Parent: chain.Hash(b.Parent), Time: bourse.Time(b.Time)}
	seen := map[chain.Hash]bool{}
	for i := range b.Txs {
		tx, err := c.readTx(&b.Txs[i], height)
		if err != nil {
			return nil, odd("block %d: %v", height, err)
		}
		if seen[tx.Hash] {
			return nil, odd("block %d has a transaction twice", height)
		}
		seen[tx.Hash] = true
		out.Txs = append(out.Txs, tx)
	}
	return out, nil
}

// Ref returns the name and the time of the block at a height.
func (c *Client) Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error) {
	b, err := c.Block(ctx, height)
	if err != nil {
		return chain.BlockRef{}, 0, err
	}
	return b.BlockRef, b.Time, nil
}

var (
	errName   = errors.New("a transaction that is not what its name says")
	errFailed = errors.New("a failed transaction that gives")
	errTwice  = errors.New("an output twice, or not in order")
)

func (c *Client) readTx(m *mined, height uint64) (chain.Tx, error) {
	tx := chain.Tx{Hash: chain.Hash(m.Hash), Failed: m.Failed}
	if height > 0 { // the genesis block has no payments
		t, err := c.params.parseTx(m.Raw)
		if err != nil {
			return chain.Tx{}, err
		}
		if digest(t.hash()) != m.Hash {
			return chain.Tx{}, errName
		}
	}

	for _, t := range m.Taken {
		if err := c.checkTransfer(t.Address, t.Coin); err != nil {
			return chain.Tx{}, err
		}
		spent := chain.Outpoint{Tx: chain.Hash(t.Tx), Index: t.Index}
		tx.Debits = append(tx.Debits, chain.Debit{
			Address: t.Address, Coin: t.Coin, Amount: bourse.Amount(t.Amount), Spent: spent,
		})
	}

	for i, g := range m.Given {
		if err := c.checkTransfer(g.Address, g.Coin); err != nil {
			return chain.Tx{}, err
		}
		if m.Failed {
			return chain.Tx{}, errFailed
		}
		if i > 0 && g.Index <= m.Given[i-1].Index {
			return chain.Tx{}, errTwice
		}
		tx.Credits = append(tx.Credits, chain.Credit{
			Index: g.Index, Address: g.Address, Memo: g.Memo, Coin: g.Coin, Amount: bourse.Amount(g.Amount),
		})
	}

	return tx, nil
}

func (c *Client) checkTransfer(address string, coin chain.CoinID) error {
	if _, ok := c.params.Shape.Coin(coin); !ok {
		return fmt.Errorf("coin %q", coin)
	}
	return c.params.checkAddress(address)
}

// Balance returns an address's balance.
func (c *Client) Balance(ctx context.Context, address string, coin chain.CoinID) (bourse.Amount, error) {
	var r balanceResult
	params := addressParams{address, coin}
	if err := c.ask(ctx, MethodBalance, params, &r); err != nil {
		return bourse.Amount{}, err
	}
	if r.addressParams != params {
		return bourse.Amount{}, odd("the balance of somebody else")
	}
	return bourse.Amount(r.Amount), nil
}

// Nonce returns the next nonce of one of the exchange's addresses.
func (c *Client) Nonce(ctx context.Context, index uint32) (uint64, error) {
	if c.params.Shape.Outputs {
		return 0, nil
	}
	return c.nonce(ctx, c.params.address(c.key, index))
}

func (c *Client) nonce(ctx context.Context, address string) (uint64, error) {
	var r nonceResult
	params := addressParams{Address: address}
	if err := c.ask(ctx, MethodNonce, params, &r); err != nil {
		return 0, err
	}
	if r.addressParams != params || r.Nonce > maxNonce {
		return 0, odd("nonce %d of %s", r.Nonce, r.Address)
	}
	return r.Nonce, nil
}

// State returns the state of a signed transaction.
func (c *Client) State(ctx context.Context, raw []byte) (chain.TxState, error) {
	t, err := c.params.parseTx(raw)
	if err != nil {
		return chain.TxState{}, err
	}

	// Conflicts are queried first: if the inputs or nonce are used now and the
	// transaction is not mined later, another transaction has used them.
	taken, err := c.replaced(ctx, t)
	if err != nil {
		return chain.TxState{}, err
	}

	place, err := c.place(ctx, t.hash())
	if err != nil {
		return chain.TxState{}, err
	}

	switch {
	case place.Place == placeMined:
		return chain.TxState{
			Status:   chain.TxMined,
			Block:    chain.BlockRef{Height: place.Height, Hash: chain.Hash(place.Block)},
			Confirms: place.Head - place.Height + 1, Failed: place.Failed,
		}, nil
	case taken:
		return chain.TxState{Status: chain.TxConflicted}, nil
	case place.Place == placeWaiting:
		return chain.TxState{Status: chain.TxWaiting}, nil
	}
	return chain.TxState{Status: chain.TxAbsent}, nil
}

func (c *Client) place(ctx context.Context, hash chain.Hash) (r placeResult, err error) {
	if err := c.ask(ctx, MethodTransaction, hashParams{digest(hash)}, &r); err != nil {
		return r, err
	}
	if chain.Hash(r.Hash) != hash {
		return r, odd("the place of another transaction")
	}
	switch r.Place {
	case placeAbsent, placeWaiting:
		return r, nil
	case placeMined:
		if r.Height <= r.Head {
			return r, nil
		}
	}
	return r, odd("a transaction is %q at %d of %d", r.Place, r.Height, r.Head)
}

// replaced reports whether a mined transaction, this one or another, has used the nonce
// or an input. A missing input counts only if the transaction that made it is mined;
// otherwise it does not exist yet.
func (c *Client) replaced(ctx context.Context, t *transaction) (bool, error) {
	if t.From != "" {
		nonce, err := c.nonce(ctx, t.From)
		return nonce > t.Nonce, err
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		unspent, err := c.unspent(ctx, pointParams{in.Tx, in.Index})
		if err != nil {
			return false, err
		}
		if unspent {
			continue
		}
		made, err := c.place(ctx, chain.Hash(in.Tx))
		if err != nil || made.Place == placeMined {
			return err == nil, err
		}
	}
	return false, nil
}

func (c *Client) unspent(ctx context.Context, point pointParams) (bool, error) {
	var r unspentResult
	if err := c.ask(ctx, MethodUnspent, point, &r); err != nil {
		return false, err
	}
	if r.pointParams != point {
		return false, odd("about another output")
	}
	return r.Unspent, nil
}

// Broadcast sends a signed transaction to the node.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (chain.Verdict, error) {
	unknown := chain.Verdict{Kind: chain.Unknown}
	d, err := c.Decode(raw)
	if err != nil {
		return unknown, err
	}
	if !d.Signed {
		return unknown, errSignature
	}

	var r verdictResult
	if err := c.ask(ctx, MethodBroadcast, rawParams{raw}, &r); err != nil {
		return unknown, err
	}
	if len(r.Reason) > maxReason || chain.Hash(r.Hash) != d.Hash {
		return unknown, odd("broadcast: a verdict on another transaction")
	}

	switch r.Verdict {
	case verdictAccepted:
		return chain.Verdict{Kind: chain.Accepted}, nil
	case verdictKnown:
		return chain.Verdict{Kind: chain.Known}, nil
	case verdictStale:
		// These very bytes may have used the nonce.
		return chain.Verdict{Kind: chain.Unknown, Reason: r.Reason}, nil
	case verdictRejected:
		return chain.Verdict{Kind: chain.Rejected, Reason: r.Reason}, nil
	}
	return unknown, odd("broadcast: verdict %q", r.Verdict)
}
