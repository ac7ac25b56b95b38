package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Settings are those of one network.
type Settings struct {
	// Symbol is the network's name in the catalogue.
	Symbol bourse.Symbol
	// Chain is the chain's identity, as signers know it.
	Chain string

	family family
	nodes  []rpc.Options
	// agree is the number of nodes that must give the same answer; zero for more than half of them.
	agree int
	// keys is the descriptor of the public keys; empty for those of the sandbox's own seed.
	keys string
	// start is the first block to read; nil for the node's head at the first start.
	start *bourse.BlockRef
	// floor and highest bound the price of a unit of size or gas; zero for the network's own.
	floor, highest uint64
	// stuck is the number of blocks after which a waiting withdrawal is outbid; zero for never.
	stuck uint64
	// outputs and joined are as in wallet.Options.
	outputs, joined int
	hot             hot
	// alone bounds what one node alone credits.
	alone alone
	// cold is the descriptor of cold storage; empty for none.
	cold string
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
	// check checks the settings that only the adapter understands, and sets the chain and the first
	// block.
	check(s *Settings, e *entry) error
	// codec returns the addresses of public keys.
	codec(keys string, l *Local) (chain.Codec, error)
	// descriptor returns the descriptor of cold storage; empty without.
	descriptor() string
	// strays returns the listed contracts that are no addresses of the network.
	strays(l *Local) []chain.CoinID
	// open returns a client of a node, and the signer's part.
	open(s *Settings, node *rpc.Client, l *Local) (client, signer.Network, error)
	// maxAnswer bounds a node's answer, in bytes; zero is the default.
	maxAnswer() int64
}

// maxNodes bounds the nodes of a network: each is asked for every block.
const maxNodes = 9

// file is the form of a file of networks.
type file struct {
	Networks map[string]entry `yaml:"networks"`
	Signer   Signer           `yaml:"signer"`
}

type entry struct {
	Adapter string `yaml:"adapter"`
	Params  string `yaml:"params"`
	Nodes   []node `yaml:"nodes"`
	Agree   int    `yaml:"agree"`
	Keys    string `yaml:"keys"`
	Start   string `yaml:"start"`
	Read    string `yaml:"read"`
	Trace   bool   `yaml:"trace"`
	// Fees are units of the native coin per virtual byte, per unit of gas, or for a million units of gas.
	Fees struct {
		Floor uint64 `yaml:"floor"`
		Cap   uint64 `yaml:"cap"`
		// Stuck is a number of blocks.
		Stuck uint64 `yaml:"stuck"`
	} `yaml:"fees"`
	Hot  hot    `yaml:"hot"`
	Cold string `yaml:"cold"`
	// Outputs is nil for the usual number.
	Outputs *int `yaml:"outputs"`
	// Joined is nil for the most.
	Joined *int `yaml:"joined"`
	// Alone is a node, because a mapping that is left empty would be none.
	Alone yaml.Node `yaml:"credit-alone"`
}

type node struct {
	URL          string `yaml:"url"`
	User         string `yaml:"user"`
	Password     string `yaml:"password"`
	PasswordFile string `yaml:"password-file"`
}

// ReadSandbox reads a file of networks for a sandbox, and where its signer is.
func ReadSandbox(r io.Reader) ([]Settings, Signer, error) { return read(r, ofSandbox) }

// ReadProduction reads a file of networks for an exchange of real money, and where its signer is.
func ReadProduction(r io.Reader) ([]Settings, Signer, error) { return read(r, ofProduction) }

// ParseProduction reads the block networks of a configuration file for an exchange of real money.
func ParseProduction(block []byte) ([]Settings, error) {
	var entries map[string]entry
	d := yaml.NewDecoder(strings.NewReader(string(block)))
	d.KnownFields(true)
	if err := d.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return nil, withoutLines(err)
	}
	return all(entries, ofProduction)
}

// lineNumber matches the line that an error of YAML names.
var lineNumber = regexp.MustCompile(`^line \d+: `)

// withoutLines takes the lines out of an error of YAML: a block has others than its file.
func withoutLines(err error) error {
	types, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return err
	}
	list := make([]string, len(types.Errors))
	for i, e := range types.Errors {
		list[i] = lineNumber.ReplaceAllString(e, "")
	}
	return errors.New(strings.Join(list, "; "))
}

// read reads a file of networks.
func read(r io.Reader, rules rules) ([]Settings, Signer, error) {
	var f file
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, Signer{}, fmt.Errorf("file of networks: %w", err)
	}
	if len(f.Networks) == 0 {
		return nil, Signer{}, errors.New("file of networks: it names none below the key networks")
	}
	list, err := all(f.Networks, rules)
	if err != nil {
		return nil, Signer{}, fmt.Errorf("file of networks: %w", err)
	}
	return list, f.Signer, nil
}

