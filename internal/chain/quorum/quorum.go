package quorum

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Client is a client of one node.
type Client interface {
	chain.Network
	// Ref returns the name and the time of the block at a height of the node's chain that is not above its head.
	// It costs less than Block. The one at height 0 tells chains apart.
	Ref(ctx context.Context, height uint64) (chain.BlockRef, bourse.Time, error)
}

const (
	// DefaultTimeout bounds a node's answer where every node is waited for.
	DefaultTimeout = 5 * time.Second
	// DefaultDepth is the number of confirmations at which blocks are settled.
	DefaultDepth = 6
)

// Options configure a quorum.
type Options struct {
	// Nodes are clients of different nodes, with the same public keys and settings.
	Nodes []Client
	// Agree is the number of nodes that must give the same answer; zero for Majority.
	Agree int
	// Depth is the number of confirmations at which the nodes' blocks must be the same; zero for DefaultDepth.
	Depth uint64
	// Timeout bounds a node's answer where every node is waited for; zero for DefaultTimeout.
	Timeout time.Duration
	// Log receives a line when a node ceases to count, and when it counts again.
	Log *slog.Logger
}

// Majority returns the least number of nodes that is more than half of them.
func Majority(nodes int) int { return nodes/2 + 1 }

// CheckAgree checks a number of nodes that must agree; zero is Majority.
func CheckAgree(agree, nodes int) error {
	if agree != 0 && (agree < Majority(nodes) || agree > nodes) {
		return fmt.Errorf("agree is %d to %d of %d nodes: fewer could agree on two chains", Majority(nodes), nodes, nodes)
	}
	return nil
}

// Network asks several nodes. It implements [chain.Network].
type Network struct {
	// Codec is the first client's; all clients have the same keys.
	chain.Codec
	nodes []*node
	agree int
	depth uint64
	log   *slog.Logger
}

var (
	_ chain.Network     = (*Network)(nil)
	_ chain.ColdStorage = (*Network)(nil)
)

// node is a node with its standing.
type node struct {
	Client
	// number is the node's place in the settings, from 1 on.
	number  int
	timeout time.Duration

	mu sync.Mutex
	// standing is awake again once the node tells its health and its last block. Guarded by mu, like the fields
	// below.
	standing standing
	// open counts questions that are not answered yet.
	open int
	// genesis is the hash of the node's first block; zero if it was not asked yet.
	genesis chain.Hash
	// trouble is the last logged reason why the node does not count.
	trouble string
}

// standing says which questions wait for a node.
type standing uint8

const (
	// awake: every question waits for the node.
	awake standing = iota
	// silent: the node did not answer a question, and only Health waits for it.
	silent
	// away: the node did not answer Health, and no question waits for it while the others are enough.
	away
)

func (n *node) String() string { return fmt.Sprintf("node %d", n.number) }

// New returns the network of several nodes.
func New(o Options) (*Network, error) {
	if len(o.Nodes) == 0 {
		return nil, errors.New("a network without nodes")
	}
	if err := CheckAgree(o.Agree, len(o.Nodes)); err != nil {
		return nil, err
	}
	q := &Network{Codec: o.Nodes[0], agree: o.Agree, depth: o.Depth, log: o.Log}
	if q.agree == 0 {
		q.agree = Majority(len(o.Nodes))
	}
	if q.depth == 0 {
		q.depth = DefaultDepth
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if q.log == nil {
		q.log = slog.New(slog.DiscardHandler)
	}
	for i, c := range o.Nodes {
		q.nodes = append(q.nodes, &node{Client: c, number: i + 1, timeout: o.Timeout})
	}
	return q, nil
}

// Watch makes the accounts up to this id known to every client: each leaves out transfers of addresses that it does
// not know.
func (q *Network) Watch(last uint32) {
	for _, n := range q.nodes {
		n.Watch(last)
	}
}
