package bitcoin

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var (
	errBits   = errors.New("its difficulty is not what the chain before it requires")
	errHeight = errors.New("its coinbase names another height")
	errAmount = errors.New("an amount that cannot be")
)

// Block returns the block at a height of the node's chain.
func (c *Client) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	hash, err := c.blockHash(ctx, height)
	if err != nil {
		return nil, err
	}
	raw, err := c.bytesOf(ctx, height, hash)
	switch {
	case errors.Is(err, chain.ErrPruned):
		return nil, describe(height, chain.ErrPruned)
	case err != nil:
		return nil, err
	}

	c.readAhead(ctx, height+1)
	b, err := c.params.parseBlock(raw, &c.own)
	switch {
	case err != nil:
		return nil, describe(height, err)
	case b.hash != hash:
		return nil, odd("block %d is another one", height)
	}
	if err := c.checkBlock(ctx, b, height); err != nil {
		return nil, err
	}
	return c.read(ctx, b, height)
}

// Ref returns the name and the time of the block at a height, by its header.
func (c *Client) Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error) {
	hash, err := c.blockHash(ctx, height)
	if err != nil {
		return chain.BlockRef{}, 0, err
	}
	h, err := c.header(ctx, hash)
	if err == nil {
		if wrong := c.params.checkWork(&h); wrong != nil {
			err = describe(height, wrong)
		}
	}
	return chain.BlockRef{Height: height, Hash: hash}, h.when(), err
}

// blockBytes returns a block's bytes: by REST, which is faster by far, if the node serves it. Some nodes
// without REST end the connection (btcd), as a node that fails does; they are told apart by JSON-RPC.
func (c *Client) blockBytes(ctx context.Context, hash chain.Hash) ([]byte, error) {
	if c.noREST.Load() {
		return c.blockByRPC(ctx, hash)
	}
	raw, ok, err := c.options.Node.Get(ctx, "/rest/block/"+formatHash(hash)+".bin")
	switch {
	case ok:
		c.rest.Store(true)
		return raw, nil
	case err != nil && c.rest.Load():
		return nil, err
	}

	raw, byRPC := c.blockByRPC(ctx, hash)
	if err != nil && byRPC == nil {
		c.noREST.Store(true)
	}
	return raw, byRPC
}

func (c *Client) blockByRPC(ctx context.Context, hash chain.Hash) ([]byte, error) {
	raw, err := c.askHex(ctx, "getblock", formatHash(hash), 0)
	if node, ok := refused(err, codeMisc); ok && strings.Contains(node.Message, "pruned") {
		return nil, chain.ErrPruned
	}
	return raw, sure(err)
}

// heightFrom is the height from which on blocks of the main network name their own in their
// coinbase (BIP 34).
const heightFrom = 227_931

// checkBlock checks a block's work, its difficulty and its height.
func (c *Client) checkBlock(ctx context.Context, b *rawBlock, height uint64) error {
	if err := c.params.checkWork(&b.header); err != nil {
		return describe(height, err)
	}
	if named, some := b.height(); height >= heightFrom && (!some || named != height) {
		return describe(height, errHeight)
	}
	if height == 0 {
		return nil
	}

	bits, err := c.bits(ctx, &b.header, height)
	switch {
	case err != nil:
		return err
	case bits != b.bits:
		return describe(height, errBits)
	}
	c.mu.Lock()
	c.last = b.header
	c.mu.Unlock()
	return nil
}

// bits returns the difficulty that a block at a height must have.
func (c *Client) bits(ctx context.Context, h *header, height uint64) (uint32, error) {
	switch c.params.rule {
	case ruleConstant:
		return c.params.limit, nil
	case ruleLoose:
		return h.bits, nil
	case ruleRetarget:
	}

	parent, err := c.parentOf(ctx, h)
	if err != nil || height%interval != 0 {
		return parent.bits, err
	}
	first := parent
	for at := height - 1; at > c.params.firstOf(height); at-- {
		if first, err = c.header(ctx, first.parent); err != nil {
			return 0, err
		}
	}
	return c.params.retarget(parent.bits, int64(parent.time)-int64(first.time)), nil
}

// parentOf returns the header before one: the last block's, if a scanner asks in order.
func (c *Client) parentOf(ctx context.Context, h *header) (header, error) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last.hash == h.parent {
		return last, nil
	}
	return c.header(ctx, h.parent)
}

// read returns a block's transactions. Those that touch the exchange have their transfers.
func (c *Client) read(ctx context.Context, b *rawBlock, height uint64) (*chain.Block, error) {
	out := &chain.Block{
		BlockRef: chain.BlockRef{Height: height, Hash: b.hash}, Parent: b.parent, Time: b.when(),
		Txs: make([]chain.Tx, len(b.txs)),
	}
	for i := range b.txs {
		out.Txs[i].Hash = b.hashes[i]
		if !b.txs[i].touches {
			continue
		}
		inputs, outputs := b.txs[i].parts()
		for n := range outputs {
			if outputs[n].amount > most {
				return nil, describe(height, errAmount)
			}
			if address, some := c.params.addressOf(outputs[n].script); some {
				out.Txs[i].Credits = append(out.Txs[i].Credits, chain.Credit{
					Index: uint32(n), Address: address, Coin: c.params.Coin, Amount: bourse.Units(outputs[n].amount),
				})
			}
		}
		for n := range inputs {
			d, ours, err := c.debit(ctx, &inputs[n])
			if err != nil {
				return nil, err
			}
			if ours {
				out.Txs[i].Debits = append(out.Txs[i].Debits, d)
			}
		}
	}
	return out, nil
}

// debit returns the output that an input of the exchange spends. Its witness tells the address; the amount is in the transaction
// that made the output.
func (c *Client) debit(ctx context.Context, in *txInput) (d chain.Debit, ours bool, err error) {
	script := c.own.spends(in.items, in.last)
	if script == nil {
		return d, false, nil
	}

	raw, err := c.askHex(ctx, "getrawtransaction", formatHash(in.spent.Tx), 0)
	if err != nil {
		return d, false, sure(err)
	}
	t, err := parseTx(raw)
	if err != nil || t.hash() != in.spent.Tx {
		return d, false, odd("a transaction that is not the one asked for")
	}
	_, outputs := t.parts()
	if uint64(in.spent.Index) >= uint64(len(outputs)) {
		return d, false, odd("a transaction spends an output that is not there")
	}
	// The last item can be in the witness of a script that is not its own (P2SH).
	made := &outputs[in.spent.Index]
	if !bytes.Equal(made.script, script) {
		return d, false, nil
	}
	address, _ := c.params.addressOf(made.script)
	return chain.Debit{
		Address: address, Coin: c.params.Coin, Amount: bourse.Units(made.amount), Spent: in.spent,
	}, true, nil
}