// all checks the entries of all networks, and sorts them by name.
func all(entries map[string]entry, rules rules) ([]Settings, error) {
	list := make([]Settings, 0, len(entries))
	for symbol, e := range entries {
		s, err := e.settings(bourse.Symbol(symbol))
		if err == nil {
			err = rules(&s, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", symbol, err)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Settings) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return list, nil
}

// rules are those of one kind of exchange.
type rules func(*Settings, *entry) error

// ofSandbox takes test chains alone.
func ofSandbox(s *Settings, e *entry) error {
	if s.IsTest() {
		return nil
	}
	return fmt.Errorf("params %s: a sandbox's money is worth nothing, so it connects to test chains alone", e.Params)
}

// ofProduction takes any chain, with everything that money needs: a sandbox makes up what is missing.
func ofProduction(s *Settings, e *entry) error {
	hasPassword := func(n node) bool { return n.Password != "" }
	switch {
	case slices.ContainsFunc(e.Nodes, hasPassword):
		return errors.New("nodes: a password is in a file of its own, which password-file names")
	case s.keys == "":
		return errors.New("keys are missing: take the public keys that `bourse-signer init` printed")
	case s.start == nil:
		return errors.New("start is missing: take HEIGHT:HASH of a block before the first deposit, from which on blocks are read")
	}
	return nil
}

// IsTest reports whether the coins of the network are worth nothing.
func (s *Settings) IsTest() bool { return signer.IsTestChain(s.Chain) }

// settings checks one network's entry.
func (e *entry) settings(symbol bourse.Symbol) (s Settings, err error) {
	s = Settings{Symbol: symbol, keys: e.Keys, floor: e.Fees.Floor, highest: e.Fees.Cap, stuck: e.Fees.Stuck, hot: e.Hot, cold: e.Cold}
	switch e.Adapter {
	case "bitcoin":
		s.family = &ofBitcoin{}
	case "evm":
		s.family = &ofEVM{}
	case "cosmos":
		s.family = &ofCosmos{}
	default:
		return s, fmt.Errorf("adapter %q is not known; bitcoin, evm and cosmos are", e.Adapter)
	}
	if err := s.takeNodes(e); err != nil {
		return s, err
	}
	if err := s.hot.check(); err != nil {
		return s, err
	}
	if s.alone, err = readAlone(&e.Alone); err != nil {
		return s, err
	}
	if err := s.alone.check(len(s.nodes)); err != nil {
		return s, err
	}
	if err := s.family.check(&s, e); err != nil {
		return s, err
	}
	return s, e.own(&s)
}

// own wants no setting that only another adapter has.
func (e *entry) own(s *Settings) error {
	for _, x := range []struct {
		name, adapter string
		given         bool
	}{
		{"read", "evm", e.Read != ""},
		{"trace", "evm", e.Trace},
		{"cold", "bitcoin", s.cold != ""},
		{"outputs", "bitcoin", e.Outputs != nil},
		{"joined", "bitcoin", e.Joined != nil},
	} {
		if x.given && x.adapter != e.Adapter {
			return fmt.Errorf("%s is a setting of the adapter %s", x.name, x.adapter)
		}
	}
	return nil
}

// takeNodes checks the nodes, and how many of them must agree.
func (s *Settings) takeNodes(e *entry) error {
	switch {
	case len(e.Nodes) == 0 || len(e.Nodes) > maxNodes:
		return fmt.Errorf("nodes: %d, and 1 to %d are taken", len(e.Nodes), maxNodes)
	case e.Agree < 0:
		return errors.New("agree is a number of nodes")
	}
	for i := range e.Nodes {
		o, err := e.Nodes[i].options()
		if err != nil {
			return fmt.Errorf("nodes: %w", err)
		}
		same := func(other rpc.Options) bool { return place(other.URL) == place(o.URL) }
		if slices.ContainsFunc(s.nodes, same) {
			return fmt.Errorf("nodes: node %d is named twice, and would agree with itself", i+1)
		}
		s.nodes = append(s.nodes, o)
	}
	s.agree = e.Agree
	return quorum.CheckAgree(s.agree, len(s.nodes))
}

// place returns the part of a node's URL that names the machine and its port, whatever way it is written.
func place(address string) string {
	u, err := url.Parse(address) // the client has checked it
	if err != nil {
		return address
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port) + strings.TrimSuffix(u.Path, "/")
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
