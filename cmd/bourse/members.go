package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/cluster"
)

// clusterCmd operates a cluster.
type clusterCmd struct {
	Status   clusterStatus   `cmd:"" help:"Show the nodes: who leads, and how far each is."`
	Transfer clusterTransfer `cmd:"" help:"Let another node lead, before work on the one that does."`
	Init     clusterInit     `cmd:"" help:"Make the first node of a cluster: of a new exchange, or of one that runs on one machine."`
	Token    clusterToken    `cmd:"" help:"Let a node of another machine join, once; on the leader's machine."`
	Join     clusterJoin     `cmd:"" help:"Add a node: on its new machine, with a token, or in a sandbox."`
	Replace  clusterReplace  `cmd:"" help:"Put a new node of a sandbox in the place of another one."`
	Leave    clusterLeave    `cmd:"" help:"Take a node out of the cluster for good."`
	Upgrade  clusterUpgrade  `cmd:"" help:"Use what the program of all nodes knows: end an upgrade that went from node to node."`
	Recover  clusterRecover  `cmd:"" help:"Go on with one node alone, when most of the others are gone for good."`
}

// clusterStatus shows the nodes of a cluster.
type clusterStatus struct {
	Data place `help:"Data directory of a node." required:""`
}

// clusterView is the answer to cluster status.
type clusterView struct {
	Term   uint64      `json:"term"`
	Leader uint64      `json:"leader"`
	Nodes  []nodeState `json:"nodes"`
}

// nodeState is the state of a node in clusterView. Role is "away" for a node that does not answer.
type nodeState struct {
	Node    uint64 `json:"node"`
	Role    string `json:"role"`
	Commit  uint64 `json:"commit"`
	Applied uint64 `json:"applied"`
	LagMS   int64  `json:"lag_ms"`
	Listen  string `json:"listen"`
	// Version is that of the node's program, as the node says it; empty for a node that does not answer.
	Version string `json:"version,omitempty"`
}

// Run asks each node.
func (c *clusterStatus) Run(p *program) error {
	m, err := p.membersOf(c.Data)
	if err != nil {
		return err
	}
	view := clusterView{Nodes: []nodeState{}}
	for _, n := range m.config.Numbers() {
		s := m.state(n)
		if s == nil {
			view.Nodes = append(view.Nodes, nodeState{Node: n, Role: "away", LagMS: -1, Listen: m.config.Newest(n).Listen})
			continue
		}
		view.Nodes = append(view.Nodes, nodeState{s.Node, s.Role, s.Commit, s.Applied, s.LagMS, s.Listen, s.Version})
		if s.Term >= view.Term {
			view.Term = s.Term
			if s.Role == "leader" {
				view.Leader = s.Node
			}
		}
	}
	return p.print(view)
}

// standing is a node's answer to the verb status.
type standing struct {
	*cluster.Status `json:"cluster"`

	// Ready is true for a leader that serves.
	Ready   bool   `json:"ready"`
	Version string `json:"version"`
	// Seq is the last command that a leader has applied.
	Seq bourse.Seq `json:"seq"`
}

// stateOf asks a node; nil if it does not answer.
func (p *program) stateOf(dir string) *standing {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	answer, err := admin.Call(ctx, dir, "status", struct{}{})
	s := new(standing)
	if err != nil || json.Unmarshal(answer, s) != nil || s.Status == nil {
		return nil
	}
	return s
}

// beside returns the data directory of another node of the same sandbox.
func (d place) beside(node uint64) string {
	return nodeDir(filepath.Dir(filepath.Clean(string(d))), node)
}

// handedWithin bounds the time in which the other node begins to serve; a journal of a day is read in less.
const handedWithin = time.Minute

// clusterTransfer lets another node lead.
type clusterTransfer struct {
	Data place  `help:"Data directory of a node." required:""`
	To   uint64 `help:"Number of the next leader. By default the follower with the most entries." placeholder:"N"`
}

