package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// Settings are those of one network.
type Settings struct {
	// Symbol is the network's name in the catalogue.
	Symbol bourse.Symbol

	params *bitcoin.Params
	node   rpc.Options
	// keys is the descriptor of the public keys; empty for those of the sandbox's own seed.
	keys string
	// start is the first block to read; nil for the node's head at the first start.
	start *bourse.BlockRef
	// floor and highest bound the fee rate, in units per 1,000 virtual bytes; zero for the
	// network's own.
	floor, highest uint64
}

// Signer says where a signer in a process of its own listens; the zero value is none.
type Signer struct {
	// Socket is the path of a Unix socket.
	Socket string `yaml:"socket"`
	// URL is tls://HOST:PORT; the files are PEM, and Pin names the signer's key.
	URL  string `yaml:"url"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	Pin  string `yaml:"pin"`
}

// file is the form of a file of networks.
type file struct {
	Networks map[string]entry `yaml:"networks"`
	Signer   Signer           `yaml:"signer"`
}

type entry struct {
	Adapter string `yaml:"adapter"`
	Params  string `yaml:"params"`
	Nodes   []node `yaml:"nodes"`
	Keys    string `yaml:"keys"`
	Start   string `yaml:"start"`
	// Fees are units per virtual byte.
	Fees struct {
		Floor uint32 `yaml:"floor"`
		Cap   uint32 `yaml:"cap"`
	} `yaml:"fees"`
}

type node struct {
	URL          string `yaml:"url"`
	User         string `yaml:"user"`
	Password     string `yaml:"password"`
	PasswordFile string `yaml:"password-file"`
}

// ReadSandbox reads a file of networks for a sandbox, and where its signer is.
func ReadSandbox(r io.Reader) ([]Settings, Signer, error) {
	var f file
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, Signer{}, fmt.Errorf("file of networks: %w", err)
	}
	if len(f.Networks) == 0 {
		return nil, Signer{}, errors.New("file of networks: it names none below the key networks")
	}

	list := make([]Settings, 0, len(f.Networks))
	for symbol, e := range f.Networks {
		s, err := e.settings()
		if err == nil && symbol != string(s.params.Coin) {
			err = fmt.Errorf("params %s are of the network %s", e.Params, s.params.Coin)
		}
		if err != nil {
			return nil, Signer{}, fmt.Errorf("file of networks: %s: %w", symbol, err)
		}
		s.Symbol = bourse.Symbol(symbol)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Settings) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return list, f.Signer, nil
}

// settings checks one network's entry.
func (e *entry) settings() (s Settings, err error) {
	if e.Adapter != "bitcoin" {
		return s, fmt.Errorf("adapter %q is not known; bitcoin is", e.Adapter)
	}
	switch s.params = bitcoin.Lookup(e.Params); {
	case s.params == nil:
		return s, fmt.Errorf("params %q are not known; known are %s", e.Params, names())
	case !s.params.Test:
		return s, fmt.Errorf("params %s: a sandbox's money is worth nothing, so it connects to test chains alone", e.Params)
	case len(e.Nodes) != 1:
		return s, fmt.Errorf("nodes: %d, and one is taken", len(e.Nodes))
	}
	if s.node, err = e.Nodes[0].options(); err != nil {
		return s, fmt.Errorf("nodes: %w", err)
	}

	if s.keys = e.Keys; s.keys != "" {
		if _, err := s.params.ParseDescriptor(s.keys); err != nil {
			return s, err
		}
	}
	if e.Start != "" {
		if s.start, err = bitcoin.ParseRef(e.Start); err != nil {
			return s, err
		}
	}
	s.floor, s.highest = 1000*uint64(e.Fees.Floor), 1000*uint64(e.Fees.Cap)
	return s, nil
}

// names lists the known params.
func names() string {
	var list []string
	for _, p := range bitcoin.All() {
		list = append(list, p.Name)
	}
	return strings.Join(list, ", ")
}

// options returns the options of a node's client.
func (n *node) options() (rpc.Options, error) {
	o := rpc.Options{URL: n.URL, User: n.User}
	switch {
	case n.Password != "" && n.PasswordFile != "":
		return o, errors.New("password and password-file exclude each other")
	case n.Password != "":
		o.Password = func() (string, error) { return n.Password, nil }
	case n.PasswordFile != "":
		o.Password = func() (string, error) {
			text, err := os.ReadFile(n.PasswordFile)
			return string(text), err
		}
	}
	_, err := rpc.New(o)
	return o, err
}
