package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/cluster"
)

// members reaches the nodes of a cluster from the machine of one of them: a node of this machine on its socket, another one at its node
// port, with the key of this one.
type members struct {
	*program
	// data is the directory of the node of this machine, config its configuration.
	data   place
	config *cluster.Config
	asker  *cluster.Asker
}

// membersOf reads the configuration of a node.
func (p *program) membersOf(data place) (*members, error) {
	config, err := readConfig(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s is no node of a cluster: %w", data, err)
	}
	asker, err := cluster.OpenAsker(string(data))
	if err != nil {
		return nil, err
	}
	return &members{p, data, config, asker}, nil
}

// dir returns the directory of a node, which is on this machine: that of a sandbox's node is beside data. It is empty for one of another
// machine.
func (m *members) dir(node uint64) string {
	switch {
	case node == cluster.Number(m.config.Node):
		return string(m.data)
	case m.config.Sandbox:
		return m.data.beside(node)
	default:
		return ""
	}
}

// ask asks a node a question. about has the node that a question concerns; it is empty for others.
func (m *members) ask(ctx context.Context, node uint64, question string, about cluster.Numbered) ([]byte, error) {
	if dir := m.dir(node); dir != "" {
		args := any(struct{}{})
		if about != (cluster.Numbered{}) {
			args = about
		}
		return admin.Call(ctx, dir, question, args)
	}
	member := m.config.Newest(node)
	if member == nil {
		return nil, fmt.Errorf("the cluster has no node %d", node)
	}
	return m.asker.Ask(ctx, member, question, about)
}

// soon asks a node a question, and reports whether it answered within a second.
func (m *members) soon(node uint64, question string, answer any) bool {
	ctx, cancel := context.WithTimeout(m.ctx, time.Second)
	defer cancel()
	text, err := m.ask(ctx, node, question, cluster.Numbered{})
	return err == nil && json.Unmarshal(text, answer) == nil
}

// state asks a node for its standing; nil if it does not answer.
func (m *members) state(node uint64) *standing {
	s := new(standing)
	if !m.soon(node, cluster.AskStatus, s) || s.Status == nil {
		return nil
	}
	return s
}

// configOf returns the configuration of a node; nil if it cannot be read.
func (m *members) configOf(node uint64) *cluster.Config {
	if dir := m.dir(node); dir != "" {
		if c, err := readConfig(dir); err == nil {
			return c
		}
		return nil
	}
	c := new(cluster.Config)
	if !m.soon(node, cluster.AskConfig, c) {
		return nil
	}
	return c
}

// leader returns the leader's standing.
func (m *members) leader() (leader *standing, err error) {
	for _, n := range m.config.Numbers() {
		s := m.state(n)
		if s != nil && s.Role == "leader" && (leader == nil || s.Term > leader.Term) {
			leader = s
		}
	}
	if leader == nil {
		return nil, errors.New("no node leads now; `bourse cluster status` shows the nodes")
	}
	return leader, nil
}

// knowGone reports whether a majority of the members knows that a node is gone. Before that they may need the node to elect
// another leader: the leader alone is certain to know it.
func (m *members) knowGone(node uint64, numbers []uint64) bool {
	know := 0
	for _, n := range numbers {
		if config := m.configOf(n); config != nil && config.Newest(node) == nil {
			know++
		}
	}
	return know > len(numbers)/2
}
