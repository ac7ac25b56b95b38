package cosmos

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Survey asks the node about itself.
func (c *Client) Survey(ctx context.Context) (s chain.Survey, err error) {
	at, err := c.status(ctx)
	if err != nil {
		return s, err
	}
	s.Chain = (&Params{Chain: at.Node.Network}).Identity()
	s.Software = "CometBFT " + at.Node.Version
	head, err := c.head(ctx)
	if err != nil {
		return s, err
	}
	s.Head, s.HeadTime = head.ref(), head.when()
	s.Behind = max(uint64(at.Sync.Latest), s.Head.Height) - s.Head.Height

	index := chain.Ability{Name: "index", Has: true, Needed: true, Text: "transactions are found by their sequences"}
	if at.Node.Other.Index != "on" {
		index.Has, index.Text = false, `transactions are not indexed; the node needs [tx_index] indexer = "kv"`
	}
	history := chain.Ability{Name: "history", Has: true, Needed: true, Text: fmt.Sprintf("blocks from %s on are there", at.Sync.Earliest)}
	if start := c.options.Start; start != nil && uint64(at.Sync.Earliest) > start.Height {
		history.Has, history.Text = false, fmt.Sprintf("block %d is not there any more; the first one is %s", start.Height, at.Sync.Earliest)
	}
	s.Abilities = []chain.Ability{index, history}
	return s, nil
}

// Ref returns the name and the time of the block at a height, by its header. Height 0 has the hash of the node's chain
// id: a chain begins at any height, and nodes throw away their first blocks.
func (c *Client) Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error) {
	if height == 0 {
		s, err := c.status(ctx)
		return chain.BlockRef{Hash: sha256.Sum256([]byte(s.Node.Network))}, 0, err
	}
	head, err := c.height(ctx)
	switch {
	case err != nil:
		return chain.BlockRef{}, 0, err
	case height > uint64(head):
		return chain.BlockRef{}, 0, chain.ErrNoBlock
	}
	h, err := c.header(ctx, number(height))
	switch {
	case err != nil:
		return chain.BlockRef{}, 0, err
	case h == nil:
		return chain.BlockRef{}, 0, fmt.Errorf("%w: block %d: %w", chain.ErrOdd, height, chain.ErrPruned)
	}
	return h.ref(), h.when(), nil
}
