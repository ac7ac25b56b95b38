package bitcoin

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// Survey asks the node about itself.
func (c *Client) Survey(ctx context.Context) (s chain.Survey, err error) {
	genesis, err := c.blockHash(ctx, 0)
	if err != nil {
		return s, err
	}
	s.Chain = identity(genesis)

	if s.Software, err = c.software(ctx); err != nil {
		return s, sure(err)
	}
	info, head, err := c.head(ctx)
	if err != nil {
		return s, sure(err)
	}
	s.Head, s.HeadTime = chain.BlockRef{Height: info.Blocks, Hash: head.hash}, head.when()
	s.Behind = max(info.Headers, info.Blocks) - info.Blocks
	s.Abilities, err = c.abilities(ctx, &info)
	return s, err
}

// software returns the node's name and version, or the version alone of a node that does not tell its
// name (btcd).
func (c *Client) software(ctx context.Context) (string, error) {
	var network struct {
		Software string `json:"subversion"`
	}
	err := c.ask(ctx, &network, "getnetworkinfo")
	if _, unknown := refused(err, codeMethod, codeMisc); !unknown {
		return network.Software, err
	}

	var node struct {
		Version uint64 `json:"version"`
	}
	err = c.ask(ctx, &node, "getinfo")
	return fmt.Sprintf("version %d", node.Version), err
}

// abilities lists the node's optional features.
func (c *Client) abilities(ctx context.Context, info *chainInfo) ([]chain.Ability, error) {
	index := chain.Ability{Name: "index", Needed: true, Text: "transactions are looked up by their ids"}
	var err error
	if index.Has, err = c.indexed(ctx); err != nil {
		return nil, sure(err)
	}
	if !index.Has {
		index.Text = "the index of transactions is missing or not complete; the node needs txindex=1"
	}

	history := chain.Ability{Name: "history", Has: true, Needed: true, Text: "all blocks are there"}
	if info.Pruned {
		start := uint64(0)
		if c.options.Start != nil {
			start = c.options.Start.Height
		}
		history.Has = info.PruneHeight <= start
		history.Text = fmt.Sprintf("the node is pruned: its blocks begin at %d", info.PruneHeight)
	}

	fast := chain.Ability{Name: "rest", Text: "blocks are read by REST"}
	// A node without REST that ends the connection is silent here alone.
	if _, fast.Has, err = c.options.Node.Get(ctx, "/rest/chaininfo.json"); err != nil || !fast.Has {
		fast.Text = "blocks are read by JSON-RPC, which is slower; the node has no rest=1"
	}
	return []chain.Ability{index, history, fast}, nil
}
