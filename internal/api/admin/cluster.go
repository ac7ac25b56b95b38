package admin

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// newcomer is a node that comes back without its data.
type newcomer struct {
	Number uint64 `json:"number"`
	Pin    string `json:"pin"`
}

// clusterAdmit lets a node of the cluster come back without its data.
func (s *Server) clusterAdmit(ctx context.Context, n newcomer) (any, error) {
	if s.Admit == nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "This exchange runs on one node")
	}
	answer, err := s.Admit(ctx, n.Number, n.Pin)
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeRefused, "%v", err)
	}
	return answer, nil
}
