package cluster

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// next returns the member that a newcomer becomes: the next life of a number, or a node of a new number.
func (c *Config) next(n *Newcomer) (*Member, error) {
	former := c.Newest(n.Number)
	switch {
	case former == nil && n.Address == "":
		return nil, fmt.Errorf("the cluster has no node %d", n.Number)
	case former == nil:
		return c.added(n)
	case n.Address != "":
		return nil, fmt.Errorf("the cluster has a node %d already", n.Number)
	case n.Replaces != 0 && n.Replaces != Number(former.Replaces):
		return nil, fmt.Errorf("node %d comes back, and replaces no node %d: a new machine that does has a number of its own, --listen and --address",
			n.Number, n.Replaces)
	}
	if by := c.successor(former.Node); by != nil {
		return nil, fmt.Errorf("node %d is being replaced by node %d", n.Number, Number(by.Node))
	}
	return &Member{
		Node: former.Node + 1<<lifeShift, Address: former.Address, Listen: former.Listen, Pin: n.Pin, Replaces: former.Replaces,
	}, nil
}

// added returns the member that a newcomer with a new number becomes. It has a life that no node had, because its number
// may be that of a node that left.
func (c *Config) added(n *Newcomer) (*Member, error) {
	m := &Member{Node: n.Number + (c.lives()+1)<<lifeShift, Address: n.Address, Listen: n.Listen, Pin: n.Pin}
	if n.Number == 0 || n.Number != Number(n.Number) {
		return nil, fmt.Errorf("%d is no number of a node", n.Number)
	}

	if n.Replaces != 0 {
		old := c.Newest(n.Replaces)
		if old == nil {
			return nil, fmt.Errorf("the cluster has no node %d", n.Replaces)
		}
		if by := c.successor(old.Node); by != nil {
			return nil, fmt.Errorf("node %d is being replaced by node %d", n.Replaces, Number(by.Node))
		}
		if other := c.predecessor(old); other != nil {
			return nil, fmt.Errorf("node %d has not replaced node %d yet: wait for that, or let it go by `bourse cluster leave`",
				n.Replaces, Number(other.Node))
		}
		m.Replaces = old.Node
	}

	for i := range c.Nodes {
		other := &c.Nodes[i]
		if m.succeeds(other.Node) && !n.Running {
			continue // a dead node needs its addresses no more
		}
		if other.Address == m.Address || other.Listen == m.Listen {
			return nil, fmt.Errorf("node %d has the address %s or %s already", Number(other.Node), m.Address, m.Listen)
		}
	}
	return m, nil
}

// successor returns the member that is to replace a node; nil if none is.
func (c *Config) successor(node uint64) *Member {
	for i := range c.Nodes {
		if m := &c.Nodes[i]; Number(m.Node) != Number(node) && m.succeeds(node) {
			return m
		}
	}
	return nil
}

// predecessor returns the member of another number that a member is to replace; nil if there is none.
func (c *Config) predecessor(m *Member) *Member {
	for i := range c.Nodes {
		if other := &c.Nodes[i]; Number(other.Node) != Number(m.Node) && m.succeeds(other.Node) {
			return other
		}
	}
	return nil
}

// mayJoin returns an error if the leader cannot let a member join, by its status.
func (m *Member) mayJoin(s raftlog.Status) error {
	if m.succeeds(s.Node) {
		return fmt.Errorf("node %d leads the cluster: let another one lead first, by `bourse cluster transfer`", Number(s.Node))
	}
	// Of two voters none may lose its vote, so that the change would be refused once the member has caught up.
	if replaces := slices.ContainsFunc(s.Voters, m.succeeds); replaces && m.Replaces != 0 && len(s.Voters) < raftlog.FewVoters {
		return fmt.Errorf("of %d nodes that vote none can be replaced: let node %d join, and node %d leave once it votes",
			len(s.Voters), Number(m.Node), Number(m.Replaces))
	}
	return nil
}
