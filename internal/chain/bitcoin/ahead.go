package bitcoin

import (
	"context"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// ahead is a block that is read while the one before it is taken in. An exchange that missed blocks asks for one after
// the other, and would wait for the node each time.
type ahead struct {
	height uint64
	// done is closed once the fields below are set. They are the block's bytes, unchecked; nil after an error.
	done chan struct{}
	hash chain.Hash
	raw  []byte
}

// bytesOf returns the bytes of the block with a hash at a height, read ahead or from the node.
func (c *Client) bytesOf(ctx context.Context, height uint64, hash chain.Hash) ([]byte, error) {
	c.mu.Lock()
	a := c.next
	if a != nil && a.height == height {
		c.next = nil
	}
	c.mu.Unlock()

	if a != nil && a.height == height {
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if a.hash == hash && a.raw != nil {
			return a.raw, nil
		}
	}
	return c.blockBytes(ctx, hash)
}

// readAhead begins to read the block at a height, if the node's chain has it and no other is being read.
func (c *Client) readAhead(ctx context.Context, height uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if height > c.top || c.next != nil && !c.next.over() {
		return
	}
	a := &ahead{height: height, done: make(chan struct{})}
	c.next = a
	ctx = context.WithoutCancel(ctx) // the caller's ends with its call; the connection has a timeout of its own
	go func() {
		defer close(a.done)
		hash, err := c.blockHash(ctx, height)
		if err != nil {
			return // the next Block meets the error itself
		}
		if raw, err := c.blockBytes(ctx, hash); err == nil {
			a.hash, a.raw = hash, raw
		}
	}()
}

// over reports whether the reading has ended.
func (a *ahead) over() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}
