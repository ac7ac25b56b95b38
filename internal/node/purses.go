package node

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/wallet"
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
			}
		})
	}
	asked.Wait()
	return list
}

// coldMoves names the transactions to and from cold storage that may be mined.
func (a *attached) coldMoves() (list []admin.ColdMove) {
	for _, m := range a.worker.ColdMoves() {
		list = append(list, admin.ColdMove{Kind: m.Kind.String(), Tx: a.Network.FormatHash(m.Tx), State: m.State.String()})
	}
	return list
}

// coldStorage drafts and reads moves from the cold storage of a network, for operators.
type coldStorage struct{ worker *wallet.Worker }

// cold returns the cold storage of a network; nil if it is not connected.
func (n *Node) cold(id bourse.NetworkID) admin.ColdStorage {
	for _, a := range n.networks {
		if a.id == id {
			return coldStorage{a.worker}
		}
	}
	return nil
}

// Draft returns a transaction for people to sign.
func (c coldStorage) Draft(ctx context.Context, amount string) (*admin.Draft, error) {
	d, err := c.worker.Draft(ctx, amount)
	if err != nil {
		return nil, err
	}
	return &admin.Draft{Asset: d.Asset, Amount: d.Amount, Cost: d.Cost, PSBT: d.PSBT}, nil
}

// FromCold reads what people signed.
func (c coldStorage) FromCold(signed []byte) (*bourse.SignedTx, error) {
	return c.worker.FromCold(signed)
}
