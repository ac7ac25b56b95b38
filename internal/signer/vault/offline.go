package vault

import (
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
)

// OfflineSettings pin what a key of cold storage signs, on a machine without a network.
type OfflineSettings struct {
	// Params are the network's.
	Params string `yaml:"params"`
	// Hot are the exchange's public keys, as its setting keys has them, and Cold is the descriptor of cold storage.
	Hot  string `yaml:"hot"`
	Cold string `yaml:"cold"`
	// MaxCost is the most that a transaction costs, in whole coins; without it nothing is signed.
	MaxCost string `yaml:"max-cost"`
}

var errOffline = errors.New("the settings lack params, hot, cold or max-cost: nothing is signed before all are there")

// ReadOffline reads the settings of a key of cold storage.
func ReadOffline(r io.Reader) (*OfflineSettings, error) {
	s := new(OfflineSettings)
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("settings of cold storage: %w", err)
	}
	return s, nil
}

// Open returns the key that signs.
func (s *OfflineSettings) Open(seed Seed) (*bitcoin.Offline, error) {
	if s.Params == "" || s.Hot == "" || s.Cold == "" || s.MaxCost == "" {
		return nil, errOffline
	}
	p, err := bitcoinParams(s.Params)
	if err != nil {
		return nil, err
	}
	hot, err := p.ParseDescriptor(s.Hot)
	if err != nil {
		return nil, fmt.Errorf("hot: %w", err)
	}
	cold, err := p.ParseCold(s.Cold)
	if err != nil {
		return nil, err
	}
	most, err := parse("max-cost", s.MaxCost, 8)
	if err != nil {
		return nil, err
	}
	return bitcoin.NewOffline(p, seed[:], hot, cold, most)
}

// ColdKeys returns the keys of a seed for the descriptor of cold storage: for one key, and for several.
func ColdKeys(params string, seed Seed) (one, several string, err error) {
	p, err := bitcoinParams(params)
	if err != nil {
		return "", "", err
	}
	return bitcoin.ColdKeys(p, seed[:])
}

func bitcoinParams(name string) (*bitcoin.Params, error) {
	p := bitcoin.Lookup(name)
	if p == nil {
		return nil, fmt.Errorf("params %q are not known", name)
	}
	return p, nil
}
