package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// Cluster changes the cluster of a node that leads it.
type Cluster interface {
	// Admit lets a node with an empty disk in.
	Admit(ctx context.Context, n Newcomer) (any, error)
	// Transfer asks for another leader, and returns its number; zero leaves the choice to the leader.
	Transfer(ctx context.Context, number uint64) (uint64, error)
	// Leave removes a node from the cluster, and returns the numbers of the remaining nodes.
	Leave(ctx context.Context, number uint64) ([]uint64, error)
	// Token makes a token with which a node of another machine joins.
	Token() (any, error)
	// Upgrade lets the journal have all that the programs of all nodes know, and returns that.
	Upgrade(ctx context.Context) (any, error)
}

// Newcomer is a node without data, with a key that a pin names. It has addresses if its number is new, and then may
// replace a node, also one that runs.
type Newcomer struct {
	Number   uint64 `json:"number"`
	Pin      string `json:"pin"`
	Address  string `json:"address,omitempty"`
	Listen   string `json:"listen,omitempty"`
	Replaces uint64 `json:"replaces,omitempty"`
	Running  bool   `json:"running,omitempty"`
	// Records and Rules are the newest that its program knows.
	Records bourse.CommandKind `json:"records"`
	Rules   uint32             `json:"rules"`
}

// onCluster changes the cluster. An exchange on one node refuses.
func (s *Server) onCluster(change func(Cluster) (any, error)) (any, error) {
	if s.Cluster == nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "This exchange runs on one node")
	}
	answer, err := change(s.Cluster)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return answer, nil
}

// clusterAdmit lets a node without data in.
func (s *Server) clusterAdmit(ctx context.Context, n Newcomer) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) { return c.Admit(ctx, n) })
}

// numbered names a node by its number.
type numbered struct {
	Node uint64 `json:"node"`
}

// clusterTransfer lets another node lead. It answers before that node does.
func (s *Server) clusterTransfer(ctx context.Context, n numbered) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) {
		to, err := c.Transfer(ctx, n.Node)
		return numbered{to}, err
	})
}

// clusterLeave removes a node from the cluster.
func (s *Server) clusterLeave(ctx context.Context, n numbered) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) { return c.Leave(ctx, n.Node) })
}

// clusterUpgrade lets the journal have all that the programs of all nodes know.
func (s *Server) clusterUpgrade(ctx context.Context, _ struct{}) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) { return c.Upgrade(ctx) })
}

// clusterToken makes a token with which a node joins.
func (s *Server) clusterToken(context.Context, struct{}) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) { return c.Token() })
}
