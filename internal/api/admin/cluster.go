package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// Cluster changes the cluster of a node that leads it.
type Cluster interface {
	// Admit lets a node that lost its disk come back, with a key that a pin names.
	Admit(ctx context.Context, number uint64, pin string) (any, error)
	// Transfer asks for another leader, and returns its number; zero leaves the choice to the leader.
	Transfer(ctx context.Context, number uint64) (uint64, error)
	// Leave takes a node out, and returns the numbers of those that stay.
	Leave(ctx context.Context, number uint64) ([]uint64, error)
}

// newcomer is a node that comes back without its data.
type newcomer struct {
	Number uint64 `json:"number"`
	Pin    string `json:"pin"`
}

// clustered returns the cluster; a refusal for an exchange on one node.
func (s *Server) clustered() (Cluster, error) {
	if s.Cluster == nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "This exchange runs on one node")
	}
	return s.Cluster, nil
}

// clusterAdmit lets a node of the cluster come back without its data.
func (s *Server) clusterAdmit(ctx context.Context, n newcomer) (any, error) {
	c, err := s.clustered()
	if err != nil {
		return nil, err
	}
	answer, err := c.Admit(ctx, n.Number, n.Pin)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return answer, nil
}

// numbered names a node by its number.
type numbered struct {
	Node uint64 `json:"node"`
}

// clusterTransfer lets another node lead. It answers before that node does.
func (s *Server) clusterTransfer(ctx context.Context, n numbered) (any, error) {
	c, err := s.clustered()
	if err != nil {
		return nil, err
	}
	to, err := c.Transfer(ctx, n.Node)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return numbered{to}, nil
}

// clusterLeave takes a node out of the cluster.
func (s *Server) clusterLeave(ctx context.Context, n numbered) (any, error) {
	c, err := s.clustered()
	if err != nil {
		return nil, err
	}
	stay, err := c.Leave(ctx, n.Node)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return stay, nil
}
