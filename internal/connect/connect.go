package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// Local is the part of a connection that is the exchange's own.
type Local struct {
	// Seed is the root of the keys of an exchange that signs itself; nil if a signer in another
	// process does. Then the settings have the public keys.
	Seed []byte
	// Clock is the machine's.
	Clock func() bourse.Time
	// Native is the native coin of the catalogue's network, and Tokens are its other coins.
	Native chain.CoinID
	Tokens []chain.Coin
	// Terms and Assets are the catalogue's: the network's coins, and assets by id.
	Terms  []*bourse.NetworkAsset
	Assets []*bourse.Asset
	// Depth is the number of confirmations at which the blocks of all nodes must be the same; see [Depth].
	Depth uint64
	// Log receives a line when one of several nodes ceases to count.
	Log *slog.Logger
	// Known is true if the exchange has read blocks of the network before.
	Known bool
	// Data is the exchange's data directory, which keeps derived addresses; empty keeps none.
	Data string
	// owners are those of all nodes' clients; nil if accounts share an address.
	owners *hdkeys.Owners
}

// sort parts the tokens into those whose id the adapter knows and the strays. An adapter leaves strays out: the
// catalogue never changes a contract, so a mistyped one would keep the exchange from its network for ever.
func (l *Local) sort(known func(chain.CoinID) bool) (tokens []chain.Coin, strays []chain.CoinID) {
	for _, t := range l.Tokens {
		if known(t.ID) {
			tokens = append(tokens, t)
		} else {
			strays = append(strays, t.ID)
		}
	}
	return tokens, strays
}

var (
	errKeys   = errors.New("keys are not those of this sandbox's seed; without the setting it takes its own")
	errNoKeys = errors.New("keys are missing: with a signer of its own, the exchange takes them from the settings")
)

// Listed returns the native coin of a network and its other coins, as the catalogue lists them: the
// native one has no contract, and else the network's name.
func Listed(
	network bourse.Symbol, terms []*bourse.NetworkAsset, assets []*bourse.Asset,
) (native chain.CoinID, tokens []chain.Coin) {
	native = chain.CoinID(network)
	for _, t := range terms {
		coin := chain.CoinOf(assets[t.Asset].Symbol, t.Contract)
		if t.Contract == "" {
			native = coin
			continue
		}
		tokens = append(tokens, chain.Coin{ID: coin, Decimals: t.Precision})
	}
	return native, tokens
}

// Depth returns the number of confirmations at which money of a network is settled: the most that a deposit of
// any coin is waited for.
func Depth(terms []*bourse.NetworkAsset) (depth uint64) {
	for _, t := range terms {
		depth = max(depth, uint64(t.Confirms))
	}
	return depth
}

// client is a client of a node that is asked about itself.
type client interface {
	quorum.Client
	// CheckChain fails with chain.ErrOtherChain if the node is not of the configured chain.
	CheckChain(ctx context.Context) error
	// Survey asks the node about itself.
	Survey(ctx context.Context) (chain.Survey, error)
}

// Connect connects a network to an exchange. A node that is away is no error, unless the first
// block to read depends on it. A node of another chain is one: its blocks must not be read, and
// to wait for it would hide a mistake.
func (s *Settings) Connect(ctx context.Context, l Local) (*wallet.Connection, error) {
	hot, err := s.hot.bands(l.Terms, l.Assets)
	if err != nil {
		return nil, err
	}
	alone, err := s.alone.amounts(l.Terms, l.Assets)
	if err != nil {
		return nil, err
	}
	nodes, err := s.open(&l)
	if err != nil {
		return nil, errors.Join(err, l.closeOwners())
	}
	c, err := s.attach(ctx, nodes, &l)
	if err != nil {
		closeAll(nodes)
		return nil, errors.Join(err, l.closeOwners())
	}
	c.Stuck, c.Outputs, c.Joined, c.Hot, c.Alone = s.stuck, s.outputs, s.joined, hot, alone
	c.Close = func() error { closeAll(nodes); return l.closeOwners() }
	return c, nil
}

// attach returns the connection to nodes of one chain.
func (s *Settings) attach(ctx context.Context, nodes []opened, l *Local) (*wallet.Connection, error) {
	for i, n := range nodes {
		if err := n.client.CheckChain(ctx); errors.Is(err, chain.ErrOtherChain) {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	network, err := s.together(nodes, l)
	if err != nil {
		return nil, err
	}
	start, err := s.first(ctx, network, l.Known)
	if err != nil {
		return nil, err
	}
	return &wallet.Connection{Network: network, Signer: nodes[0].keys, Start: start}, nil
}

// opened is a node with its client, and the signer's part of the network.
type opened struct {
	client client
	keys   signer.Network
	rpc    *rpc.Client
}

// open makes the clients of all nodes. It does not connect.
func (s *Settings) open(l *Local) ([]opened, error) {
	list := make([]opened, len(s.nodes))
	for i, o := range s.nodes {
		o.MaxAnswer = s.family.maxAnswer()
		node, err := rpc.New(o)
		if err != nil {
			return nil, err
		}
		n := opened{rpc: node}
		if n.client, n.keys, err = s.family.open(s, node, l); err != nil {
			return nil, err
		}
		list[i] = n
	}
	return list, nil
}

// closeAll closes idle connections to nodes.
func closeAll(nodes []opened) {
	for _, n := range nodes {
		n.rpc.Close()
	}
}

// together returns one network of all nodes.
func (s *Settings) together(nodes []opened, l *Local) (chain.Network, error) {
	if len(nodes) == 1 {
		return nodes[0].client, nil
	}
	o := quorum.Options{Agree: s.agree, Depth: l.Depth, Log: l.Log}
	for _, n := range nodes {
		o.Nodes = append(o.Nodes, n.client)
	}
	return quorum.New(o)
}

// Strays returns the listed contracts that are no addresses of the network. Their coins do not move.
func (s *Settings) Strays(l Local) []chain.CoinID { return s.family.strays(&l) }

// keyring is private keys with the public ones of type P.
type keyring[P fmt.Stringer] interface {
	chain.Keyring
	Public() P
}

// keysOf returns the public keys, and the private ones of an exchange that signs itself.
func keysOf[P fmt.Stringer, K keyring[P]](
	s *Settings, seed []byte, parse func(string) (P, error), derive func([]byte) (K, error),
) (public P, private chain.Keyring, err error) {
	if seed == nil {
		if s.keys == "" {
			return public, nil, errNoKeys
		}
		public, err = parse(s.keys)
		return public, nil, err
	}

	keys, err := derive(seed)
	if err != nil {
		return public, nil, err
	}
	if public = keys.Public(); s.keys != "" && s.keys != public.String() {
		return public, nil, errKeys
	}
	return public, keys, nil
}

// first returns the height of the first block to read, if the exchange has read none, or its chain begins anew.
func (s *Settings) first(ctx context.Context, n chain.Network, known bool) (uint64, error) {
	switch {
	case s.start != nil:
		return s.start.Height, nil
	case known:
		return 0, nil
	}
	h, err := n.Health(ctx)
	if err != nil {
		return 0, fmt.Errorf("the chain's head, where a new exchange starts without the setting start: %w", err)
	}
	return h.Head.Height, nil
}
