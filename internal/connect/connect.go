package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// Local is the part of a connection that is the exchange's own.
type Local struct {
	// Seed is the root of the keys of an exchange that signs itself; nil if a signer in another
	// process does. Then the settings have the public keys.
	Seed []byte
	// Clock is the machine's.
	Clock func() bourse.Time
	// Known is true if the exchange has read blocks of the network before.
	Known bool
}

var (
	errKeys   = errors.New("keys are not those of this sandbox's seed; without the setting it takes its own")
	errNoKeys = errors.New("keys are missing: with a signer of its own, the exchange takes them from the settings")
)

// Connect connects a network to an exchange. A node that is away is no error, unless the first
// block to read depends on it.
func (s *Settings) Connect(ctx context.Context, l Local) (*wallet.Connection, error) {
	public, keys, err := s.publicKeys(l.Seed)
	if err != nil {
		return nil, err
	}

	node, err := rpc.New(s.node)
	if err != nil {
		return nil, err
	}
	client, err := bitcoin.NewClient(s.params, public, bitcoin.Options{
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
			Account: signer.Account{Name: s.Symbol, Chain: s.params.Identity(), Public: public.String()},
			Codec:   bitcoin.NewCodec(s.params, public), Keys: keys,
			MaxCost: client.MaxCost(), HourCost: signer.UnlimitedCost(),
		},
		Close: func() error { node.Close(); return nil },
	}, nil
}

// publicKeys returns the public keys, and the private ones of an exchange that signs itself.
func (s *Settings) publicKeys(seed []byte) (*bitcoin.PublicKeys, chain.Keyring, error) {
	if seed == nil {
		if s.keys == "" {
			return nil, nil, errNoKeys
		}
		public, err := s.params.ParseDescriptor(s.keys)
		return public, nil, err
	}
	keys, err := bitcoin.NewKeys(s.params, seed)
	if err != nil {
		return nil, nil, err
	}
	if s.keys != "" && s.keys != keys.Public().String() {
		return nil, nil, errKeys
	}
	return keys.Public(), keys, nil
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
