package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// Settings are those of one network.
type Settings struct {
	// Symbol is the network's name in the catalogue.
	Symbol bourse.Symbol

	family family
	node   rpc.Options
	// keys is the descriptor of the public keys; empty for those of the sandbox's own seed.
	keys string
	// start is the first block to read; nil for the node's head at the first start.
	start *bourse.BlockRef
	// floor and highest bound the price of a unit of size or gas; zero for the network's own.
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

// family is what networks of different adapters do in different ways.
type family interface {
	// check checks the settings that only the adapter understands.
	check(s *Settings, e *entry) error
	// open returns a client of a node, and the signer's part.
	open(s *Settings, node *rpc.Client, l *Local) (*wallet.Connection, error)
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
	Read    string `yaml:"read"`
	// Fees are units of the native coin per virtual byte, or per unit of gas.
	Fees struct {
		Floor uint64 `yaml:"floor"`
		Cap   uint64 `yaml:"cap"`
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
		s, err := e.settings(bourse.Symbol(symbol))
		if err != nil {
			return nil, Signer{}, fmt.Errorf("file of networks: %s: %w", symbol, err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Settings) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return list, f.Signer, nil
}

// settings checks one network's entry.
func (e *entry) settings(symbol bourse.Symbol) (s Settings, err error) {
	s = Settings{Symbol: symbol, keys: e.Keys, floor: e.Fees.Floor, highest: e.Fees.Cap}
	switch e.Adapter {
	case "bitcoin":
		s.family = &ofBitcoin{}
	case "evm":
		s.family = &ofEVM{}
	default:
		return s, fmt.Errorf("adapter %q is not known; bitcoin and evm are", e.Adapter)
	}
	if len(e.Nodes) != 1 {
		return s, fmt.Errorf("nodes: %d, and one is taken", len(e.Nodes))
	}
	if s.node, err = e.Nodes[0].options(); err != nil {
		return s, fmt.Errorf("nodes: %w", err)
	}
	return s, s.family.check(&s, e)
}

// onlyTests says that a sandbox refuses a chain.
func onlyTests(params string) error {
	return fmt.Errorf("params %s: a sandbox's money is worth nothing, so it connects to test chains alone", params)
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
