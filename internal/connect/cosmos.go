package connect

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// ofCosmos connects chains of the Cosmos SDK.
type ofCosmos struct{ chain *cosmos.Params }

func (f *ofCosmos) check(s *Settings, e *entry) (err error) {
	if f.chain, err = cosmos.Lookup(e.Params); err != nil {
		return err
	}
	switch {
	case s.Symbol != bourse.Symbol(f.chain.Coin):
		return fmt.Errorf("params %s are of the network %s", e.Params, f.chain.Coin)
	case s.stuck > 0:
		return errors.New("fees: stuck is no setting of the adapter cosmos: its nodes take nothing in the place of what waits")
	case s.floor >= cosmos.PriceEnd || s.highest >= cosmos.PriceEnd:
		return errors.New("fees are units for a million units of gas, below 2^40")
	}
	s.Chain = f.chain.Identity()
	if s.keys != "" {
		if _, err := cosmos.ParseKeys(s.keys); err != nil {
			return err
		}
	}
	if e.Start != "" {
		s.start, err = cosmos.ParseRef(e.Start)
	}
	return err
}

func (f *ofCosmos) descriptor() string { return "" }

func (f *ofCosmos) maxAnswer() int64 { return cosmos.MaxAnswer }

func (f *ofCosmos) params(l *Local) *cosmos.Params {
	p := *f.chain
	p.Tokens, _ = l.sort(f.chain.Moves)
	return &p
}

func (f *ofCosmos) strays(l *Local) []chain.CoinID {
	_, list := l.sort(f.chain.Moves)
	return list
}

func (f *ofCosmos) codec(keys string, l *Local) (chain.Codec, error) {
	public, err := cosmos.ParseKeys(keys)
	if err != nil {
		return nil, err
	}
	return cosmos.NewCodec(f.params(l), public)
}

func (f *ofCosmos) open(s *Settings, node *rpc.Client, l *Local) (client, signer.Network, error) {
	params := f.params(l)
	public, keys, err := keysOf(s, l.Seed, cosmos.ParseKeys,
		func(seed []byte) (*cosmos.Keys, error) { return cosmos.NewKeys(params, seed) })
	if err != nil {
		return nil, signer.Network{}, err
	}
	c, err := cosmos.NewClient(params, public, cosmos.Options{
		Node: node, Clock: l.Clock, Floor: s.floor, Cap: s.highest, Start: s.start,
	})
	if err != nil {
		return nil, signer.Network{}, err
	}
	// The signer has a codec of its own.
	codec, err := cosmos.NewCodec(params, public)
	if err != nil {
		return nil, signer.Network{}, err
	}
	return c, signer.Network{
		Account: signer.Account{Name: s.Symbol, Chain: s.Chain, Public: public.String()},
		Codec:   codec, Keys: keys, MaxCost: c.MaxCost(), HourCost: signer.UnlimitedCost(),
	}, nil
}
