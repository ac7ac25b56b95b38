package connect

import (
	"errors"
	"fmt"
	"math"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// ofEVM connects Ethereum and its family.
type ofEVM struct {
	chain uint64
	read  evm.Head
	trace bool
}

// behind is more than the number of blocks by which the safe and the finalized block are behind the head, three epochs of
// 32: a payment is in a block for that long before it is seen there.
const behind = 128

func (f *ofEVM) check(s *Settings, e *entry) (err error) {
	if f.chain, err = evm.ParseChain(e.Params); err != nil {
		return err
	}
	s.Chain = (&evm.Params{Chain: f.chain}).Identity()
	if s.floor > math.MaxInt64 || s.highest > math.MaxInt64 {
		return errors.New("fees are units per unit of gas, below 2^63") // a price is the sum of two
	}
	f.trace = e.Trace
	if f.read, err = evm.ParseHead(e.Read); err != nil {
		return err
	}
	if s.stuck > 0 && s.stuck < behind && f.read != evm.Latest {
		return fmt.Errorf("fees: stuck is at least %d with read: %s, which is so far behind the node's head", behind, e.Read)
	}
	if s.keys != "" {
		if _, err := evm.ParseKeys(s.keys); err != nil {
			return err
		}
	}
	if e.Start != "" {
		s.start, err = evm.ParseRef(e.Start)
	}
	return err
}

func (f *ofEVM) descriptor() string { return "" }

func (f *ofEVM) maxAnswer() int64 { return evm.MaxAnswer }

func (f *ofEVM) params(l *Local) *evm.Params {
	tokens, _ := l.sort(evm.IsContract)
	return &evm.Params{Chain: f.chain, Coin: l.Native, Tokens: tokens}
}

func (f *ofEVM) strays(l *Local) []chain.CoinID {
	_, list := l.sort(evm.IsContract)
	return list
}

func (f *ofEVM) codec(keys string, l *Local) (chain.Codec, error) {
	public, err := evm.ParseKeys(keys)
	if err != nil {
		return nil, err
	}
	return evm.NewCodec(f.params(l), public)
}

func (f *ofEVM) open(s *Settings, node *rpc.Client, l *Local) (client, signer.Network, error) {
	params := f.params(l)
	public, keys, err := keysOf(s, l.Seed, evm.ParseKeys,
		func(seed []byte) (*evm.Keys, error) { return evm.NewKeys(params, seed) })
	if err != nil {
		return nil, signer.Network{}, err
	}
	c, err := evm.NewClient(params, public, evm.Options{
		Node: node, Clock: l.Clock, Read: f.read, Floor: s.floor, Cap: s.highest, Start: s.start, Trace: f.trace,
		Owners: l.share(s, public, func() *hdkeys.Owners { return evm.NewOwners(public) }),
	})
	if err != nil {
		return nil, signer.Network{}, err
	}
	// The signer has a codec of its own.
	codec, err := evm.NewCodec(params, public)
	if err != nil {
		return nil, signer.Network{}, err
	}
	return c, signer.Network{
		Account: signer.Account{Name: s.Symbol, Chain: s.Chain, Public: public.String()},
		Codec:   codec, Keys: keys, MaxCost: c.MaxCost(), HourCost: signer.UnlimitedCost(),
	}, nil
}
