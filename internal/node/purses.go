package node

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// bands compares the hot wallet's balances with the settings.
func (a *attached) bands(hot map[bourse.AssetID]bourse.Amount) map[bourse.AssetID]admin.Band {
	list := make(map[bourse.AssetID]admin.Band, len(a.Hot))
	for id, b := range a.Hot {
		list[id] = admin.Band{
			Low: b.Low, Target: b.Target, High: b.High, IsLow: hot[id].Less(b.Low), IsHigh: b.High.Less(hot[id]),
		}
	}
	return list
}

// purses asks all connected networks at once for the exchange's holdings there.
func (n *Node) purses(ctx context.Context) map[bourse.NetworkID]admin.Purse {
	var mu sync.Mutex
	var asked sync.WaitGroup
	list := make(map[bourse.NetworkID]admin.Purse, len(n.networks))
	for _, a := range n.networks {
		asked.Go(func() {
			p := a.worker.Purse(ctx)
			mu.Lock()
			defer mu.Unlock()
			list[a.id] = admin.Purse{
				Reason: a.worker.Health().Reason, Hot: p.Hot, Cold: p.Cold, Rest: p.Rest, Surplus: p.Surplus, Bands: a.bands(p.Hot),
				Cooling: a.worker.Cooling(),
			}
		})
	}
	asked.Wait()
	return list
}
