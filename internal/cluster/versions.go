package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// Versions are the newest things that a program knows, or that a log may have.
type Versions struct {
	// Records is the newest kind of record, Rules the newest version of the rules.
	Records bourse.CommandKind `json:"records"`
	Rules   uint32             `json:"rules"`
}

// unannounced are the versions that may be in the log of a cluster whose configuration has none. Its nodes were made
// before nodes announced them.
var unannounced = Versions{Records: bourse.CommandCool, Rules: bourse.RulesOutdating}

// Known returns the versions that this program knows.
func Known() Versions { return Versions{Records: bourse.LastCommandKind, Rules: bourse.CurrentRules} }

// Covers reports whether a program that knows v reads a log that may have others.
func (v Versions) Covers(others Versions) bool {
	return v.Records >= others.Records && v.Rules >= others.Rules
}

// or returns the newer of both, each by itself.
func (v Versions) or(others Versions) Versions {
	return Versions{Records: max(v.Records, others.Records), Rules: max(v.Rules, others.Rules)}
}

func (v Versions) String() string {
	return fmt.Sprintf("records up to kind %d and rules %d", v.Records, v.Rules)
}

// Allowed returns the versions that may be in the log: all nodes knew them when an operator ended an upgrade, or when the
// cluster was made.
func (c *Config) Allowed() Versions {
	if c.Versions == (Versions{}) {
		return unannounced
	}
	return c.Versions
}

// ErrOutdated means that the log may have what this program does not know.
var ErrOutdated = errors.New("this program is older than the cluster's: start a newer one")

// reads returns ErrOutdated unless a program that knows v can be a node of the cluster.
func (c *Config) reads(v Versions) error {
	if allowed := c.Allowed(); !v.Covers(allowed) {
		return fmt.Errorf("%w (the journal may have %v, and this program knows %v)", ErrOutdated, allowed, v)
	}
	return nil
}

// raise is the context of the entry with which the versions of a cluster rise. It is one of a change of members that
// changes none, so that raft orders both.
type raise struct {
	Versions Versions `json:"versions"`
}

// Upgrade lets the log have all that this program knows, and returns that once the entry is committed. Only the leader
// does, and only while it has a connection to each node, whose program knows it as well. There is no way back: programs
// that know less do not start as nodes of the cluster from then on.
func (n *Node) Upgrade(ctx context.Context) (Versions, error) {
	known := Known()
	for {
		if n.Config().Allowed().Covers(known) {
			return n.Config().Allowed(), nil
		}
		err := n.Log.reach(func(l *raftlog.Log) error { return n.proposeUpgrade(l, known) })
		if err != nil && !errors.Is(err, errUnchanged) {
			return Versions{}, err
		}
		select {
		case <-ctx.Done():
			return Versions{}, errors.Join(ctx.Err(), err)
		case <-n.after(lookEvery): // a change may be lost, and is proposed again
		}
	}
}

// proposeUpgrade asks for the entry that raises the versions.
func (n *Node) proposeUpgrade(l *raftlog.Log, to Versions) error {
	s := l.Status()
	if !s.Open {
		return ErrNotLeader
	}
	for _, p := range n.Config().peers() {
		knows, connected := n.transport.knows(p.Node)
		switch {
		case !connected:
			return fmt.Errorf("node %d is away, so that nobody knows its program: start it, or take it out by `bourse cluster leave`", Number(p.Node))
		case !knows.Covers(to):
			return fmt.Errorf("node %d runs an older program, which knows %v and not %v: start it with the new one", Number(p.Node), knows, to)
		}
	}

	text, err := json.Marshal(raise{to})
	if err != nil {
		return err
	}
	change := &raftpb.ConfChangeV2{Context: text}
	add(change, raftpb.ConfChangeUpdateNode, s.Node)
	return askFor(l, change)
}
