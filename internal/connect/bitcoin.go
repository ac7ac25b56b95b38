package connect

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// ofBitcoin connects networks of the Bitcoin family.
type ofBitcoin struct {
	params *bitcoin.Params
	// cold is nil without cold storage.
	cold *bitcoin.Cold
}

// perKilobyte converts a rate per virtual byte to one per 1,000.
const perKilobyte = 1000

func (f *ofBitcoin) check(s *Settings, e *entry) (err error) {
	switch f.params = bitcoin.Lookup(e.Params); {
	case f.params == nil:
		return fmt.Errorf("params %q are not known; known are %s", e.Params, names())
	case string(s.Symbol) != string(f.params.Coin):
		return fmt.Errorf("params %s are of the network %s", e.Params, f.params.Coin)
	case s.floor > math.MaxUint32 || s.highest > math.MaxUint32:
		return errors.New("fees are units per virtual byte, below 2^32")
	}

	s.Chain, s.outputs, s.joined = f.params.Identity(), wallet.DefaultOutputs, bourse.MaxJoined
	for _, x := range []struct {
		name  string
		given *int
		to    *int
		most  int
	}{
		{"outputs", e.Outputs, &s.outputs, wallet.MaxOutputs},
		{"joined", e.Joined, &s.joined, bourse.MaxJoined},
	} {
		if x.given == nil {
			continue
		}
		if *x.to = *x.given; *x.to < 1 || *x.to > x.most {
			return fmt.Errorf("%s: %d, and 1 to %d are taken", x.name, *x.to, x.most)
		}
	}

	if s.cold != "" {
		if f.cold, err = f.params.ParseCold(s.cold); err != nil {
			return err
		}
	}
	if s.keys != "" {
		public, err := f.params.ParseDescriptor(s.keys)
		if err == nil {
			err = f.apart(public)
		}
		if err != nil {
			return err
		}
	}
	if e.Start != "" {
		s.start, err = bitcoin.ParseRef(e.Start)
	}
	return err
}

// apart checks that cold storage has keys of another seed than the exchange's own.
func (f *ofBitcoin) apart(public *bitcoin.PublicKeys) error {
	if f.cold == nil {
		return nil
	}
	return f.cold.Apart(public)
}

// descriptor returns the descriptor of cold storage; empty without.
func (f *ofBitcoin) descriptor() string {
	if f.cold == nil {
		return ""
	}
	return f.cold.String()
}

// names lists the known params.
func names() string {
	var list []string
	for _, p := range bitcoin.All() {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

func (f *ofBitcoin) codec(keys string, _ *Local) (chain.Codec, error) {
	public, err := f.params.ParseDescriptor(keys)
	if err != nil {
		return nil, err
	}
	return bitcoin.NewCodec(f.params, public), nil
}

func (f *ofBitcoin) maxAnswer() int64 { return 0 }

func (f *ofBitcoin) strays(*Local) []chain.CoinID { return nil }

func (f *ofBitcoin) open(s *Settings, node *rpc.Client, l *Local) (client, signer.Network, error) {
	public, keys, err := keysOf(s, l.Seed, f.params.ParseDescriptor,
		func(seed []byte) (*bitcoin.Keys, error) { return bitcoin.NewKeys(f.params, seed) })
	if err != nil {
		return nil, signer.Network{}, err
	}
	if err := f.apart(public); err != nil {
		return nil, signer.Network{}, err
	}
	c, err := bitcoin.NewClient(f.params, public, bitcoin.Options{
		Node: node, Clock: l.Clock, Floor: perKilobyte * s.floor, Cap: perKilobyte * s.highest, Start: s.start, Cold: f.cold,
		Owners: l.share(s, public, func() *hdkeys.Owners { return bitcoin.NewOwners(public) }),
	})
	if err != nil {
		return nil, signer.Network{}, err
	}
	codec := bitcoin.NewCodec(f.params, public)
	if f.cold != nil {
		codec.Keep(f.cold)
	}
	return c, signer.Network{
		Account: signer.Account{Name: s.Symbol, Chain: s.Chain, Public: public.String(), Cold: f.descriptor()},
		Codec:   codec, Keys: keys,
		MaxCost: c.MaxCost(), HourCost: signer.UnlimitedCost(),
	}, nil
}
