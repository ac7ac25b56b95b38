package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Survey asks the node about itself.
func (c *Client) Survey(ctx context.Context) (s chain.Survey, err error) {
	id, _, err := c.Identity(ctx)
	if err != nil {
		return s, err
	}
	s.Chain = (&Params{Chain: id}).Identity()
	if err := c.ask(ctx, &s.Software, "web3_clientVersion"); err != nil {
		return s, err
	}

	var at *syncing
	if err := c.ask(ctx, &at, "eth_syncing"); err != nil {
		return s, err
	}
	if at != nil && at.active {
		s.Behind = max(at.highest, at.current) - at.current
	}
	head, err := c.head(ctx, c.options.Read)
	if err != nil {
		return s, err
	}
	s.Head, s.HeadTime = head.ref(), head.when()

	history, err := c.hasReceipts(ctx, head)
	if err != nil {
		return s, err
	}
	trace, err := c.traces(ctx)
	s.Abilities = []chain.Ability{history, trace}
	return s, err
}

// hasReceipts tells whether the node has the receipts of the head and of the block from which on it is
// read.
func (c *Client) hasReceipts(ctx context.Context, head *header) (a chain.Ability, err error) {
	a = chain.Ability{Name: "history", Has: true, Needed: true, Text: "blocks have their receipts"}
	refs := []chain.BlockRef{head.ref()}
	if c.options.Start != nil {
		refs = append(refs, *c.options.Start)
	}
	for _, ref := range refs {
		list, err := c.receipts(ctx, ref.Hash)
		switch node := new(rpc.Error); {
		case errors.As(err, &node):
			a.Has, a.Text = false, fmt.Sprintf("block %d has no receipts: %v", ref.Height, node)
		case err != nil:
			return a, err
		case list == nil:
			a.Has, a.Text = false, fmt.Sprintf("block %d has no receipts", ref.Height)
		}
	}
	return a, nil
}

// traces tells whether the node can trace transactions, which the setting trace needs.
func (c *Client) traces(ctx context.Context) (a chain.Ability, err error) {
	a = chain.Ability{Name: "trace", Has: true, Needed: c.options.Trace, Text: "transactions can be traced"}
	var answer any
	err = c.ask(ctx, &answer, "debug_traceCall", callParams{To: make(data, len(address{}))}, string(Latest), c.options.tracer())
	if node := new(rpc.Error); errors.As(err, &node) {
		a.Has, a.Text = false, fmt.Sprintf("transactions cannot be traced: %v", node)
		return a, nil
	}
	return a, err
}
