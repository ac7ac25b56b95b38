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
	// Leave removes a node from the cluster, and returns the numbers of the remaining nodes.
	Leave(ctx context.Context, number uint64) ([]uint64, error)
}

// newcomer is a node that comes back without its data.
type newcomer struct {
	Number uint64 `json:"number"`
	Pin    string `json:"pin"`
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

// clusterAdmit lets a node of the cluster come back without its data.
func (s *Server) clusterAdmit(ctx context.Context, n newcomer) (any, error) {
	return s.onCluster(func(c Cluster) (any, error) { return c.Admit(ctx, n.Number, n.Pin) })
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
