package vault

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Embedded is the name of the parameters of a sandbox's embedded networks.
const Embedded = "devnet"

// Described is a network that a signer can have, with its keys and the name of its parameters.
type Described struct {
	signer.Account

	Params string
}

// Known returns the networks that a signer of this kind can have.
func Known(seed Seed, sandbox bool) (list []Described, err error) {
	for _, p := range bitcoin.All() {
		if sandbox && !p.Test {
			continue
		}
		n, err := network(bourse.Symbol(p.Coin), p.Name, seed)
		if err != nil {
			return nil, err
		}
		list = append(list, Described{n.Account, p.Name})
	}
	for _, p := range devnet.Networks() {
		if !sandbox {
			break
		}
		n, err := network(p.Symbol, Embedded, seed)
		if err != nil {
			return nil, err
		}
		list = append(list, Described{n.Account, Embedded})
	}
	return list, nil
}

// network returns a network with its keys, and without limits.
func network(name bourse.Symbol, params string, seed Seed) (n signer.Network, err error) {
	if params == Embedded {
		p := devnet.Lookup(name)
		if p == nil {
			return n, fmt.Errorf("there is no embedded network %s", name)
		}
		keys := devnet.NewKeys(p, seed)
		n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
		n.Codec, n.Keys = devnet.NewCodec(p, keys.Public()), keys
		return n, nil
	}

	p := bitcoin.Lookup(params)
	if p == nil {
		return n, fmt.Errorf("params %q are not known", params)
	}
	if name != bourse.Symbol(p.Coin) {
		return n, fmt.Errorf("params %s are of the network %s", params, p.Coin)
	}
	keys, err := bitcoin.NewKeys(p, seed[:])
	if err != nil {
		return n, err
	}
	n.Account = signer.Account{Name: name, Chain: p.Identity(), Public: keys.Public().String()}
	n.Codec, n.Keys = bitcoin.NewCodec(p, keys.Public()), keys
	return n, nil
}
