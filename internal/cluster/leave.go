package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

const (
	// leaveLooks is the number of attempts of Leave, one each lookEvery.
	leaveLooks = 20
	// heardSince is longer than an election timeout, after which a leader clears its record of who answered.
	heardSince = 15 * TickEvery
)

// Leave takes a node out of the cluster, and returns the numbers of those that stay once that is committed. Only
// the leader does. It refuses a change behind which no majority would answer: only answers since the call count.
func (n *Node) Leave(ctx context.Context, number uint64) (stay []uint64, err error) {
	if n.Config().Newest(number) == nil {
		return nil, fmt.Errorf("the cluster has no node %d", number)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.after(heardSince):
	}
	for range leaveLooks {
		if n.Config().Newest(number) == nil {
			return n.Config().Numbers(), nil
		}
		err = n.Log.reach(func(l *raftlog.Log) error { return n.proposeLeave(l, number) })
		if err != nil && !errors.Is(err, errUnchanged) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-n.after(lookEvery): // a change may be lost, and is proposed again
		}
	}
	return nil, errors.Join(fmt.Errorf("node %d has not left yet: ask again", number), err)
}

// proposeLeave asks for the change that removes all lives of a number.
func (n *Node) proposeLeave(l *raftlog.Log, number uint64) error {
	s := l.Status()
	if !s.Open {
		return ErrNotLeader
	}
	if number == Number(s.Node) {
		return fmt.Errorf("node %d leads the cluster: let another one lead first, by `bourse cluster transfer`", number)
	}
	if err := n.Config().mayLeave(number, s.Voters); err != nil {
		return err
	}
	if err := staying(number, s.Voters, l.Answering()); err != nil {
		return err
	}

	change := new(raftpb.ConfChangeV2)
	for _, m := range n.Config().Nodes {
		if Number(m.Node) == number {
			add(change, raftpb.ConfChangeRemoveNode, m.Node)
		}
	}
	return askFor(l, change)
}

// mayLeave returns an error if a voter is to leave while a member replaces another one: with two voters left, that one
// could not lose its vote, and the member would never get one.
func (c *Config) mayLeave(number uint64, voters []uint64) error {
	if !slices.ContainsFunc(voters, func(id uint64) bool { return Number(id) == number }) {
		return nil
	}
	for i := range c.Nodes {
		if by := c.successor(c.Nodes[i].Node); by != nil && !slices.Contains(voters, by.Node) {
			return fmt.Errorf("node %d is being replaced by node %d: wait for that, or let node %d leave first",
				Number(c.Nodes[i].Node), Number(by.Node), Number(by.Node))
		}
	}
	return nil
}

// staying returns an error unless the voters that stay behind a node can lead, and a majority of them answers.
// A majority that does not answer may be back within a heartbeat's time.
func staying(number uint64, voters, answering []uint64) error {
	stay := slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool { return Number(id) == number })
	if len(stay) < len(voters) && len(voters) < raftlog.FewVoters {
		return fmt.Errorf("of %d nodes that vote none can leave: add one first", len(voters))
	}
	here := 0
	for _, id := range stay {
		if slices.Contains(answering, id) {
			here++
		}
	}
	if here <= len(stay)/2 {
		return fmt.Errorf("%w: without node %d there are %d nodes that vote, of which %d answer: bring the others back first",
			errUnchanged, number, len(stay), here)
	}
	return nil
}
