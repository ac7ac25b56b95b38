package vault

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Settings are a signer's settings.
type Settings struct {
	Networks  map[bourse.Symbol]networkSettings `yaml:"networks"`
	Approvers approverSettings                  `yaml:"approvers"`
}

// networkSettings are those of one network. Amounts are in whole coins; a missing one is zero.
type networkSettings struct {
	// Adapter is evm for Ethereum's family and cosmos for the Cosmos SDK's, whose Params are the chain id. Bitcoin's
	// family may name none.
	Adapter string `yaml:"adapter"`
	Params  string `yaml:"params"`
	// Native is the native coin of a network of Ethereum's family; the network's own name, if empty.
	Native string `yaml:"native"`
	// MaxCost bounds the cost of one transaction, and HourCost that of an hour's, in the native
	// coin.
	MaxCost  string `yaml:"max-cost"`
	HourCost string `yaml:"hour-cost"`
	// Cold is the descriptor of cold storage, on networks of Bitcoin's family.
	Cold  string                  `yaml:"cold"`
	Coins map[string]coinSettings `yaml:"coins"`
	Allow []destination           `yaml:"allow"`
}

// coinSettings are the limits of a coin, which is named by its contract, or by its symbol if it
// has none.
type coinSettings struct {
	Payment string `yaml:"payment"`
	Hour    string `yaml:"hour"`
	Day     string `yaml:"day"`
	Free    string `yaml:"free"`
	// Decimals are those of a coin beside the native one, on networks of Ethereum's and the Cosmos SDK's family.
	Decimals *uint8 `yaml:"decimals"`
}

type destination struct {
	Address string `yaml:"address"`
	Memo    string `yaml:"memo"`
}

type approverSettings struct {
	Need int `yaml:"need"`
	// Keys are ed25519 public keys in hex.
	Keys []string `yaml:"keys"`
}

// ReadSettings reads a signer's settings.
func ReadSettings(r io.Reader) (*Settings, error) {
	s := new(Settings)
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("settings of the signer: %w", err)
	}
	if _, err := s.ApproverKeys(); err != nil {
		return nil, err
	}
	return s, nil
}

// Names returns the networks' names in their order.
func (s *Settings) Names() []bourse.Symbol { return slices.Sorted(maps.Keys(s.Networks)) }

// ApproverKeys returns the approvers.
func (s *Settings) ApproverKeys() (a signer.Approvers, err error) {
	a.Need = s.Approvers.Need
	for _, text := range s.Approvers.Keys {
		key, err := hex.DecodeString(text)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return a, fmt.Errorf("settings of the signer: approver %q is no key of ed25519 in hex", text)
		}
		a.Keys = append(a.Keys, key)
	}
	return a, nil
}

// Open returns the networks with their keys, by their numbers in the record.
func (s *Settings) Open(
	seed Seed, numbers map[bourse.Symbol]bourse.NetworkID,
) (map[bourse.NetworkID]signer.Network, error) {
	networks := map[bourse.NetworkID]signer.Network{}
	for _, name := range s.Names() {
		of := s.Networks[name]
		n, err := network(name, &of, seed)
		if err == nil {
			err = of.bound(&n)
		}
		if err != nil {
			return nil, fmt.Errorf("settings of the signer: %s: %w", name, err)
		}
		networks[numbers[name]] = n
	}
	return networks, nil
}

// bound sets a network's limits and allow-list.
func (of *networkSettings) bound(n *signer.Network) (err error) {
	shape := n.Codec.Shape()
	native, _ := shape.Coin(shape.Native)
	if n.MaxCost, err = parse("max-cost", of.MaxCost, native.Decimals); err != nil {
		return err
	}
	if n.HourCost, err = parse("hour-cost", of.HourCost, native.Decimals); err != nil {
		return err
	}

	limits := map[chain.CoinID]signer.Limit{}
	for name, c := range of.Coins {
		coin, known := shape.Coin(chain.CoinID(name))
		if !known {
			return fmt.Errorf("it has no coin %s", name)
		}
		if limits[coin.ID], err = c.limit(coin.Decimals); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	n.Limit = func(id chain.CoinID) signer.Limit { return limits[id] }

	for _, d := range of.Allow {
		to, err := d.parse(n.Codec)
		if err != nil {
			return err
		}
		if slices.Contains(n.Allowed, to) {
			return fmt.Errorf("allow: %s is there twice", to.Address)
		}
		n.Allowed = append(n.Allowed, to)
	}
	return nil
}

func (c *coinSettings) limit(decimals uint8) (l signer.Limit, err error) {
	for _, of := range []struct {
		name, text string
		to         *bourse.Amount
	}{
		{"payment", c.Payment, &l.Payment}, {"hour", c.Hour, &l.Hour}, {"day", c.Day, &l.Day}, {"free", c.Free, &l.Free},
	} {
		if *of.to, err = parse(of.name, of.text, decimals); err != nil {
			return l, err
		}
	}
	return l, nil
}

// parse reads an amount of whole coins; an empty text is zero.
func parse(name, text string, decimals uint8) (a bourse.Amount, err error) {
	if text == "" {
		return a, nil
	}
	if a, err = bourse.ParseAmount(text, decimals); err != nil {
		return a, fmt.Errorf("%s %q: %w", name, text, err)
	}
	return a, nil
}

// parse returns a destination in the network's canonical form.
func (d *destination) parse(c chain.Codec) (to chain.Destination, err error) {
	if to.Address, err = c.ParseAddress(d.Address); err != nil {
		return to, fmt.Errorf("allow: %s: %w", d.Address, err)
	}
	if d.Memo != "" {
		if to.Memo, err = c.ParseMemo(d.Memo); err != nil {
			return to, fmt.Errorf("allow: %s: %w", d.Address, err)
		}
	}
	return to, nil
}
