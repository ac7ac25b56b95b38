package node

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/lock"
)

// fundsFor is how long funds are kept. The follower does nothing else while it reads all balances.
const fundsFor = 5 * time.Second

// summed keeps the last funds of the follower.
type summed struct {
	gate lock.Gate
	last *bourse.Funds
	at   time.Time
}

// funds returns the exchange's money, which is at most fundsFor old.
func (n *Node) funds(ctx context.Context) (*bourse.Funds, error) {
	s := &n.summed
	if err := s.gate.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.gate.Unlock()
	if s.last != nil && time.Since(s.at) < fundsFor {
		return s.last, nil
	}
	funds, err := n.follower.Funds(ctx)
	if err != nil {
		return nil, err
	}
	s.last, s.at = funds, time.Now()
	return funds, nil
}
