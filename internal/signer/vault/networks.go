package vault

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Embedded is the name of the parameters of a sandbox's embedded networks.
const Embedded = "devnet"

// The adapters that settings name. A network without one is an embedded one, or of Bitcoin's family.
const (
	adapterBitcoin = "bitcoin"
	adapterEVM     = "evm"
	adapterCosmos  = "cosmos"
)

// Described is a network, or a family of networks, that a signer can have: its name, the setting of
// its parameters, and its public keys.
type Described struct {
	Name, Params string
	// Chain is the chain's identity; empty for a family.
	Chain  string
	Public string
}

// Known returns the networks that a signer of this kind can have.
func Known(seed Seed, sandbox bool) (list []Described, err error) {
	for _, p := range bitcoin.All() {
		if sandbox && !p.Test {
			continue
		}
		n, err := network(bourse.Symbol(p.Coin), &networkSettings{Params: p.Name}, seed)
		if err != nil {
			return nil, err
		}
		list = append(list, Described{string(n.Name), p.Name, n.Chain, n.Public})
	}
	keys, err := evm.NewKeys(&evm.Params{}, seed[:])
	if err != nil {
		return nil, err
	}
	list = append(list, Described{"EVM", "a chain id", "", keys.Public().String()})
	for _, p := range cosmos.All() {
		if sandbox && !signer.IsTestChain(p.Identity()) {
			continue
		}
		n, err := network(bourse.Symbol(p.Coin), &networkSettings{Adapter: adapterCosmos, Params: p.Chain}, seed)
		if err != nil {
			return nil, err
		}
		list = append(list, Described{string(n.Name), p.Chain, n.Chain, n.Public})
	}
	for _, p := range devnet.Networks() {
		if !sandbox {
			break
		}
		n, err := network(p.Symbol, &networkSettings{Params: Embedded}, seed)
		if err != nil {
			return nil, err
		}
		list = append(list, Described{string(n.Name), Embedded, n.Chain, n.Public})
	}
	return list, nil
}

// network returns a network with its keys, and without limits.
func network(name bourse.Symbol, of *networkSettings, seed Seed) (n signer.Network, err error) {
	switch of.Adapter {
	case adapterEVM:
		if of.Cold != "" {
			return n, errCold
		}
		return ofEVM(name, of, seed)
	case adapterCosmos:
		if of.Cold != "" {
			return n, errCold
		}
		return ofCosmos(name, of, seed)
	case "", adapterBitcoin:
	default:
		return n, fmt.Errorf("adapter %q is not known; bitcoin, evm and cosmos are", of.Adapter)
	}
	if err := of.withoutTokens(); err != nil {
		return n, err
	}
	if of.Params == Embedded && of.Adapter == "" {
		if of.Cold != "" {
			return n, errCold
		}
		return ofDevnet(name, seed)
	}
	return ofBitcoin(name, of, seed)
}

func ofDevnet(name bourse.Symbol, seed Seed) (n signer.Network, err error) {
	p := devnet.Lookup(name)
	if p == nil {
		return n, fmt.Errorf("there is no embedded network %s", name)
	}
	keys := devnet.NewKeys(p, seed)
	n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
	n.Codec, n.Keys = devnet.NewCodec(p, keys.Public()), keys
	return n, nil
}

var errCold = errors.New("cold is a setting of networks of Bitcoin's family")

func ofBitcoin(name bourse.Symbol, of *networkSettings, seed Seed) (n signer.Network, err error) {
	p := bitcoin.Lookup(of.Params)
	if p == nil {
		return n, fmt.Errorf("params %q are not known", of.Params)
	}
	if name != bourse.Symbol(p.Coin) {
		return n, fmt.Errorf("params %s are of the network %s", of.Params, p.Coin)
	}
	keys, err := bitcoin.NewKeys(p, seed[:])
	if err != nil {
		return n, err
	}
	n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
	codec := bitcoin.NewCodec(p, keys.Public())
	n.Codec, n.Keys = codec, keys
	if of.Cold == "" {
		return n, nil
	}

	cold, err := p.ParseCold(of.Cold)
	if err == nil {
		err = cold.Apart(keys.Public())
	}
	if err != nil {
		return n, err
	}
	n.Cold = cold.String()
	codec.Keep(cold)
	return n, nil
}

// ofEVM returns a network of Ethereum's family. The settings are the signer's only source of the chain.
func ofEVM(name bourse.Symbol, of *networkSettings, seed Seed) (n signer.Network, err error) {
	p := &evm.Params{Coin: cmp.Or(chain.CoinID(of.Native), chain.CoinID(name))}
	if p.Chain, err = evm.ParseChain(of.Params); err != nil {
		return n, err
	}
	if p.Tokens, err = of.tokens(chain.Coin{ID: p.Coin, Decimals: 18}); err != nil {
		return n, err
	}

	keys, err := evm.NewKeys(p, seed[:])
	if err != nil {
		return n, err
	}
	n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
	n.Codec, err = evm.NewCodec(p, keys.Public())
	n.Keys = keys
	return n, err
}

// errNative refuses a setting that only networks have whose coin the chain does not tell.
var errNative = errors.New("native is a setting of the adapter evm")

// withoutTokens refuses settings of networks that have other coins beside the native one.
func (of *networkSettings) withoutTokens() error {
	if of.Native != "" {
		return errNative
	}
	for id, c := range of.Coins {
		if c.Decimals != nil {
			return fmt.Errorf("%s: decimals are a setting of the adapters evm and cosmos", id)
		}
	}
	return nil
}

// tokens returns the coins of the settings beside the native one. The settings are the signer's only source of them and
// of their decimals.
func (of *networkSettings) tokens(native chain.Coin) (list []chain.Coin, err error) {
	for _, id := range slices.Sorted(maps.Keys(of.Coins)) {
		decimals := of.Coins[id].Decimals
		switch isNative := chain.CoinID(id) == native.ID; {
		case isNative && decimals != nil:
			return nil, fmt.Errorf("%s: the native coin has %d decimals; decimals are a setting of contracts", id, native.Decimals)
		case isNative:
		case decimals == nil:
			return nil, fmt.Errorf("%s: a contract needs its decimals", id)
		default:
			list = append(list, chain.Coin{ID: chain.CoinID(id), Decimals: *decimals})
		}
	}
	return list, nil
}

// ofCosmos returns a network of the Cosmos SDK, whose other coins are named by denomination.
func ofCosmos(name bourse.Symbol, of *networkSettings, seed Seed) (n signer.Network, err error) {
	p, err := cosmos.Lookup(of.Params)
	switch {
	case err != nil:
		return n, err
	case name != bourse.Symbol(p.Coin):
		return n, fmt.Errorf("params %s are of the network %s", of.Params, p.Coin)
	case of.Native != "":
		return n, errNative
	}
	if p.Tokens, err = of.tokens(chain.Coin{ID: p.Coin, Decimals: p.Decimals}); err != nil {
		return n, err
	}

	keys, err := cosmos.NewKeys(p, seed[:])
	if err != nil {
		return n, err
	}
	n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
	n.Codec, err = cosmos.NewCodec(p, keys.Public())
	n.Keys = keys
	return n, err
}
