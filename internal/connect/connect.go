package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// Local is the part of a connection that is the exchange's own.
type Local struct {
	// Seed is the root of the keys of an exchange that signs itself.
	Seed []byte
	// Clock is the machine's.
	Clock func() bourse.Time
	// Known is true if the exchange has read blocks of the network before.
	Known bool
}

var errKeys = errors.New("keys are not those of this sandbox's seed; without the setting it takes its own")

// Connect connects a network to an exchange that signs itself. A node that is away is no error,
// unless the first block to read depends on it.
func (s *Settings) Connect(ctx context.Context, l Local) (*wallet.Connection, error) {
	keys, err := bitcoin.NewKeys(s.params, l.Seed)
	if err != nil {
		return nil, err
	}
	if s.keys != "" && s.keys != keys.Public().String() {
		return nil, errKeys
	}

	node, err := rpc.New(s.node)
	if err != nil {
		return nil, err
	}
	client, err := bitcoin.NewClient(s.params, keys.Public(), bitcoin.Options{
		Node: node, Clock: l.Clock, Floor: s.floor, Cap: s.highest, Start: s.start,
	})
	if err != nil {
		return nil, err
	}
	start, err := s.first(ctx, client, l.Known)
	if err != nil {
		return nil, err
	}
	return &wallet.Connection{
		Network: client, Start: start,
		Signer: signer.Network{
			Codec: bitcoin.NewCodec(s.params, keys.Public()), Keys: keys,
			MaxCost: client.MaxCost(), HourCost: signer.UnlimitedCost(),
		},
		Close: func() error { node.Close(); return nil },
	}, nil
}

// first returns the height of the first block to read, if the exchange has read none.
func (s *Settings) first(ctx context.Context, c *bitcoin.Client, known bool) (uint64, error) {
	switch {
	case known:
		return 0, nil
	case s.start != nil:
		return s.start.Height, nil
	}
	h, err := c.Health(ctx)
	if err != nil {
		return 0, fmt.Errorf("the chain's head, where a new exchange starts without the setting start: %w", err)
	}
	return h.Head.Height, nil
}