// handed is the answer to cluster transfer.
type handed struct {
	From   uint64 `json:"from"`
	Leader uint64 `json:"leader"`
	Term   uint64 `json:"term"`
	// TookMS is the time until the new leader served, in milliseconds.
	TookMS int64 `json:"took_ms"`
}

// Run asks the leader, and waits until another node serves.
func (c *clusterTransfer) Run(p *program) error {
	h, err := p.transfer(c.Data, c.To)
	if err != nil {
		return err
	}
	return p.print(h)
}

// transfer asks the leader to let another node lead, and waits until one serves. Zero leaves the choice to the leader.
func (p *program) transfer(data place, to uint64) (*handed, error) {
	from, err := p.leaderOf(data)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	m, err := p.membersOf(data)
	if err != nil {
		return nil, err
	}
	if _, err := m.ask(p.ctx, from.Node, cluster.AskTransfer, cluster.Numbered{Node: to}); err != nil {
		return nil, err
	}

	for time.Since(began) < handedWithin {
		now, err := p.leaderOf(data)
		switch {
		case err != nil || !now.Ready || now.Term <= from.Term: // not yet
		case to != 0 && now.Node != to: // the votes came too late, and the others elected one
			return nil, fmt.Errorf("node %d leads now, not node %d: ask again", now.Node, to)
		default:
			return &handed{from.Node, now.Node, now.Term, time.Since(began).Milliseconds()}, nil
		}
		select {
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		case <-time.After(lookAgain):
		}
	}
	return nil, fmt.Errorf("no other node serves after %s; `bourse cluster status` shows who leads", handedWithin)
}

// lookAgain is the time between two looks at a node.
const lookAgain = 5 * time.Millisecond

// leaderOf returns the leader of the cluster of a node.
func (p *program) leaderOf(data place) (*standing, error) {
	m, err := p.membersOf(data)
	if err != nil {
		return nil, err
	}
	return m.leader()
}

// clusterLeave takes a node out of a cluster.
type clusterLeave struct {
	Data place  `help:"Data directory of a node that stays." required:""`
	Node uint64 `help:"Number of the node to remove." required:"" placeholder:"N"`
}

// left is the answer to cluster leave.
type left struct {
	Left uint64 `json:"left"`
	// Nodes are the numbers of the remaining nodes.
	Nodes []uint64 `json:"nodes"`
}

// Run asks the leader.
func (c *clusterLeave) Run(p *program) error {
	m, err := p.membersOf(c.Data)
	if err != nil {
		return err
	}
	leader, err := m.leader()
	if err != nil {
		return err
	}
	answer, err := m.ask(p.ctx, leader.Node, cluster.AskLeave, cluster.Numbered{Node: c.Node})
	if err != nil {
		return err
	}
	now := left{Left: c.Node}
	if err := json.Unmarshal(answer, &now.Nodes); err != nil {
		return err
	}
	for !m.knowGone(c.Node, now.Nodes) {
		if err := p.pause(); err != nil {
			return err
		}
	}
	return p.print(now)
}

// pause waits for askAgain. The error is that of a program which is to end.
func (p *program) pause() error {
	select {
	case <-p.ctx.Done():
		return p.ctx.Err()
	case <-time.After(askAgain):
		return nil
	}
}

// clusterUpgrade ends an upgrade.
type clusterUpgrade struct {
	Data place `help:"Data directory of a node." required:""`
}

// Run asks the leader.
func (c *clusterUpgrade) Run(p *program) error {
	m, err := p.membersOf(c.Data)
	if err != nil {
		return err
	}
	leader, err := m.leader()
	if err != nil {
		return err
	}
	answer, err := m.ask(p.ctx, leader.Node, cluster.AskUpgrade, cluster.Numbered{})
	if err != nil {
		return err
	}
	return p.print(json.RawMessage(answer))
}
