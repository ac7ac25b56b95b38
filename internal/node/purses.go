package node

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// purses asks all connected networks at once for what the exchange has there.
func (n *Node) purses(ctx context.Context) map[bourse.NetworkID]admin.Purse {
	var mu sync.Mutex
	var asked sync.WaitGroup
	list := make(map[bourse.NetworkID]admin.Purse, len(n.networks))
	for _, a := range n.networks {
		asked.Go(func() {
			p := a.worker.Purse(ctx)
			mu.Lock()
			defer mu.Unlock()
			list[a.id] = admin.Purse{Reason: a.worker.Health().Reason, Hot: p.Hot, Rest: p.Rest, Surplus: p.Surplus}
		})
	}
	asked.Wait()
	return list
}
