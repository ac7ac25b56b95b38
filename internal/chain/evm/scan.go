package evm

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Block returns the block at a height of the node's chain.
func (c *Client) Block(ctx context.Context, height uint64) (*chain.Block, error) {
	b, receipts, err := c.full(ctx, height)
	if err != nil {
		return nil, err
	}
	out, err := c.read(b, receipts)
	if err == nil && c.options.Trace {
		err = c.addCalls(ctx, b, out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Ref returns the name and the time of the block at a height, by its header.
func (c *Client) Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error) {
	h, err := c.block(ctx, ofUint(height).String())
	switch {
	case err != nil:
		return chain.BlockRef{}, 0, err
	case h == nil:
		return chain.BlockRef{}, 0, chain.ErrNoBlock
	case h.height() != height:
		return chain.BlockRef{}, 0, describe(height, "it is another one")
	}
	return h.ref(), h.when(), nil
}

// pruned says that the node has no block, or no receipts of it, below its head.
func pruned(height uint64) error {
	return fmt.Errorf("%w: block %d: %w", chain.ErrOdd, height, chain.ErrPruned)
}

// receipts asks for the receipts of a block; nil if the node has none of it. The block is named by its hash,
// because the chain may change between two requests.
func (c *Client) receipts(ctx context.Context, block chain.Hash) (list []receipt, err error) {
	err = c.ask(ctx, &list, "eth_getBlockReceipts", formatHash(block))
	return list, err
}

// full returns the checked block at a height, and the receipts of its transactions.
func (c *Client) full(ctx context.Context, height uint64) (*fullBlock, []receipt, error) {
	head, err := c.head(ctx, c.options.Read)
	switch {
	case err != nil:
		return nil, nil, err
	case height > head.height():
		return nil, nil, chain.ErrNoBlock
	}

	var b *fullBlock
	if err := c.ask(ctx, &b, "eth_getBlockByNumber", ofUint(height).String(), true); err != nil {
		return nil, nil, err
	}
	if b == nil {
		return nil, nil, pruned(height)
	}
	receipts, err := c.receipts(ctx, chain.Hash(b.Hash))
	switch {
	case err != nil:
		return nil, nil, err
	case receipts == nil:
		return nil, nil, pruned(height)
	}
	if err := b.check(receipts); err != nil {
		return nil, nil, err
	}
	if b.height() != height {
		return nil, nil, describe(height, "it is another one")
	}
	return b, receipts, nil
}
